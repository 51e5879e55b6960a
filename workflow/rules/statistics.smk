# evaluations -> results/<scale>/statistics/*.csv -> claims.csv

# Each table with the manifest that holds its checksum: without one it is not taken for what was written.
EVALUATIONS = [
    path.with_suffix(suffix).relative_to(Path.cwd()).as_posix()
    for path in PLAN.evaluation_files
    for suffix in (".csv", ".json")
]
TIDY = [f"{RESULTS}/statistics/{name}.csv" for name in ("measurements", "summary", "history", "effects", "runs")]
TIDY += [f"{RESULTS}/statistics/manifest.json"]
THEORY = [f"{RESULTS}/theory.csv", f"{RESULTS}/theory.json"]
SIMULATED = {
    paper: [
        f"{RESULTS}/simulations/{paper}/{name}"
        for name in [*[f"{artifact}.csv" for artifact in PLAN.config.studied(paper)], "answers.csv", "manifest.json"]
    ]
    for paper in PLAN.config.papers
    if PLAN.config.studied(paper)
}
CLAIMS = [f"{RESULTS}/claims.csv", f"{RESULTS}/claims.json"]


rule statistics:
    input:
        EVALUATIONS,
        [f"{RESULTS}/batches/{batch}.json" for batch in BATCHES],
    output:
        TIDY,
    log:
        f"{LOGS}/statistics.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=provenance.code_digest("hypersphere.statistics.build"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere statistics > {log} 2>&1"


# Theorems and identities: no data, no run, the same at every scale.
rule theory:
    output:
        THEORY,
    log:
        f"{LOGS}/theory.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=provenance.theory_digest(PLAN),
        plan=list(PLAN.config.papers),
    shell:
        "hypersphere theory > {log} 2>&1"


# Exact studies: no run, and the same numbers at every scale. One rule for each paper that has any.
for PAPER in SIMULATED:

    rule:
        name:
            f"simulate_{PAPER}"
        input:
            f"paper/claims/{PAPER}.csv",  # some studies are of the printed numbers themselves
        output:
            SIMULATED[PAPER],
        log:
            f"{LOGS}/simulations/{PAPER}.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            paper=PAPER,
            code=provenance.simulation_digest(PLAN, PAPER),
        shell:
            "hypersphere simulate {params.paper} > {log} 2>&1"


rule claims:
    input:
        TIDY,
        THEORY,
        SIMULATED.values(),
        [f"paper/claims/{paper}.csv" for paper in PLAN.config.papers],
    output:
        report(CLAIMS[0], **shown_once("claims")),
        CLAIMS[1],
    log:
        f"{LOGS}/claims.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=provenance.code_digest("hypersphere.statistics.claims"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere claims > {log} 2>&1"
