# proofs, exact studies, records and finished scales -> results/report/, the same for every scale

RECORDED = judged_records.recorded_scales(Path.cwd())
REPORT = [f"results/report/{name}" for name in ("index.html", "report.pdf", "claims.csv")]
FRONT = multiext("results/report/front", ".svg", ".png", "_narrow.png") if paper_code.front() else []
OF_RECORDS = ("claims.csv", "claims.json", "studies.csv", "splits.csv", "answers.csv", "progress.csv")


rule judge_records:
    output:
        multiext("results/report/records/{recorded}/", *OF_RECORDS),
    log:
        "logs/report/{recorded}.log",
    wildcard_constraints:
        recorded="|".join(RECORDED),
    priority: 8  # it waits for nothing, and takes longer than all but the papers with most exact studies
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda wildcards: digests.records_digest(PLAN.config, wildcards.recorded),
    shell:
        "hypersphere report --records {wildcards.recorded} > {log} 2>&1"


rule write_report:
    input:
        [EXACT[name].made for name in EXACT],
        expand("results/report/records/{recorded}/{name}", recorded=RECORDED, name=OF_RECORDS),
        judged_here,
    output:
        REPORT,
        multiext(
            "results/report/",
            "claims.json",
            "content.json",
            "ladder.csv",
            "criteria.csv",
            "findings.csv",
            "numbers.tex",
            "datapackage.json",
            "manifest.json",
        ),
        FRONT,
        multiext("results/report/forest", ".svg", ".png", "_narrow.png"),
        multiext("results/report/forest_short", ".svg", ".png", "_narrow.png"),
        multiext("results/report/studies", ".svg", ".png", "_narrow.png"),
        [f"results/report/figures/{paper}/{name}.svg" for paper, name in PLAN.config.report_figures.items()],
    log:
        "logs/report/report.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=digests.report_digest(
            PLAN.config,
            *TEMPLATES,
            *(path.as_posix() for path in sorted(Path("paper").glob("*.[ty]*"))),
            *(path.as_posix() for path in sorted(Path("config").glob("scales/*.yaml"))),
            *selected_values(),
            *notes_of("errata.yaml"),
            *notes_of("findings.yaml"),
            "config/certainty.yaml",
            "data/costs.csv",
            "data/pair_costs.csv",
            "CITATION.cff",
        ),
        claims=[claims_of(paper) for paper in PLAN.config.papers],
    shell:
        "hypersphere report > {log} 2>&1"
