# `snakemake --cores all` starts here. A Snakefile that only includes another has no default rule and does nothing.
include: "workflow/Snakefile"


rule all:
    default_target: True
    input:
        rules.everything.input,
