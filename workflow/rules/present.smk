# tidy tables -> tables, figures, scorecard, paper


rule table:
    input:
        TIDY,
        f"{RESULTS}/claims.csv",
    output:
        multiext(f"{RESULTS}/tables/{{paper}}/{{artifact}}", ".csv", ".md", ".tex"),
    log:
        f"{LOGS}/tables/{{paper}}-{{artifact}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.table"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere table {wildcards.paper} {wildcards.artifact} > {log} 2>&1"


rule figure:
    input:
        TIDY,
    output:
        multiext(f"{RESULTS}/figures/{{paper}}/{{artifact}}", ".svg", ".png", ".csv"),
    log:
        f"{LOGS}/figures/{{paper}}-{{artifact}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.figure"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere figure {wildcards.paper} {wildcards.artifact} > {log} 2>&1"


DRAWN = expand("{stem}.csv", stem=TABLES) + expand("{stem}.svg", stem=FIGURES)


rule scorecard:
    input:
        TIDY,
        f"{RESULTS}/claims.csv",
        DRAWN,
    output:
        f"{RESULTS}/scorecard.html",
    log:
        f"{LOGS}/scorecard.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.scorecard"),
        template=provenance.file_digest("src/hypersphere/present/templates/scorecard.html"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere scorecard > {log} 2>&1"


rule paper:
    input:
        TIDY,
        f"{RESULTS}/claims.csv",
        DRAWN,
    output:
        f"{RESULTS}/paper.pdf",
    log:
        f"{LOGS}/paper.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=provenance.code_digest("hypersphere.present.paper"),
        template=provenance.file_digest("paper/reproduction.typ"),
        plan=provenance.plan_digest(PLAN),
    shell:
        "hypersphere paper > {log} 2>&1"
