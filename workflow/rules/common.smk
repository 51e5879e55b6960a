# What rules of more than one file ask for each table and figure.


def drawn_from(wildcards):
    """What it shows: the tidy tables of the runs, or the results of its paper's exact studies."""
    return SIMULATED[wildcards.paper] if wildcards.artifact in PLAN.config.studied(wildcards.paper) else TIDY


def drawn_by(wildcards):
    """Digest of the code that draws it."""
    return provenance.artifact_digest(PLAN, wildcards.paper, wildcards.artifact)
