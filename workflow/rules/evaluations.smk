# runs -> results/<scale>/evaluations/<batch>.csv, all probes of a batch to a job


rule evaluate:
    input:
        f"{RESULTS}/batches/{{batch}}.json",
        [f"data/processed/{folder}/manifest.json" for folder in FOLDERS],
    output:
        f"{RESULTS}/evaluations/{{batch}}.csv",
    params:
        code=lambda wildcards: provenance.evaluation_digest(PLAN, BATCHES[wildcards.batch].runs),
    wildcard_constraints:
        batch="|".join(BATCHES),
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    log:
        f"{LOGS}/evaluate/{{batch}}.log",
    shell:
        "{HYPERSPHERE} evaluate {SETTINGS} --batch {wildcards.batch} > {log} 2>&1"


rule evaluate_pixels:
    input:
        [f"data/processed/{folder}/manifest.json" for folder in FOLDERS],
    output:
        f"{RESULTS}/evaluations/pixels-{{dataset}}.csv",
    params:
        code=lambda wildcards: provenance.evaluation_digest(PLAN),
    wildcard_constraints:
        dataset="|".join(PLAN.datasets),
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    log:
        f"{LOGS}/evaluate/pixels-{{dataset}}.log",
    shell:
        "{HYPERSPHERE} evaluate {SETTINGS} --pixels {wildcards.dataset} > {log} 2>&1"
