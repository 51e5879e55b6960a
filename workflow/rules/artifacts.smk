# evaluations -> one artifact's tidy tables, and the table or figure itself; it waits only for its own runs

if PLAN.records is None:
    TOGETHER = {"-".join(key): [key] for key in PLAN.made}
else:  # nothing waits for a run, and a job is mostly its imports: one for all chosen artifacts of a paper
    TOGETHER = {paper: [key for key in CHOSEN if key[0] == paper] for paper in dict.fromkeys(key[0] for key in CHOSEN)}


for NAME, KEYS in TOGETHER.items():

    rule:
        name:
            f"artifact_{NAME.replace('-', '_')}"
        input:
            [path for key in KEYS for path in measured_for(*key)],
        output:
            [local(path) for key in KEYS for path in tidy(*key)],
            [local(path) for key in KEYS for path in PLAN.outputs(*key)],
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
