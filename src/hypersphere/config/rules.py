"""Read and validate config/statistics.yaml: margins and levels."""

from pathlib import Path
from typing import Annotated

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

    def of(self, published: float) -> float:
        """D for one published accuracy (points)."""
        return self.at_least_high if published >= self.high else self.below_high

    def of_simulated(self, published: float) -> float:
        """D for a printed result of a simulation that is not an accuracy, in its own unit."""
        return self.relative * abs(published)


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
