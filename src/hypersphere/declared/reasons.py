"""Why an artifact is not made, in the words that plan, claims, scorecard and paper share."""

from hypersphere.declared.artifacts import Studied
from hypersphere.declared.plan import Plan

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
    if f"{paper}/{artifact}" in config.scale.leaves_out:
        return "left out at this scale"
    reasons = dict.fromkeys(cell.missing for cell in plan.artifacts[paper, artifact])
    return "" if "" in reasons else "; ".join(reasons)
