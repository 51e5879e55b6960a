"""Numbers of runs that a printed mean and standard deviation of accuracies allow (GRIM and GRIMMER).

An accuracy over T test images is a whole number of hits times 100 / T, so that a mean over n runs moves in steps of
100 / (T n). A printed mean that none of these steps rounds to was not made so: another n, another rounding, or another
test set. That is a statement about assumptions, never about people. GRIM: Brown and Heathers 2017; GRIMMER: Anaya 2016.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from hypersphere.audit.numerals import unit

MOST = 10  # the largest number of runs that is tried where none is printed
TRIES = 1 << 20
"""Sets of runs that are tried for one number of runs: a twentieth of a second."""


class Printed(NamedTuple):
    """A printed mean, and its standard deviation if there is one, in percent, with all printed decimals."""

    mean: Decimal
    std: Decimal | None = None


class Assumptions(NamedTuple):
    """How the numbers came about."""

    step: Fraction
    """The step of one run's accuracy, in percent: 100 / T, or 0.01 if each run was rounded to two decimals first."""
    rounding: Literal["rounded", "truncated"] = "rounded"
    ddof: int = 1
    """1: the standard deviation divides by n - 1; 0: by n."""


MEASURED, TRUNCATED, RUNS_ROUNDED = "as measured", "truncated", "each run rounded to 0.01 first"
OVER_N = "standard deviation over n, not n - 1"


@cache
def ways(n_test: int, std: bool) -> dict[str, Assumptions]:
    """The ways in which a mean over ``n_test`` images can have been printed, the likeliest first."""
    found = {}
    for over_n in (False, True) if std else (False,):
        for runs_rounded in (False, True):
            for truncated in (False, True):
                on = {TRUNCATED: truncated, RUNS_ROUNDED: runs_rounded, OVER_N: over_n}
                name = "; ".join(name for name, is_on in on.items() if is_on) or MEASURED
                found[name] = Assumptions(
                    step=Fraction(1, 100) if runs_rounded else Fraction(100, n_test),
                    rounding="truncated" if truncated else "rounded",
                    ddof=0 if over_n else 1,
                )
    return found


def admissible(
    printed: Printed, assumptions: Assumptions, runs: Sequence[int] = range(1, MOST + 1)
) -> tuple[int, ...]:
    """The numbers of runs that can have been printed so; a number that was not decided is among them."""
    return tuple(n for n in runs if fits(printed, n, assumptions) is not False)


