# runs -> results/<scale>/evaluations/<run>/<protocol>.csv, one job for all evaluations of a batch of runs and of raw pixels


# Evaluations are not declared, like runs, so that current ones stay. The marker holds their checksums.
rule evaluate:
    input:
        trained("{batch}"),
        lambda wildcards: prepared(markers.datasets_of(PLAN, [BATCHES[wildcards.batch]])),
    output:
        f"{RESULTS}/batches/{{batch}}.evaluated.json",
    log:
        f"{LOGS}/evaluate/{{batch}}.log",
    wildcard_constraints:
        batch=BATCH,
    priority: at_once
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        data=lambda wildcards: data_of(markers.datasets_of(PLAN, [BATCHES[wildcards.batch]])),
        code=lambda wildcards: digests.evaluation_digest(PLAN, BATCHES[wildcards.batch]),
    shell:
        "hypersphere evaluate {wildcards.batch} > {log} 2>&1"


# The records themselves go to evidence/<scale>/, under a lock, where rows are only added.
rule record:
    input:
        f"{RESULTS}/batches/{{batch}}.evaluated.json",
    output:
        f"{RESULTS}/batches/{{batch}}.recorded.json",
    log:
        f"{LOGS}/record/{{batch}}.log",
    wildcard_constraints:
        batch=BATCH,
    priority: at_once
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    shell:
        "hypersphere pack {wildcards.batch} > {log} 2>&1"
