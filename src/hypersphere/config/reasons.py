"""Why an artifact is not made, or a claim not measured, in the words that plan, claims, scorecard and paper share."""

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Studied
from hypersphere.config.cells import LEFT_OUT
from hypersphere.config.claims import Claim
from hypersphere.config.plan import Plan

NOT_MADE_YET = "not made yet"
"""The reason of an artifact that this scale makes, and has not made."""


def why_not_made(plan: Plan, paper: str, artifact: str) -> str:
    """Why a scale does not make an artifact, in words; empty if it does."""
    config = plan.config
    declared = config.papers[paper].artifacts.get(artifact)
    if declared is None:
        return "no artifact of this name is declared"
    if isinstance(declared, Studied):
        available = artifact in config.studied(paper)
        return "" if available else f"needs {', '.join(declared.needs).replace('_', ' ')}, which are not here"
    if declared.missing:
        return declared.missing
    if not config.makes(paper, artifact):
        return LEFT_OUT
    reasons = dict.fromkeys(cell.missing for cell in plan.artifacts[paper, artifact])
    return "" if "" in reasons else "; ".join(reasons)


def why_not_measured(plan: Plan, paper: str, claim: Claim) -> str:
    """Why nothing of this scale measures a claim's number, in words; empty if a cell, or an exact study, does.

    A claim about an artifact made from runs is bound to the cells with its coordinates and to no others, and a
    comparison to those that the artifact compares.
    """
    missing, reason = plan.missing(paper, claim.artifact), why_not_made(plan, paper, claim.artifact)
    declared = plan.config.papers[paper].artifacts.get(claim.artifact)
    if reason or declared is None or isinstance(declared, Studied):
        return missing.get(claim.text) or reason
    for where in claim.cells:
        if where not in missing:
            return f"no cell of {claim.artifact} has the coordinates {where}"
        if missing[where]:
            return missing[where]
    if claim.kind == "comparison" and (claim.coordinates, claim.compared_with) not in declared.comparisons:
        against = coordinates.text(claim.compared_with)
        return f"{claim.artifact} does not compare {claim.text} with {against}"
    return ""
