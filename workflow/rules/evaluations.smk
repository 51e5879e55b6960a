# runs -> results/<scale>/evaluations/<batch>.csv, all probes of a batch to a job


rule evaluate:
    input:
        f"{RESULTS}/batches/{{batch}}.json",
        [f"data/processed/{folder}/manifest.json" for folder in FOLDERS],
    output:
        multiext(f"{RESULTS}/evaluations/{{batch}}", ".csv", ".json"),
    log:
        f"{LOGS}/evaluate/{{batch}}.log",
    wildcard_constraints:
        batch="|".join(BATCHES),
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        code=lambda wildcards: provenance.evaluation_digest(PLAN, BATCHES[wildcards.batch].runs),
    shell:
        "hypersphere evaluate --batch {wildcards.batch} > {log} 2>&1"


rule evaluate_pixels:
    input:
        [f"data/processed/{folder}/manifest.json" for folder in FOLDERS],
    output:
        multiext(f"{RESULTS}/evaluations/pixels-{{dataset}}", ".csv", ".json"),
    log:
        f"{LOGS}/evaluate/pixels-{{dataset}}.log",
    wildcard_constraints:
        dataset="|".join(PLAN.datasets),
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        code=lambda wildcards: provenance.evaluation_digest(PLAN),
    shell:
        "hypersphere evaluate --pixels {wildcards.dataset} > {log} 2>&1"
