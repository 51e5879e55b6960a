# evaluations -> one artifact's tidy tables, and the table or figure itself; it waits only for its own runs


for PAPER, ARTIFACT in PLAN.made:

    rule:
        name:
            f"artifact_{PAPER}_{ARTIFACT}"
        input:
            measured_for(PAPER, ARTIFACT),
        output:
            [local(path) for path in tidy(PAPER, ARTIFACT)],
            [local(path) for path in PLAN.outputs(PAPER, ARTIFACT)],
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