def common(cells: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The numbers of runs that all cells allow."""
    by_all = set.intersection(*map(set, cells)) if cells else set()
    return tuple(n for n in range(1, MOST + 1) if n in by_all)


def informative(printed: Printed, assumptions: Assumptions) -> bool:
    """Whether the printed decimals can exclude a number of runs: one unit is less than the step of one run."""
    return unit(printed.mean) < assumptions.step


def fits(printed: Printed, n: int, assumptions: Assumptions) -> bool | None:
    """Whether ``n`` runs, each between 0 and 100 %, can have been printed so; None if that was not decided.

    One run has no standard deviation: it fits only a printed 0, or none.
    """
    # As text, because 61.8 and 61.800 are equal decimals and not the same print.
    std = None if printed.std is None else str(printed.std)
    return _fits(str(printed.mean), std, n, assumptions)


@cache
def _fits(mean: str, std: str | None, n: int, assumptions: Assumptions) -> bool | None:
    most, means, squares = _in_steps(mean, std, assumptions)
    fewest = max(means.first(n), 0)
    largest = min(means.last(n), n * most)
    totals = range(fewest, largest + 1)
    if not totals:
        return False
    if squares is None or n == 1:
        return std is None or not Decimal(std)
    # n times the sum of squares, less the squared sum: the same for all numbers moved by a constant.
    scale = n * (n - assumptions.ddof)
    least = squares.first(scale)
    highest = squares.last(scale)
    if least > _largest_spread(n, most, totals):
        return False
    cost = 2 * _reach(n, highest) if n == 3 else 64
    tried = totals[: TRIES // cost]
    unknown = len(tried) < len(totals)
    for total in tried:
        low = -(-(least + total**2) // n)
        high = (highest + total**2) // n
        exists = _exist(n, total, low, high, most)
        if exists:
            return True
        unknown = unknown or exists is None
    return None if unknown else False


def _largest_spread(n: int, most: int, totals: range) -> int:
    """The largest spread of n numbers from 0 to ``most`` with one of these sums.

    It has as many ends of the range as the sum allows. Between sums that ends alone make it is convex.
    """
    of_ends = {full * most for full in range(n + 1)}
    largest = 0
    for total in {totals[0], totals[-1], *of_ends.intersection(totals)}:
        full, part = divmod(total, most)
        squares = full * most**2 + part**2
        largest = max(largest, n * squares - total**2)
    return largest


class _Interval(NamedTuple):
    """An interval of what was printed, in steps of one run, or in squares of them."""

    low: Fraction
    high: Fraction
    open: bool
    """Whether its upper end is left out."""

    def first(self, times: int) -> int:
        """The first whole number of so many times the interval; ``last`` is the last one."""
        return -(-self.low.numerator * times // self.low.denominator)

    def last(self, times: int) -> int:
        return (self.high.numerator * times - self.open) // self.high.denominator


@cache
def _in_steps(
    mean: str, std: str | None, assumptions: Assumptions
) -> tuple[int, _Interval, _Interval | None]:
    """The steps of a run without an error, and the intervals of a mean and of a variance, in steps.

    A truncated number is less than one unit above what is printed; a rounded one may be half a unit on either side,
    whichever way halves go.
    """
    truncated = assumptions.rounding == "truncated"

    def interval(number: str) -> tuple[Fraction, Fraction]:
        value = Fraction(number)
        one = unit(Decimal(number))
        below = 0 if truncated else one / 2
        above = one if truncated else one / 2
        return (value - below) / assumptions.step, (value + above) / assumptions.step

    squares = None
    if std is not None:
        low, high = interval(std)
        squares = _Interval(max(low, Fraction(0)) ** 2, high**2, truncated)
    most = math.floor(100 / assumptions.step)
    return most, _Interval(*interval(mean), truncated), squares


def _reach(n: int, spread: int) -> int:
    """How far from the mean one of ``n`` numbers can be, whose spread is n · squares - sum²: d has d² n² / (n - 1)."""
    return math.isqrt(spread * (n - 1)) // n + 1


def _exist(n: int, total: int, low: int, high: int, most: int) -> bool | None:
    """Whether n whole numbers from 0 to ``most`` have this sum, and a sum of squares between two bounds.

    Four and more have a closed form where no end of the range is near; None elsewhere.
    """
    whole, rest = divmod(total, n)
    full, part = divmod(total, most)
    least = n * whole**2 + rest * (2 * whole + 1)
    largest = full * most**2 + part**2
    low += (low - total) % 2  # squares are odd where sums are
    low = max(low, least)
    high = min(high, largest)
    if low > high:
        return False
    if n < 4:
        return _few_exist(n, total, low, high, most)
    last = min(high, low + 2)
    if _reach(n, n * last - total**2) > min(whole, most - whole - 1):
        return None
    # Pair four numbers in three ways: the sum of one pair less that of the other has the parity of the sum, and the
    # three squares add up to 4 · squares - sum². Any odd ones do, and of even ones those whose quarter is a sum of
    # three squares. One more number can make the sum of four odd.
    if n > 4 or total % 2 == 1:
        return True
    quarter = total**2 // 4
    return any(map(_is_three_squares, range(low - quarter, last - quarter + 1, 2)))


def _few_exist(n: int, total: int, low: int, high: int, most: int) -> bool:
    """The same of two or three numbers, by trial: of three, each first that can be.

    The difference of the other two is even as their sum is, and its square is what their squares leave.
    """
    first = np.zeros(1, np.int64)
    if n == 3:
        mean = total // 3
        reach = _reach(3, 3 * high - total**2)
        lowest = max(mean - reach, 0)
        highest = min(mean + 1 + reach, most)
        first = np.arange(lowest, highest + 1)
    others = total - first
    most_square = 2 * (high - first**2) - others**2
    least_square = 2 * (low - first**2) - others**2
    root = np.sqrt(np.maximum(most_square, 0)).astype(np.int64)
    # a square root in floating point may be one too large, or too small
    root -= root**2 > most_square
    root += (root + 1) ** 2 <= most_square
    furthest = np.minimum(np.minimum(others, 2 * most - others), root)
    furthest -= (furthest - others) % 2
    possible = (most_square >= 0) & (furthest >= 0) & (furthest**2 >= least_square)
    return bool(possible.any())


def _is_three_squares(number: int) -> bool:
    """Legendre: all but 4^a (8 b + 7) are sums of three squares."""
    while number and number % 4 == 0:
        number //= 4
    return number % 8 != 7
