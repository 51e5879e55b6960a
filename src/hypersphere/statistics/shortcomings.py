"""Which shortcomings a claim's evidence has. config/certainty.py says to what grade each lowers the certainty."""

from collections.abc import Mapping
from typing import Any

from hypersphere.config.certainty import Rung, Shortcoming
from hypersphere.config.rules import Answer, Verdict

HELD = (Verdict.NO_COUNTEREXAMPLE, Verdict.NO_COUNTEREXAMPLE_ERRATUM)
"""The verdicts on a statement for which random draws found no counterexample."""


def of_exact(verdict: Verdict, rung: Rung) -> list[Shortcoming]:
    """The shortcomings of a proof or an exact computation."""
    found: dict[Shortcoming, bool] = {
        "untried": rung == "proof" and verdict in HELD,
        "undecided": verdict is Verdict.INCONCLUSIVE,
        "unjudged": verdict is Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]


def of_encoders(row: Mapping[str, Any], stand_in: bool, enough: int) -> list[Shortcoming]:
    """The shortcomings of trained encoders. ``enough`` is the number of runs that the smaller arm needs."""
    found: dict[Shortcoming, bool] = {
        "few_runs": not row["n"] >= enough,
        "undecided": row["kind"] == "comparison" and row["answer"] == Answer.CANNOT_TELL,
        "stand_in": stand_in,
        "floored": row["floored"] != "",
        "other_setting": row["kind"] == "value",
        "unjudged": row["verdict"] == Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]
