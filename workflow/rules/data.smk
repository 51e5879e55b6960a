# raw archives -> data/processed/<dataset>-<digest>/


rule prepare:
    output:
        "data/processed/{folder}/manifest.json",
    log:
        "logs/data/{folder}.log",
    wildcard_constraints:
        folder="|".join(FOLDERS),
    priority: 2  # before any training: a dataset that does not fit the runs is said at once
    conda:
        "../../environment.yml"
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        dataset=lambda wildcards: FOLDERS[wildcards.folder].name,
        code=lambda wildcards: digests.dataset_inputs(PLAN, FOLDERS[wildcards.folder]),
    shell:
        "hypersphere prepare {params.dataset} > {log} 2>&1"
