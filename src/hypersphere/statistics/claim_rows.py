"""A row of claims.csv: what is printed, and what was measured of it."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import Claim, answering
from hypersphere.config.rules import Verdict
from hypersphere.provenance import columns

NOTHING: dict[str, Any] = {
    "verdict": Verdict.NOT_RUN,
    "n": 0,
    "n_diverged": 0,
    "n_undefined": 0,
    "n_missing": 0,
}
"""The measured columns of a claim for which nothing was run; the others are empty."""


def row(paper: Paper, claim: Claim, measured: Mapping[str, Any], scale: str) -> dict[str, Any]:
    """A claim's row, with its measured columns; ``scale`` is empty for what is the same at every scale."""
    judged = {**NOTHING, **measured}
    return {
        **claim.model_dump(exclude={"direction", "reported_n"}),
        "paper": paper.paper,
        "setting": coordinates.setting(claim.coordinates),
        "reported": claim.direction or (math.nan if claim.reported is None else claim.reported),
        "reported_std": math.nan if claim.reported_std is None else claim.reported_std,
        "scale": scale,
        "unstated": _open_choices(paper, claim),
        "answer": Verdict.of(judged["verdict"]).answer,
        **judged,
        **answering(paper, claim),
    }


def _open_choices(paper: Paper, claim: Claim) -> int:
    """The number of choices that a document leaves open for a claim's method; a theorem has none."""
    if claim.kind == "theorem":
        return 0
    choices = paper.open_choices
    return len(choices.get("all", [])) + len(choices.get(claim.method, []))


def table(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """The rows as claims.csv has them."""
    claims = pd.DataFrame(list(rows), columns=list(columns.CLAIMS))
    for column in ("reported", "measured"):
        claims[column] = [_text(value) for value in claims[column]]
    return claims


def _text(value: str | float) -> str:
    """A number as text, because infinity means "never" here, and a missing number in other tables."""
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else f"{value + 0.0:.10g}"
