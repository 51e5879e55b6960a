# all results -> claims.csv, scorecard

CLAIMS = [
    f"{RESULTS}/{name}"
    for name in (
        "claims.csv",
        "claims.json",
        "statistics/runs.csv",
        "statistics/manifest.json",
    )
]
SCORECARD = [f"{RESULTS}/{name}" for name in ("scorecard.html", "scorecard.json", manifest.SCORECARD)]
TEMPLATES = [path.as_posix() for path in sorted((SOURCE / "hypersphere/report/templates").iterdir())]
MADE = [local(path) for key in PLAN.made_artifacts for path in tidy(*key)]
DRAWN = [local(path) for key in PLAN.made_artifacts for path in PLAN.config.outputs(*key)]
DRAWN += [
    local(path)
    for paper in SIMULATED
    for name in PLAN.config.exact_artifacts(paper)
    for path in PLAN.config.outputs(paper, name)
]


rule claims:
    input:
        MADE,
        THEORY,
        SIMULATED.values(),
    output:
        CLAIMS,
    log:
        f"{LOGS}/claims.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=digests.claims_digest(PLAN),
        claims=[claims_of(paper) for paper in PLAN.config.papers],
    shell:
        "hypersphere claims > {log} 2>&1"


rule scorecard:
    input:
        CLAIMS,
        DRAWN,
    output:
        SCORECARD,
    log:
        f"{LOGS}/scorecard.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=digests.scorecard_digest(
            PLAN,
            *TEMPLATES,
            *notes_of("errata.yaml"),
            "CITATION.cff",
        ),
    shell:
        "hypersphere scorecard > {log} 2>&1"
