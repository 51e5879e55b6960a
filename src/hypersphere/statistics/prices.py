"""How many runs would answer a comparison: by the spread over seeds, the printed difference and the stated power."""

import math
from bisect import bisect_left
from collections.abc import Callable

from scipy import special

from hypersphere.config.rules import Rules

MOST = 65_536
"""Runs an arm that are never tried: a comparison that needs more has no price."""


def to_see(effect: float, spread: float, rules: Rules) -> float:
    """Runs an arm with which Welch's test finds a true ``effect``, on its side, with the stated power.

    Both are in the measure's unit; ``spread`` is the standard deviation over seeds, taken as equal in both arms. Before
    any correction for other comparisons. nan: one of the two is zero or unknown, or more than ``MOST`` are needed.
    """

    def power(n: int) -> float:
        df, error = 2 * n - 2, spread * math.sqrt(2 / n)
        critical = special.stdtrit(df, 1 - rules.alpha / 2)
        return 1 - float(special.nctdtr(df, abs(effect) / error, critical))

    return _least(power, rules.power) if spread > 0 and abs(effect) > 0 else math.nan


def to_equate(margin: float, spread: float, rules: Rules) -> float:
    """Runs an arm with which two one-sided tests find arms without any difference equal within ``margin``.

    With the stated power, by the usual approximation (Chow, Shao and Wang, Sample Size Calculations in Clinical
    Research, ch. 3), which takes the interval's width at its mean.
    """

    def power(n: int) -> float:
        df, error = 2 * n - 2, spread * math.sqrt(2 / n)
        half = float(special.stdtrit(df, (1 + rules.equivalence) / 2))
        return 2 * float(special.stdtr(df, margin / error - half)) - 1

    return _least(power, rules.power) if spread > 0 else math.nan


def _least(power: Callable[[int], float], enough: float) -> float:
    """The least n of at least 2 with enough power, which rises with n; nan: more than ``MOST``."""
    n = 2 + bisect_left(range(2, MOST + 1), enough, key=power)
    return float(n) if n <= MOST else math.nan
