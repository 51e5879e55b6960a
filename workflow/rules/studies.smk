# theorems and exact studies: without data or runs, the same at every scale

THEORY = [f"{RESULTS}/theory.csv", f"{RESULTS}/theory.json"]
SIMULATED = {
    paper: [
        f"{RESULTS}/simulations/{paper}/{name}"
        for name in [*[f"{artifact}.csv" for artifact in PLAN.config.studied(paper)], "answers.csv", "manifest.json"]
    ]
    for paper in PLAN.config.papers
    if PLAN.config.studied(paper)
}


rule theory:
    output:
        THEORY,
    log:
        f"{LOGS}/theory.log",
    priority: 2  # before any training, as below: the pages at the end wait for it
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=digests.theory_digest(PLAN),
        plan=list(PLAN.config.papers),
    shell:
        "hypersphere theory > {log} 2>&1"


for PAPER in SIMULATED:

    rule:
        name:
            f"simulate_{PAPER}"
        output:
            SIMULATED[PAPER],
        log:
            f"{LOGS}/simulations/{PAPER}.log",
        priority: 2
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            paper=PAPER,
            code=digests.simulation_digest(PLAN, PAPER),
            claims=claims_of(PAPER),  # some studies use the printed numbers themselves
        shell:
            "hypersphere simulate {params.paper} > {log} 2>&1"

    # One job judges and draws all of a paper's studies, because each takes less time than the start of a process.
    rule:
        name:
            f"studies_{PAPER}"
        input:
            SIMULATED[PAPER],
            THEORY,
        output:
            multiext(f"{RESULTS}/statistics/{PAPER}/", "studies.csv", "manifest.json"),
            [local(path) for name in PLAN.config.studied(PAPER) for path in PLAN.outputs(PAPER, name)],
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
            claims=claims_of(PAPER),
        shell:
            "hypersphere studies {params.paper} > {log} 2>&1"
