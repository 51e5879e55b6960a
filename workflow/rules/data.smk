# raw archives -> data/processed/<dataset>-<digest>/


rule prepare:
    output:
        "data/processed/{folder}/manifest.json",
    params:
        dataset=lambda wildcards: FOLDERS[wildcards.folder].name,
        code=lambda wildcards: provenance.dataset_digest(FOLDERS[wildcards.folder]),
    wildcard_constraints:
        folder="|".join(FOLDERS),
    resources:
        mem_mb=3000,
        runtime=60,
    log:
        "logs/data/{folder}.log",
    shell:
        "{HYPERSPHERE} prepare {SETTINGS} {params.dataset} > {log} 2>&1"
