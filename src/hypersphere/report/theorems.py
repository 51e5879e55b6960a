"""The check of a theorem in words: number of draws, deviation, and counterexample."""

import json
import math
from typing import Any

from hypersphere.wording import counted

EXCESS = "excess"
"""The key of a counterexample for the size of the failure. All other keys are inputs."""


def finding(row: dict[str, Any]) -> str:
    """``9812 of 10000 draws meet the hypothesis, none violates it (deviation at most 3.1e-15)``.

    ``row`` is a theorem's row of claims.csv; without draws it was not checked.
    """
    if math.isnan(row["draws"]):
        return "not checked"
    draws, met, violated = (int(row[name]) for name in ("draws", "met", "violated"))
    worst = max(0.0, float(row["measured"]))
    verb = counted(violated, "violates", "violate")
    outcome = f"{verb} it (by up to" if violated else "none violates it (deviation at most"
    return f"{met} of {draws} draws meet the hypothesis, {outcome} {worst:.2g})"


def counterexample(text: str) -> str:
    """``fails at theta = (1, 2), tau = 1, by 0.25``; empty if there is none."""
    if not text:
        return ""
    inputs = json.loads(text)
    by = inputs.pop(EXCESS)
    return f"fails at {', '.join(f'{name} = {_number(value)}' for name, value in inputs.items())}, by {by:.3g}"


def _number(value: float | list[Any]) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_number, value))})"
    return f"{value:.4g}".replace("-", "−")
