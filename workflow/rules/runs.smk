# data -> results/<scale>/runs/<run>/, one job for a batch of runs


# Run folders are not declared, but a marker of their checksums: provenance/markers.py says why.
rule pretrain:
    input:
        lambda wildcards: prepared(trained_on(wildcards.batch)),
    output:
        trained("{batch}"),
    log:
        f"{LOGS}/pretrain/{{batch}}.log",
    wildcard_constraints:
        batch=BATCH,
    priority: urgency
    conda:
        "../../environment.yml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.resources.mem_mb,
        runtime=SCALE.resources.runtime,
        gpu=SCALE.resources.gpu,
    params:
        data=lambda wildcards: data_of(trained_on(wildcards.batch)),
        code=lambda wildcards: digests.batch_digest(BATCHES[wildcards.batch]),
        epochs=lambda wildcards: [PLAN.kept_epochs(run) for run in BATCHES[wildcards.batch].runs],
    shell:
        "hypersphere pretrain {wildcards.batch} > {log} 2>&1"
