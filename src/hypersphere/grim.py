"""Numbers of runs that a printed mean and standard deviation of accuracies allow (GRIM and GRIMMER).

An accuracy over T test images is a whole number of hits times 100 / T, so that a mean over n runs moves in steps of
100 / (T n). A printed mean that none of these steps rounds to was not made so: another n, another rounding, or another
test set. That is a statement about assumptions, never about people. GRIM: Brown and Heathers 2017; GRIMMER: Anaya 2016.
"""

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal, NamedTuple

from hypersphere.errors import HypersphereError

Rounding = Literal["rounded", "truncated"]
MOST = 10
"""The largest number of runs that is tried."""
TRIES = 20_000
"""Partial sets of runs that are tried for one number of runs: a twentieth of a second."""
LARGEST = 10_000_000
"""Test images; no accuracy so fine is printed."""


class TooManyToTryError(Exception):
    """The search for a set of runs with a printed standard deviation was given up."""


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
    """Whether ``n`` runs, each between 0 and 100 %, can have been printed so.

    One run has no standard deviation: it fits only a printed 0, or none.

    Raises:
        TooManyToTryError: neither a set of runs was found, nor all were excluded.
    """
    most = math.floor(100 / assumptions.step)
    totals = _totals(printed.mean, n, assumptions, most)
    if printed.std is None or n == 1:
        return bool(totals) and not printed.std
    # n times the sum of squares, less the squared sum: the same for all numbers moved by a constant.
    low, high = _interval(printed.std, assumptions.rounding)
    scale = n * (n - assumptions.ddof) / assumptions.step**2
    least, highest = math.ceil(max(low, Fraction(0)) ** 2 * scale), math.floor(high**2 * scale)
    if assumptions.rounding == "truncated" and highest == high**2 * scale:
        highest -= 1
    if not totals or least > _widest(totals, n, most):
        return False
    search = _Search(most)
    return any(search.finds(n, total, -(-(least + total**2) // n), (highest + total**2) // n) for total in totals)


def _totals(mean: Decimal, n: int, assumptions: Assumptions, most: int) -> range:
    """The sums over runs, in steps, whose mean is printed as ``mean``."""
    low, high = (end * n / assumptions.step for end in _interval(mean, assumptions.rounding))
    last = math.floor(high)
    # A truncated number is less than one unit above what is printed; a rounded one may be half a unit on either side,
    # whichever way halves go.
    if assumptions.rounding == "truncated" and last == high:
        last -= 1
    return range(max(math.ceil(low), 0), min(last, n * most) + 1)


def _widest(totals: range, n: int, most: int) -> int:
    """The largest spread, as n · squares - sum², of n numbers from 0 to ``most`` with one of these sums.

    It is that of as many ends of the range as the sum allows. Between sums that ends alone make it is convex.
    """
    ends = {totals[0], totals[-1], *(full * most for full in range(n + 1) if full * most in totals)}
    return max(n * (total // most * most**2 + (total % most) ** 2) - total**2 for total in ends)


def _interval(printed: Decimal, rounding: Rounding) -> tuple[Fraction, Fraction]:
    unit, value = _unit(printed), Fraction(printed)
    return (value - unit / 2, value + unit / 2) if rounding == "rounded" else (value, value + unit)


def _unit(printed: Decimal) -> Fraction:
    """One unit of the last printed decimal."""
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return Fraction(10) ** exponent


class _Search:
    """Looks for whole numbers from 0 to ``most`` with a given sum, and a sum of squares between two bounds.

    The last two numbers follow from their difference; those before are tried, the nearest to their mean and
    the furthest from it in turn, where the flattest and the most uneven rest leave room for the bounds.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = TRIES

    def finds(self, n: int, total: int, low: int, high: int) -> bool:
        """Whether ``n`` such numbers exist."""
        self.left -= 1
        if self.left < 0:
            raise TooManyToTryError
        low += (low - total) % 2  # a number and its square are both odd or both even
        if not 0 <= total <= n * self.most or low > high:
            return False
        whole, rest = divmod(total, n)
        full, part = divmod(total, self.most)
        if high < n * whole**2 + rest * (2 * whole + 1) or low > full * self.most**2 + part**2:
            return False
        if n == 2:  # the difference is even where the sum is, and its square is 2 · squares - sum²
            furthest = min(total, 2 * self.most - total, math.isqrt(2 * high - total**2))
            furthest -= (furthest - total) % 2
            return furthest >= 0 and furthest**2 >= 2 * low - total**2
        # A number that is d from the mean adds d² n / (n - 1) to the flattest squares.
        reach = math.isqrt((n * high - total**2) * (n - 1)) // n + 1
        below = range(whole, max(whole - reach, 0) - 1, -1)
        above = range(whole + 1, min(whole + 1 + reach, self.most) + 1)
        halves = [(len(side) + 1) // 2 for side in (below, above)]
        sides = [below[: halves[0]], above[: halves[1]], below[: halves[0] - 1 : -1], above[: halves[1] - 1 : -1]]
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*sides))
        return any(one is not None and self.finds(n - 1, total - one, low - one**2, high - one**2) for one in in_turn)


def common(cells: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The numbers of runs that all cells allow."""
    return tuple(n for n in range(1, MOST + 1) if cells and all(n in allowed for allowed in cells))


def lines(mean: str, std: str | None, n_test: int) -> list[str]:
    """What ``hypersphere grim`` prints: a line for each set of assumptions, with the numbers of runs that fit."""
    if not 1 <= n_test <= LARGEST:
        raise HypersphereError(f"grim: --n-test: must be between 1 and {LARGEST} test images (given: {n_test})")
    printed = Printed(_number(mean, "MEAN"), None if std is None else _number(std, "STD"))
    raw, rounded = Fraction(100, n_test), Fraction(1, 100)
    ways = {"as measured": Assumptions(raw), "truncated": Assumptions(raw, "truncated")}
    ways["each run rounded to 0.01 first"] = Assumptions(rounded)
    if std is not None:
        ways["standard deviation over n, not n - 1"] = Assumptions(raw, ddof=0)
    return [f"{way}: {_fitting(printed, assumptions)}" for way, assumptions in ways.items()]


def _fitting(printed: Printed, assumptions: Assumptions) -> str:
    allowed, unknown = [], []
    for n in range(1, MOST + 1):
        try:
            if fits(printed, n, assumptions):
                allowed.append(n)
        except TooManyToTryError:
            unknown.append(n)
    if not informative(printed, assumptions) and len(allowed) == MOST:
        return "uninformative: the printed decimals allow every number of runs"
    found = f"n = {', '.join(map(str, allowed))}" if allowed else ""
    open_ones = f"too many to try for n = {', '.join(map(str, unknown))}" if unknown else ""
    return "; ".join(filter(None, (found, open_ones))) or f"no number of runs up to {MOST}: an assumption fails"


def _number(text: str, name: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    if not (value.is_finite() and 0 <= value <= 100 and -value.as_tuple().exponent <= 6):  # type: ignore[operator]
        raise HypersphereError(
            f"grim: {name}: must be a number from 0 to 100 percent, with six decimals at most (given: '{text}')"
        )
    return value
