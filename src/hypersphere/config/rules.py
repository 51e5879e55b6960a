"""What judges a number: margins and levels (config/statistics.yaml), and verdicts. Certainty is in certainty.py."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, PositiveFloat

from hypersphere import files
from hypersphere.config.validation import PositiveInt, Strict, validate

Probability = Annotated[float, Field(gt=0, lt=1)]


class Margin(Strict):
    """The equivalence margin D of a published number, in points for an accuracy, else in the number's own unit."""

    high: float
    at_least_high: PositiveFloat
    below_high: PositiveFloat
    relative: Probability
    """D for a printed number that is neither an accuracy nor a rate, as a share of it."""

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


Result = Literal["agrees", "agrees in sign only", "disagrees", "undecided", "not tested"]
"""What a reader is told of a published claim."""
RESULTS: tuple[Result, ...] = get_args(Result)
Tone = Literal["agree", "disagree", "neutral"]
Direction = Literal["same", "opposite", "no effect", "unclear"]
"""The side of zero on which an effect is, as seen from the published one: after correction for the other comparisons.
There is no effect if the side is unclear and the effect is equivalent to none."""


class Answer(StrEnum):
    """What the evidence on a claim says. Words, colours, counts and certainty of a claim all follow from its answer."""

    HOLDS = "holds", "agrees", "agree"
    DIRECTION_ONLY = "direction only", "agrees in sign only", "neutral"
    """An effect has the published sign, and its size is less than half of the published one, or more than twice it."""
    FAILS = "fails", "disagrees", "disagree"
    """A number or statement does not come out. An effect is less than half of the published one, of either sign."""
    OPPOSITE = "opposite", "disagrees", "disagree"
    """An effect has the other sign."""
    BORNE = "its table bears it", "agrees", "neutral"
    """A sentence agrees with the numbers that its own document prints, which says nothing of the world."""
    CONTRADICTED = "its table contradicts it", "disagrees", "neutral"
    CANNOT_TELL = "cannot tell", "undecided", "neutral"
    NOT_TESTED = "not tested", "not tested", "neutral"

    result: Result
    tone: Tone
    """Its colour, where it settles a claim."""

    def __new__(cls, word: str, result: Result, tone: Tone) -> Self:
        """A member equals its word, which is what files hold."""
        answer = str.__new__(cls, word)
        answer._value_ = word
        answer.result, answer.tone = result, tone
        return answer

    @classmethod
    def of(cls, word: str) -> Self:
        """The answer of a file, by its word."""
        return next(answer for answer in cls if answer == word)

    def contradicts(self, other: "Answer") -> bool:
        """Whether both cannot be said of one effect. That it is less than half does not say which sign it has."""
        return {self, other} in CONTRARY


CONTRARY = (
    {Answer.HOLDS, Answer.FAILS},
    {Answer.HOLDS, Answer.OPPOSITE},
    {Answer.DIRECTION_ONLY, Answer.OPPOSITE},
    {Answer.BORNE, Answer.CONTRADICTED},
)


class Verdict(StrEnum):
    """What our measurement says of a claim, in the order in which verdicts are listed (docs/statistics.md)."""

    REPRODUCED = "reproduced", Answer.HOLDS
    EXACT = "exact", Answer.HOLDS
    """A computed number has the printed formula's value."""
    EXACT_ERRATUM = "exact (erratum)", Answer.HOLDS
    NO_COUNTEREXAMPLE = "no counterexample", Answer.HOLDS
    """A printed statement held on all draws: a test, and no proof."""
    NO_COUNTEREXAMPLE_ERRATUM = "no counterexample (erratum)", Answer.HOLDS
    """A statement held on all draws as an erratum corrects it."""
    DIVERGED = "diverged as published", Answer.HOLDS
    NOT_REPRODUCED = "not reproduced", Answer.FAILS
    """An effect of the opposite sign among them, of which the answer is ``opposite``."""
    REFUTED = "refuted", Answer.FAILS
    """A statement has a counterexample."""
    BORNE = "its table bears it", Answer.BORNE
    CONTRADICTED = "its table contradicts it", Answer.CONTRADICTED
    DIRECTION_ONLY = "direction only", Answer.DIRECTION_ONLY
    INCONCLUSIVE = "inconclusive", Answer.CANNOT_TELL
    CANNOT_BE_JUDGED = "cannot be judged", Answer.CANNOT_TELL
    """The document does not say what is needed."""
    LAPTOP_ONLY = "laptop only", Answer.CANNOT_TELL
    """A number is of another setting; a comparison has the answer of its own judgement."""
    QUICK_ONLY = "quick only", Answer.CANNOT_TELL
    NOT_RUN = "not run", Answer.NOT_TESTED

    answer: Answer

    def __new__(cls, word: str, answer: Answer) -> Self:
        """A member equals its word, which is what files hold."""
        verdict = str.__new__(cls, word)
        verdict._value_ = word
        verdict.answer = answer
        return verdict

    @classmethod
    def of(cls, word: str) -> Self:
        """The verdict of a file, by its word."""
        return next(verdict for verdict in cls if verdict == word)

    @property
    def settles(self) -> bool:
        """Whether it is for or against a published claim, which only the published scale can be."""
        return self.answer.tone != "neutral" or self is Verdict.DIRECTION_ONLY
