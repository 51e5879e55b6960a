# runs -> results/<scale>/evaluations/<run>/<protocol>.csv, all that is asked of a batch of runs to a job


def prepared(names):
    """The manifests of prepared datasets."""
    return [f"{local(PLAN.data_folder(PLAN.datasets[name]))}/manifest.json" for name in sorted(names)]


def probed(batch):
    """The datasets that a batch's runs are probed on."""
    asked = [one for run in batch.runs for one in PLAN.asked[run.name].values()]
    return {dataset for one in asked for _, dataset in one.at}


def measured_for(paper, artifact):
    """The markers of all that an artifact's runs and controls were asked."""
    batches = [PLAN.evaluated_marker(batch.id) for batch in PLAN.batches_of(paper, artifact)]
    return [
        local(path)
        for path in [*batches, *(PLAN.evaluated_marker(f"pixels-{name}") for name in PLAN.pixels_of(paper, artifact))]
    ]


# Evaluations are not declared, as runs are not: what is current is left as it is. The marker holds their checksums.
rule evaluate:
    input:
        trained("{batch}"),
        lambda wildcards: prepared(probed(BATCHES[wildcards.batch])),
    output:
        f"{RESULTS}/batches/{{batch}}.evaluated.json",
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
        code=lambda wildcards: provenance.evaluation_digest(PLAN, BATCHES[wildcards.batch]),
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
        code=lambda wildcards: provenance.pixels_digest(PLAN, wildcards.dataset),
    shell:
        "hypersphere evaluate --pixels {wildcards.dataset} > {log} 2>&1"
