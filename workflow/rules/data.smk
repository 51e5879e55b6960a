# raw archives -> data/processed/<dataset>-<digest>/, one job for some datasets of a source


# Prepared folders are not declared, so that current ones stay, but a marker: `datasets/store.py` says what is current.
rule prepare:
    output:
        f"{RESULTS}/batches/{{group}}.prepared.json",
    log:
        f"{LOGS}/prepare/{{group}}.log",
    wildcard_constraints:
        group=BATCH,
    priority: 2  # before any training: a dataset that does not fit the runs is said at once
    conda:
        "../../environment.yml"
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        code=lambda wildcards: [made_of(dataset) for dataset in PLAN.prepared_together[wildcards.group]],
    shell:
        "hypersphere prepare {wildcards.group} > {log} 2>&1"
