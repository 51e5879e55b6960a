# theorems and exact studies: without data or runs, and so the same at every scale, which copies them

THEORY = [f"{RESULTS}/{name}" for name in ("theory.csv", "theory.json", "theory_claims.csv", "theory_claims.json")]
SIMULATED = {
    paper: [
        f"{RESULTS}/simulations/{paper}/{name}"
        for name in [
            *[f"{artifact}.csv" for artifact in PLAN.config.exact_artifacts(paper)],
            "answers.csv",
            "manifest.json",
            "claims.csv",
            "claims.json",
        ]
    ]
    for paper in PLAN.config.papers
    if PLAN.config.exact_artifacts(paper)
}
EXACT = {"theory": exact(PLAN.config.exact, THEORY, digests.theory_digest(PLAN), *PLAN.config.papers)}
for PAPER, COPIES in SIMULATED.items():
    # Some studies use the printed numbers themselves.
    OF = digests.simulation_digest(PLAN, PAPER), claims_of(PAPER)
    EXACT[f"simulations_{PAPER}"] = exact(PLAN.config.exact_studies(PAPER), COPIES, *OF)


rule theory:
    output:
        EXACT["theory"].made,
    log:
        "logs/exact/theory.log",
    priority: 2  # before any training, as below: the pages at the end wait for it
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=EXACT["theory"].of,
    shell:
        "hypersphere theory > {log} 2>&1"


for NAME in EXACT:

    rule:
        name:
            f"copy_{NAME}"
        input:
            EXACT[NAME].made,
        output:
            EXACT[NAME].copies,
        log:
            f"{LOGS}/copy_{NAME}.log",
        priority: 2
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            mem_mb=100,
            runtime=1,
        params:
            code=EXACT[NAME].of,
            folder=lambda wildcards, output: os.path.dirname(output[0]),
        shell:
            "cp {input} {params.folder} 2> {log}"


for PAPER in SIMULATED:

    rule:
        name:
            f"simulate_{PAPER}"
        output:
            EXACT[f"simulations_{PAPER}"].made,
        log:
            f"logs/exact/simulations/{PLAN.config.exact_studies(PAPER).name}.log",
        priority: 2 + len(PLAN.config.exact_artifacts(PAPER))  # the longest first, so that none is left alone at the end
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            paper=PAPER,
            code=EXACT[f"simulations_{PAPER}"].of,
        shell:
            "hypersphere simulate {params.paper} > {log} 2>&1"

    # One job draws all of a paper's studies, because each takes less time than the start of a process.
    rule:
        name:
            f"studies_{PAPER}"
        input:
            SIMULATED[PAPER],
            THEORY,
        output:
            [local(path) for name in PLAN.config.exact_artifacts(PAPER) for path in PLAN.config.outputs(PAPER, name)],
        log:
            f"{LOGS}/studies/{PAPER}.log",
        conda:
            "../../environment.yml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            paper=PAPER,
            code=digests.studies_digest(PLAN, PAPER),
        shell:
            "hypersphere studies {params.paper} > {log} 2>&1"
