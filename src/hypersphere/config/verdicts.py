"""The words of every verdict, and what each says: which claims it counts with, its colour, and whether it is final."""

from enum import StrEnum
from typing import Literal, Self

Outcome = Literal["holds", "fails", "open", "unjudged", "measured", "waiting"]
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
    """A statement has a counterexample, or a sentence is contradicted by its own table."""
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

    @property
    def tone(self) -> Literal["agree", "disagree", "neutral"]:
        """Its colour at the published scale."""
        return "agree" if self.outcome == "holds" else "disagree" if self.outcome == "fails" else "neutral"

    @property
    def settles(self) -> bool:
        """Whether it is for or against a published claim, which only the published scale can be."""
        return self.tone != "neutral" or self is Verdict.DIRECTION_ONLY
