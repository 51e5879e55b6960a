# evaluations -> results/<scale>/statistics/*.csv -> claims.csv

TIDY = [f"{RESULTS}/statistics/{name}.csv" for name in ("measurements", "summary", "history", "effects", "runs")]


rule statistics:
    input:
        [path.relative_to(Path.cwd()).as_posix() for path in PLAN.evaluation_files],
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


rule claims:
    input:
        TIDY,
        [f"paper/claims/{paper}.csv" for paper in PLAN.config.papers],
    output:
        report(f"{RESULTS}/claims.csv", **shown_once("claims")),
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
