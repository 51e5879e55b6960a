# evaluations -> one artifact's tidy tables, and the table or figure itself; it waits for its own runs alone


def tidy(paper, artifact):
    """The tidy tables that an artifact is drawn from."""
    names = ["measurements", "summary", "effects", "runs", *(["distribution"] if shows_images(paper, artifact) else [])]
    return [
        PLAN.artifact_folder(paper, artifact) / name for name in [*[f"{name}.csv" for name in names], "manifest.json"]
    ]


def shows_images(paper, artifact):
    """Whether an artifact shows what a probe says of single images."""
    return kinds.kind(PLAN.config.papers[paper].artifacts[artifact].draw).images


for PAPER, ARTIFACT in PLAN.made:

    rule:
        name:
            f"artifact_{PAPER}_{ARTIFACT}"
        input:
            measured_for(PAPER, ARTIFACT),
        output:
            [local(path) for path in tidy(PAPER, ARTIFACT)],
            [shown_artifact(PAPER, ARTIFACT, path) for path in PLAN.outputs(PAPER, ARTIFACT)],
        log:
            f"{LOGS}/artifacts/{PAPER}-{ARTIFACT}.log",
        conda:
            "../../environment.yml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            paper=PAPER,
            artifact=ARTIFACT,
            code=provenance.artifact_digest(PLAN, PAPER, ARTIFACT),
            claims=claims_of(PAPER),
        shell:
            "hypersphere artifact {params.paper} {params.artifact} > {log} 2>&1"
