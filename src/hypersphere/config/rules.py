"""What judges a number: margins, levels and grades (config/statistics.yaml, config/certainty.yaml), and verdicts."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, PositiveFloat, model_validator

from hypersphere import files
from hypersphere.config.validation import PositiveInt, Strict, validate

Probability = Annotated[float, Field(gt=0, lt=1)]


class Margin(Strict):
    """The equivalence margin D of a published number, in points for an accuracy, else in the number's own unit."""

    high: float
    at_least_high: PositiveFloat
    below_high: PositiveFloat
    relative: Probability
    """D for a printed result of a simulation that is not an accuracy, as a share of it."""

    def of(self, published: float) -> float:
        """D for one published accuracy (points)."""
        return self.at_least_high if published >= self.high else self.below_high


class Rules(Strict):
    """The rules of every interval, test and verdict (docs/statistics.md)."""

    margin: Margin
    confidence: Probability
    equivalence: Probability
    power: Probability
    low_power_df: PositiveInt
    most_diverged: Probability
    pooled_if: Probability
    most_effect: Annotated[float, Field(gt=1)]

    @property
    def alpha(self) -> float:
        """The family-wise level of a table: one minus the confidence."""
        # Rounded because 1 - 0.95 is not 0.05 in binary, and a p of exactly 0.05 must be judged as such.
        return round(1 - self.confidence, 12)


def load(root: Path) -> Rules:
    """Read config/statistics.yaml under ``root``."""
    file = root / "config" / "statistics.yaml"
    return validate(Rules, files.read_yaml(file), file)


Outcome = Literal["holds", "fails", "borne", "contradicted", "open", "unjudged", "measured", "waiting"]
"""What a verdict says to a reader in a hurry."""


class Verdict(StrEnum):
    """What our measurement says of a claim, in the order in which verdicts are listed (docs/statistics.md)."""

    REPRODUCED = "reproduced", "holds"
    EXACT = "exact", "holds"
    """A computed number has the printed formula's value."""
    EXACT_ERRATUM = "exact (erratum)", "holds"
    NO_COUNTEREXAMPLE = "no counterexample", "holds"
    """A printed statement held on all draws: a test, and no proof."""
    NO_COUNTEREXAMPLE_ERRATUM = "no counterexample (erratum)", "holds"
    """A statement held on all draws as an erratum corrects it."""
    DIVERGED = "diverged as published", "holds"
    NOT_REPRODUCED = "not reproduced", "fails"
    REFUTED = "refuted", "fails"
    """A statement has a counterexample."""
    BORNE = "its table bears it", "borne"
    """A sentence agrees with the numbers that its own document prints, which says nothing of the world."""
    CONTRADICTED = "its table contradicts it", "contradicted"
    DIRECTION_ONLY = "direction only", "open"
    INCONCLUSIVE = "inconclusive", "open"
    CANNOT_BE_JUDGED = "cannot be judged", "unjudged"
    """The document does not say what is needed."""
    LAPTOP_ONLY = "laptop only", "measured"
    QUICK_ONLY = "quick only", "measured"
    NOT_RUN = "not run", "waiting"

    outcome: Outcome

    def __new__(cls, word: str, outcome: Outcome) -> Self:
        """A member equals its word, which is what files hold."""
        verdict = str.__new__(cls, word)
        verdict._value_ = word
        verdict.outcome = outcome
        return verdict

    @classmethod
    def of(cls, word: str) -> Self:
        """The verdict of a file, by its word."""
        return next(verdict for verdict in cls if verdict == word)

    @property
    def tone(self) -> Literal["agree", "disagree", "neutral"]:
        """Its colour at the published scale."""
        return "agree" if self.outcome == "holds" else "disagree" if self.outcome == "fails" else "neutral"

    @property
    def settles(self) -> bool:
        """Whether it is for or against a published claim, which only the published scale can be."""
        return self.tone != "neutral" or self is Verdict.DIRECTION_ONLY


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
Shortcoming = Literal["few_runs", "undecided", "stand_in", "level", "other_setting", "untried", "unjudged"]
SHORTCOMINGS: dict[Shortcoming, str] = {
    "few_runs": "too few runs",
    "undecided": "no direction after correction",
    "stand_in": "other data stand in",
    "level": "an arm is level with raw pixels or its untrained encoder",
    "other_setting": "a number of another setting, which is not compared with the printed one",
    "untried": "no counterexample on random draws, which is no proof",
    "unjudged": "the document does not say what is needed",
}
"""In words."""


LEVEL = "an arm is at the level of"
"""With these words the ``why`` of a claim says that an arm learnt nothing."""


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

    def of(self, rung: Rung, shortcomings: Collection[Shortcoming]) -> tuple[Grade, list[Shortcoming]]:
        """The grade of evidence on a rung, and the shortcomings that hold it down or would."""
        rules = self.rungs[rung]
        reasons = [one for one in rules.at_most if one in shortcomings]
        return max([rules.grade, *(rules.at_most[one] for one in reasons)], key=GRADES.index), reasons


def load_certainty(root: Path) -> Certainty:
    """Read config/certainty.yaml under ``root``."""
    file = root / "config" / "certainty.yaml"
    return validate(Certainty, files.read_yaml(file), file)
