"""What chance alone gives to printed accuracies: the size of the test set, the spread over runs, the last digits.

An accuracy p over T test examples has the binomial standard error sqrt(p (1 - p) / T): its floor. The error of a
difference is the root of the sum of both squares. That is the unpaired error, because printed numbers do not say which
examples both arms got right. Two encoders err on the same examples of a test set, so the true error of a difference
is smaller; so is the error of a mean over seeds. The noise from run to run is in neither, and comes on top.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from scipy import special  # not scipy.stats, whose import takes a second

from hypersphere.audit import grim
from hypersphere.audit.numerals import unit
from hypersphere.audit.table import Cell
from hypersphere.t_test import t_p

LEVEL = 0.05
CRITICAL = 1.96  # two-sided 5 % of the normal distribution, in standard errors
RUNS = range(2, grim.MOST + 1)
"""Numbers of runs at which Welch's test is made where none is printed."""


def floor(cell: Cell) -> float:
    """The binomial standard error of an accuracy, in points; nan for an unknown test set, or no accuracy."""
    if not cell.n_test or not 0 <= cell.mean <= 100:
        return math.nan
    return binomial_error(float(cell.mean), cell.n_test)


def binomial_error(accuracy: float, n_test: int) -> float:
    """The standard error, in points, that ``n_test`` random examples give to an accuracy in percent."""
    return math.sqrt(accuracy * (100 - accuracy) / n_test)


def deviation(cell: Cell) -> float | None:
    """The standard deviation over runs that a cell is taken to have; None if none is printed, or for one run.

    A printed 0 is at most half a unit of its last place: 0.0 is rounded from 0.05 or less.
    """
    if cell.std is None or cell.n == 1:
        return None
    return float(cell.std) or float(unit(cell.std) / 2)


def possible_runs(cell: Cell, runs: Sequence[int] = RUNS) -> tuple[int, ...]:
    """The numbers of runs that the decimals of a cell allow, as measured; all, where they tell nothing."""
    if cell.n:
        return (cell.n,) if cell.n > 1 else ()
    if not cell.n_test:
        return tuple(runs)
    printed = grim.Printed(cell.mean, cell.std)
    as_measured = grim.Assumptions(Fraction(100, cell.n_test))
    if not grim.informative(printed, as_measured):
        return tuple(runs)
    return grim.admissible(printed, as_measured, runs)


class Effect(NamedTuple):
    """A printed number beside the one that it is compared with."""

    cell: Cell
    baseline: Cell

    @property
    def difference(self) -> float:
        """The cell less its baseline, exact in printed decimals."""
        return float(self.cell.mean - self.baseline.mean)

    @property
    def error(self) -> float:
        """The unpaired standard error that the size of the test set gives to the difference."""
        return math.hypot(floor(self.cell), floor(self.baseline))

    @property
    def z(self) -> float:
        """The difference in units of its error; nan if that is unknown or 0."""
        return self.difference / self.error if self.error > 0 else math.nan

    @property
    def has_spreads(self) -> bool:
        """Whether both numbers are printed with a standard deviation over runs."""
        return None not in (deviation(self.cell), deviation(self.baseline))

    def p(self, n: int, other: int | None = None) -> float:
        """Two-sided p of Welch's test (1947) with ``n`` runs, and as many of the baseline, or ``other``.

        nan if an arm has one run, or lacks a deviation.
        """
        other = other or n
        own, others = deviation(self.cell), deviation(self.baseline)
        if min(n, other) < 2 or own is None or others is None:
            return math.nan
        of_cell = own**2 / n
        of_baseline = others**2 / other
        variance = of_cell + of_baseline
        squares = of_cell**2 / (n - 1) + of_baseline**2 / (other - 1)
        return t_p(self.difference, math.sqrt(variance), variance**2 / squares)

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The numbers of runs from 2 that both allow: one number for both, unless one of them prints its own."""
        pairs = itertools.product(possible_runs(self.cell), possible_runs(self.baseline))
        if self.cell.n or self.baseline.n:
            return list(pairs)
        return [(n, other) for n, other in pairs if n == other]


def effects(cells: Iterable[Cell]) -> Iterator[Effect]:
    """Every number and its baseline: that of the same table, column and metric in the row that it names, or the first.

    A row whose baseline is not in its column has no effect there.
    """
    by_place = {cell[:4]: cell for cell in cells}
    first: dict[str, str] = {}
    for cell in by_place.values():
        name = cell.baseline or first.setdefault(cell.where, cell.row)
        baseline = by_place.get((cell.where, name, cell.column, cell.metric))
        if baseline is not None and name != cell.row:
            yield Effect(cell, baseline)


def normal_p(z: float) -> float:
    """Two-sided p of a normal quotient."""
    return math.erfc(abs(z) / math.sqrt(2))


def by_chance(effects: int) -> float:
    """How many of so many effects would be beyond their error by chance, if none were real: 5 %, in expectation."""
    return effects * normal_p(CRITICAL)


def as_many_by_chance(beyond: int, effects: int) -> float:
    """The probability of so many effects or more beyond their error by chance, if none were real.

    It takes effects for independent. Effects of one table share their baseline, so true probabilities are larger.
    """
    return float(special.bdtrc(beyond - 1, effects, normal_p(CRITICAL))) if beyond else 1.0


def odd_p(odd: int, numbers: int) -> float:
    """Two-sided exact p that each of ``numbers`` digits is odd with probability 1/2."""
    fewer = min(odd, numbers - odd)
    return min(1.0, 2 * float(special.bdtr(fewer, numbers, 0.5)))
