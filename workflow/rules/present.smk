# tidy tables -> tables, figures, scorecard, paper


rule table:
    input:
        drawn_from,
        CLAIMS,
    output:
        report(f"{RESULTS}/tables/{{paper}}/{{artifact}}.csv", **shown("table", "csv")),
        report(f"{RESULTS}/tables/{{paper}}/{{artifact}}.md", **shown("table", "md")),
        f"{RESULTS}/tables/{{paper}}/{{artifact}}.tex",
    log:
        f"{LOGS}/tables/{{paper}}-{{artifact}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=drawn_by,
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere table {wildcards.paper} {wildcards.artifact} > {log} 2>&1"


rule figure:
    input:
        drawn_from,
    output:
        report(f"{RESULTS}/figures/{{paper}}/{{artifact}}.svg", **shown("figure", "drawing")),
        f"{RESULTS}/figures/{{paper}}/{{artifact}}.png",
        report(f"{RESULTS}/figures/{{paper}}/{{artifact}}.csv", **shown("figure", "csv")),
    log:
        f"{LOGS}/figures/{{paper}}-{{artifact}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=drawn_by,
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere figure {wildcards.paper} {wildcards.artifact} > {log} 2>&1"


DRAWINGS = [f"hypersphere.present.drawings.{p}.{a}" for p in PLAN.config.papers for a in PLAN.config.studied(p)]
DRAWN = expand("{stem}.csv", stem=TABLES) + expand("{stem}.svg", stem=FIGURES)


rule scorecard:
    input:
        TIDY,
        CLAIMS,
        DRAWN,
    output:
        report(f"{RESULTS}/scorecard.html", **shown_once("scorecard")),
        f"{RESULTS}/scorecard.json",
    log:
        f"{LOGS}/scorecard.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.scorecard", *DRAWINGS),
        template=provenance.file_digest("src/hypersphere/present/templates/scorecard.html"),
        errata=provenance.file_digest("paper/errata.yaml"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere scorecard > {log} 2>&1"


rule paper:
    input:
        TIDY,
        CLAIMS,
        DRAWN,
    output:
        report(f"{RESULTS}/paper.pdf", **shown_once("paper")),
    log:
        f"{LOGS}/paper.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.paper", *DRAWINGS),
        template=provenance.file_digest("paper/reproduction.typ"),
        errata=provenance.file_digest("paper/errata.yaml"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere paper > {log} 2>&1"
