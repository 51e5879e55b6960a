"""Certainty: what holds evidence down, of all that can (config/certainty.yaml)."""

from collections.abc import Mapping
from typing import Any

from hypersphere.config.rules import Answer, Rung, Shortcoming, Verdict

HELD = (Verdict.NO_COUNTEREXAMPLE, Verdict.NO_COUNTEREXAMPLE_ERRATUM)
"""Verdicts on statements that random draws met no counterexample of."""


def of_exact(verdict: Verdict, rung: Rung) -> list[Shortcoming]:
    """The shortcomings of a proof or an exact computation."""
    found: dict[Shortcoming, bool] = {
        "untried": rung == "proof" and verdict in HELD,
        "undecided": verdict is Verdict.INCONCLUSIVE,
        "unjudged": verdict is Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]


def of_encoders(row: Mapping[str, Any], stand_in: bool, enough: int) -> list[Shortcoming]:
    """The shortcomings of trained encoders, of which ``enough`` runs an arm are enough."""
    found: dict[Shortcoming, bool] = {
        "few_runs": not row["n"] >= enough,
        "undecided": row["kind"] == "comparison" and row["answer"] == Answer.CANNOT_TELL,
        "stand_in": stand_in,
        "floored": row["floored"] != "",
        "other_setting": row["kind"] == "value",
        "unjudged": row["verdict"] == Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]
