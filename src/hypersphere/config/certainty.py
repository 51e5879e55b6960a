"""Certainty: the grade of evidence, and the shortcomings that lower it (config/certainty.yaml)."""

from collections.abc import Collection
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from hypersphere import files
from hypersphere.config.validation import PositiveInt, Strict, validate

Grade = Literal["high", "moderate", "low", "very low", "none"]
"""How sure a reader may be, after GRADE."""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""The best first."""
Rung = Literal["proof", "exact", "published", "laptop", "own_table", "nothing"]
"""What kind of evidence it is: a step of the ladder."""
RUNGS: dict[Rung, str] = {
    "proof": "proof or random draws",
    "exact": "exact computation",
    "published": "published scale",
    "laptop": "small encoders, real images",
    "own_table": "its own table",
    "nothing": "nothing yet",
}
"""The best first, in words."""


def rung_of_encoders(level: str) -> Rung:
    """The rung of what trained encoders say at a scale of this level."""
    return "published" if level == "paper" else "laptop"


Shortcoming = Literal[
    "few_runs", "undecided", "stand_in", "floored", "other_setting", "untried", "unjudged"
]
SHORTCOMINGS: dict[Shortcoming, str] = {
    "few_runs": "too few runs",
    "undecided": "neither the direction nor the size is clear",
    "stand_in": "other data stand in",
    "floored": "a variant is not shown to be above raw pixels or its untrained encoder",
    "other_setting": "a number of another setting, which we do not compare with the published number",
    "untried": "no counterexample on random draws, which does not prove it",
    "unjudged": "the paper does not say what is needed",
}
"""What holds a certainty down, in words."""


class RungRules(Strict):
    """The grade of one rung, and the most that evidence with a shortcoming can have."""

    grade: Grade
    at_most: dict[Shortcoming, Grade] = Field(default_factory=dict)


class Certainty(Strict):
    """The rules of certainty (docs/statistics.md)."""

    enough_runs: PositiveInt
    rungs: dict[Rung, RungRules]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if list(self.rungs) != list(RUNGS):
            raise ValueError(f"rungs: must be {', '.join(RUNGS)}, in this order")
        return self

    def of(
        self, rung: Rung, shortcomings: Collection[Shortcoming]
    ) -> tuple[Grade, list[Shortcoming]]:
        """The grade of evidence on a rung, and the shortcomings that hold it down or would."""
        rules = self.rungs[rung]
        reasons = [one for one in rules.at_most if one in shortcomings]
        grades = [rules.grade, *(rules.at_most[reason] for reason in reasons)]
        return max(grades, key=GRADES.index), reasons


def load_certainty(root: Path) -> Certainty:
    """Read config/certainty.yaml under ``root``."""
    file = root / "config" / "certainty.yaml"
    return validate(Certainty, files.read_yaml(file), file)
