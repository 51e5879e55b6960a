# evaluations -> some artifacts' tidy tables, and the tables or figures themselves; they wait only for their own runs

for NAME, KEYS in PLAN.drawn_together.items():

    rule:
        name:
            f"artifact_{NAME}"
        input:
            [path for key in KEYS for path in measured_for(*key)],
        output:
            [local(path) for key in KEYS for path in tidy(*key)],
            [local(path) for key in KEYS for path in PLAN.config.outputs(*key)],
        log:
            f"{LOGS}/artifacts/{NAME}.log",
        conda:
            "../../environment.yml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            made=" ".join("/".join(key) for key in KEYS),
            code=[digests.artifact_digest(PLAN, *key) for key in KEYS],
            claims=claims_of(KEYS[0][0]),
        shell:
            "hypersphere artifact {params.made} > {log} 2>&1"
