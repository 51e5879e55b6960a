# evaluations -> results/<scale>/statistics/*.csv -> claims.csv

TIDY = [f"{RESULTS}/statistics/{name}.csv" for name in ("measurements", "summary", "history", "effects", "runs")]


rule statistics:
    input:
        [f"{RESULTS}/evaluations/{batch}.csv" for batch in BATCHES],
        [f"{RESULTS}/evaluations/pixels-{dataset}.csv" for dataset in PLAN.datasets],
        [f"{RESULTS}/batches/{batch}.json" for batch in BATCHES],
    output:
        TIDY,
    params:
        code=provenance.code_digest("hypersphere.statistics.build"),
        plan=provenance.plan_digest(PLAN),
    resources:
        mem_mb=2000,
        runtime=30,
    log:
        f"{LOGS}/statistics.log",
    shell:
        "{HYPERSPHERE} statistics {SETTINGS} > {log} 2>&1"


rule claims:
    input:
        TIDY,
        [f"paper/claims/{paper}.csv" for paper in PLAN.config.papers],
    output:
        f"{RESULTS}/claims.csv",
    params:
        code=provenance.code_digest("hypersphere.statistics.claims"),
        plan=provenance.plan_digest(PLAN),
    resources:
        mem_mb=2000,
        runtime=30,
    log:
        f"{LOGS}/claims.log",
    shell:
        "{HYPERSPHERE} claims {SETTINGS} > {log} 2>&1"
