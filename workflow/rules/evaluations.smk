# runs -> results/<scale>/evaluations/<run>/<protocol>.csv, one job for all evaluations of a batch of runs


# Evaluations are not declared, like runs, so that current ones stay. The marker holds their checksums.
rule evaluate:
    input:
        trained("{batch}"),
        lambda wildcards: prepared(probed(BATCHES[wildcards.batch])),
    output:
        f"{RESULTS}/batches/{{batch}}.evaluated.json",
    log:
        f"{LOGS}/evaluate/{{batch}}.log",
    wildcard_constraints:
        batch=BATCH,
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        code=lambda wildcards: digests.evaluation_digest(PLAN, BATCHES[wildcards.batch]),
    shell:
        "hypersphere evaluate --batch {wildcards.batch} > {log} 2>&1"


rule evaluate_pixels:
    input:
        lambda wildcards: prepared([wildcards.dataset]),
    output:
        f"{RESULTS}/batches/pixels-{{dataset}}.evaluated.json",
    log:
        f"{LOGS}/evaluate/pixels-{{dataset}}.log",
    wildcard_constraints:
        dataset="|".join(PLAN.asked_of_pixels),
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        code=lambda wildcards: digests.pixels_digest(PLAN, wildcards.dataset),
    shell:
        "hypersphere evaluate --pixels {wildcards.dataset} > {log} 2>&1"
