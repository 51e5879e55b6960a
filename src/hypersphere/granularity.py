"""Numbers of runs that a printed mean and standard deviation of accuracies allow (GRIM and GRIMMER).

An accuracy over T test images is a whole number of hits times 100 / T, so that a mean over n runs moves in steps of
100 / (T n). A printed mean that none of these steps rounds to was not made so: another n, another rounding, or another
test set. That is a statement about assumptions, never about people. GRIM: Brown and Heathers 2017; GRIMMER: Anaya 2016.
"""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

Rounding = Literal["rounded", "truncated"]
MOST = 10
"""The largest number of runs that is tried."""


class Printed(NamedTuple):
    """A printed mean, and its standard deviation if there is one, in percent, with all printed decimals."""

    mean: Decimal
    std: Decimal | None = None


class Assumptions(NamedTuple):
    """How the numbers came about."""

    step: Fraction
    """The step of one run's accuracy, in percent: 100 / T, or 0.01 if each run was rounded to two decimals first."""
    rounding: Rounding = "rounded"
    ddof: int = 1
    """1: the standard deviation divides by n - 1; 0: by n."""


def admissible(printed: Printed, assumptions: Assumptions) -> tuple[int, ...]:
    """The numbers of runs, from 1 to ``MOST``, that can have been printed so."""
    return tuple(n for n in range(1, MOST + 1) if fits(printed, n, assumptions))


def informative(printed: Printed, assumptions: Assumptions) -> bool:
    """Whether the printed decimals can exclude a number of runs: one unit is less than the step of one run."""
    return _unit(printed.mean) < assumptions.step


def fits(printed: Printed, n: int, assumptions: Assumptions) -> bool:
    """Whether ``n`` runs can have been printed so.

    One run has no standard deviation: it fits only a printed 0, or none.
    """
    totals = _totals(printed.mean, n, assumptions)
    if printed.std is None:
        return next(totals, None) is not None
    return any(_spread_fits(printed.std, total, n, assumptions) for total in totals)


def _totals(mean: Decimal, n: int, assumptions: Assumptions) -> Iterator[int]:
    """The sums over runs, in steps, whose mean is printed as ``mean``."""
    low, high = _interval(mean, assumptions.rounding)
    first = math.ceil(low * n / assumptions.step)
    last = math.floor(high * n / assumptions.step)
    for total in range(first, last + 1):
        # A truncated number is less than one unit above what is printed; a rounded one may be half a unit on either
        # side, whichever way halves go.
        if assumptions.rounding == "rounded" or total * assumptions.step / n < high:
            yield total


def _interval(printed: Decimal, rounding: Rounding) -> tuple[Fraction, Fraction]:
    unit, value = _unit(printed), Fraction(printed)
    return (value - unit / 2, value + unit / 2) if rounding == "rounded" else (value, value + unit)


def _unit(printed: Decimal) -> Fraction:
    """One unit of the last printed decimal."""
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return Fraction(10) ** exponent


def _spread_fits(std: Decimal, total: int, n: int, assumptions: Assumptions) -> bool:
    """Whether n whole numbers with this sum have the printed standard deviation."""
    if n == 1:
        return std == 0
    low, high = _interval(std, assumptions.rounding)
    scale = (n - assumptions.ddof) / assumptions.step**2
    rest = total % n  # of the numbers less the whole part of their mean
    first = math.ceil(max(low, Fraction(0)) ** 2 * scale + Fraction(rest * rest, n))
    last = math.floor(high**2 * scale + Fraction(rest * rest, n))
    return any(_exists(n, rest, squares) for squares in range(first, last + 1))


@lru_cache(maxsize=1 << 16)
def _exists(n: int, total: int, squares: int) -> bool:
    """Whether n whole numbers have this sum and this sum of squares."""
    if (total - squares) % 2 or squares * n < total * total:
        return False
    if n == 1:
        return squares == total * total
    if n == 2:
        root = 2 * squares - total * total  # the square of the difference
        return root >= 0 and math.isqrt(root) ** 2 == root
    limit = math.isqrt(squares)
    nearest = sorted(range(-limit, limit + 1), key=lambda one: abs(one - total / n))
    return any(_exists(n - 1, total - one, squares - one * one) for one in nearest)


def common(cells: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The numbers of runs that all cells allow."""
    return tuple(n for n in range(1, MOST + 1) if cells and all(n in allowed for allowed in cells))
