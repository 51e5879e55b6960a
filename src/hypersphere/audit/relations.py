"""Sentences about printed numbers, checked on these numbers: nothing is measured.

A check names cells by their coordinates, what each is compared with, what is taken of them, and a relation. A sentence
such as ``A > B in all columns`` or ``A - B up to 3.2`` is short for one.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from hypersphere.audit import numerals
from hypersphere.audit.numerals import unit
from hypersphere.audit.table import Cell
from hypersphere.errors import HypersphereError

Coordinates = Mapping[str, str]
Cells = Mapping[str, Sequence[str]]
"""A number is one of the cells if it has one of the values of each key; ``""`` means that it lacks the key."""
READING = "reading"  # a key that numbers may differ by which are compared
ROUNDING = 1e-9  # printed decimals are exact, their binary differences are not
TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "range": lambda values: max(values) - min(values),
    "largest": max,
}
HOLDS: Mapping[str, Callable[[int], int]] = {
    "all": lambda places: places,
    "most": lambda places: places // 2 + 1,
    "some": lambda places: 1,
}
"""The number of places in which a sentence must hold: all, more than half, or one."""
FORMS = (
    "'A > B', 'A beats B', 'A - B up to 3.2', 'A - B on average +1.4' or 'A at least 90', where A and B are rows; "
    "'in all columns', 'in most columns', 'in some columns' or 'in COLUMN, COLUMN' may follow, and 'for METRIC'"
)
RELATIONS = {">": "above", "beats": "above", "<": "below", **dict.fromkeys((">=", "≥"), "at least")}
RELATIONS |= dict.fromkeys(("<=", "≤"), "at most")
_SENTENCE = re.compile(
    r"(?P<a>.+?)(?: (?P<with>>=|<=|≥|≤|>|<|beats|-) (?P<b>.+?))?(?: (?P<take>up to|on average|at least|at most) "
    r"(?P<than>[-+]?[\d.,]+ ?%?))?(?: in (?P<places>.+?))?(?: for (?P<metric>.+))?"
)


class Number(NamedTuple):
    """A printed number and its coordinates."""

    at: Coordinates
    value: float


class Check(NamedTuple):
    """A relation, and the printed numbers that have it."""

    cells: Cells
    relation: str
    """above, at least, below, at most, within (either side of 0), or between."""
    than: tuple[float, ...] = (0.0,)
    """The threshold; for ``between``, the lowest and the highest allowed number."""
    minus: Cells | None = None
    """The cell that each is compared with, by the coordinates that differ. Of several, the one that is hardest to beat;
    the easiest with ``against="any"``."""
    against: str = "all"
    take: str = "each"
    """What is taken of the numbers (or differences) that agree in ``by``; ``each``: they are checked one by one."""
    by: Sequence[str] = ()
    less: Cells | None = None
    """Coordinates of other cells, of which the same is taken, and subtracted."""

    def places(self, numbers: Sequence[Number]) -> list[tuple[str, float]]:
        """The numbers that it compares with its threshold, each with the name of its place."""
        cells = self._differences(self.cells, numbers)
        if self.take == "each":
            return [(text(_without_reading(cell.at)), cell.value) for cell in cells]
        taken = self._by_group(cells)
        if self.less is not None:
            others = self._by_group(self._differences({**self.cells, **self.less}, numbers))
            if taken.keys() != others.keys():
                raise ValueError("less: needs the same groups as cells")
            taken = {group: value - others[group] for group, value in taken.items()}
        return [(f"{self.take} {group}".strip(), value) for group, value in taken.items()]

    def _differences(self, cells: Cells, numbers: Sequence[Number]) -> list[Number]:
        """The cells, each less what it is compared with."""
        chosen = _select(cells, numbers)
        if self.minus is None:
            return chosen
        larger_is_meant = self.relation in ("above", "at least")
        pick = max if larger_is_meant == (self.against == "all") else min
        compared = []
        for cell in chosen:
            at = _without_reading(cell.at)
            wanted = {**{key: [value] for key, value in at.items()}, **self.minus}
            others = [
                one.value
                for one in _select(wanted, numbers)
                if one is not cell and one.at.keys() - {READING} == wanted.keys()
            ]
            if not others:
                raise ValueError(f"minus: {self.minus} is the cell itself")
            compared.append(cell._replace(value=cell.value - pick(others)))
        return compared

    def _by_group(self, cells: Sequence[Number]) -> dict[str, float]:
        groups: dict[str, list[float]] = defaultdict(list)
        for cell in cells:
            place = {key: cell.at[key] for key in self.by if key in cell.at}
            groups[text(place)].append(cell.value)
        take = TAKE[self.take]
        return {group: float(take(values)) for group, values in groups.items()}

    def holds(self, value: float) -> bool:
        """Whether one number has the relation."""
        low, high = self.than[0], self.than[-1]
        return HOLD[self.relation](value, low, high)


HOLD: Mapping[str, Callable[[float, float, float], bool]] = {
    "above": lambda value, low, high: value > low + ROUNDING,
    "at least": lambda value, low, high: value >= low - ROUNDING,
    "below": lambda value, low, high: value < low - ROUNDING,
    "at most": lambda value, low, high: value <= low + ROUNDING,
    "within": lambda value, low, high: abs(value) <= low + ROUNDING,
    "between": lambda value, low, high: low - ROUNDING <= value <= high + ROUNDING,
}
"""Whether a number has a relation to a threshold, or to a lowest and a highest number."""


def outcome(checks: Sequence[Check], numbers: Sequence[Number]) -> tuple[int, int, str]:
    """The number of places where all checks of a sentence hold, of all places, and the first where one fails.

    Raises:
        ValueError: with the index of a check that the numbers do not allow, and what is wrong with it.
    """
    total = 0
    failing: list[str] = []
    for at, check in enumerate(checks):
        try:
            places = check.places(numbers)
        except ValueError as error:
            raise ValueError(f"checks.{at}.{error}") from None
        total += len(places)
        for name, value in places:
            if not check.holds(value):
                failing.append(f"{name}: {round(value, 6):g}")
    first = failing[0] if failing else ""
    return total - len(failing), total, first


def text(at: Coordinates) -> str:
    """Coordinates as ``key=value;key=value``."""
    return ";".join(f"{key}={value}" for key, value in at.items())


def _select(cells: Cells, numbers: Sequence[Number]) -> list[Number]:
    chosen = list(numbers)
    for key, values in cells.items():
        chosen = [one for one in chosen if one.at.get(key, "") in values]
    if not chosen:
        raise ValueError(f"cells: the table has no number at {dict(cells)}")
    return chosen


def _without_reading(at: Coordinates) -> dict[str, str]:
    return {key: value for key, value in at.items() if key != READING}


def parse(
    sentence: str, cells: Sequence[Cell], decimal: str = numerals.POINT
) -> tuple[Check, str, list[Number]]:
    """A sentence about rows of a table, such as ``A > B in all columns``, and the numbers that it speaks of.

    Between them, whether it speaks of all, most or some places. A difference is compared with a printed one up to the
    rounding of both: its own last decimal, and the table's. ``decimal`` is the mark before the table's decimals; a
    sentence may be written otherwise where that is plain.
    """
    parts = _parts(sentence)
    arms = [name for name in (parts["a"], parts["b"]) if name]
    rows = dict.fromkeys(cell.row for cell in cells)
    for name in arms:
        if name not in rows:
            close = difflib.get_close_matches(name, rows, 1)
            near = f"; did you mean {close[0]}?" if close else ""
            raise HypersphereError(f"claim '{sentence}': '{name}' is not a row of this table{near}")
    columns = {cell.column for cell in cells}
    of = "all"
    word, _, rest = (parts["places"] or "").partition(" ")
    if rest == "columns":
        of = word
    elif word:
        named = [name.strip() for name in parts["places"].split(",")]
        unknown = [name for name in named if name not in columns]
        if unknown:
            raise HypersphereError(
                f"claim '{sentence}': '{unknown[0]}' is not a column of this table"
            )
        columns = {*named}
    spoken_of = [
        cell for cell in cells if cell.column in columns and parts["metric"] in (None, cell.metric)
    ]
    chosen = _of_all(arms, spoken_of)
    if not chosen:
        raise HypersphereError(f"claim '{sentence}': the table has no number that it is about")
    metrics = {cell.metric for cell in chosen}
    if len(metrics) > 1 and parts["take"]:
        raise HypersphereError(f"claim '{sentence}': name one of the metrics, 'for {min(metrics)}'")
    numbers = []
    # "beats" is larger where higher is better: numbers of which lower is better change their sign
    for cell in chosen:
        sign = -1 if parts["with"] == "beats" and not cell.higher_is_better else 1
        at = {"row": cell.row, "column": cell.column, "metric": cell.metric}
        numbers.append(Number(at, sign * float(cell.mean)))
    here = {"row": arms[:1]}
    minus = {"row": arms[1:]} if arms[1:] else None
    if not parts["take"]:
        return Check(here, RELATIONS[parts["with"]], minus=minus), of, numbers
    mark = decimal
    if numerals.read(parts["than"], decimal) is None:
        mark = numerals.OTHER[decimal]
    than = numerals.number(parts["than"], f"claim '{sentence}'", mark)
    if parts["take"] in ("at least", "at most"):
        return Check(here, parts["take"], (float(than),), minus), of, numbers
    slack = unit(than) / 2
    if minus:
        slack += max(unit(cell.mean) for cell in chosen)
    exact = Fraction(than)
    bounds = float(exact - slack), float(exact + slack)
    take = "largest" if parts["take"] == "up to" else "mean"
    return Check(here, "between", bounds, minus, take=take), of, numbers


def _parts(sentence: str) -> re.Match[str]:
    """The parts of a sentence: rows, relation, number, places, metric."""
    plain = numerals.MINUS.sub("-", " ".join(sentence.split()))
    parts = _SENTENCE.fullmatch(plain)
    is_whole = parts and (parts["take"] or parts["with"] not in (None, "-"))
    if parts is None or not is_whole:
        raise HypersphereError(f"claim '{sentence}': must be like {FORMS}")
    return parts


def _of_all(arms: Sequence[str], cells: Sequence[Cell]) -> list[Cell]:
    """The cells of these rows, where all of the rows have one."""
    places = Counter((cell.column, cell.metric) for cell in cells if cell.row in arms)
    whole = len(dict.fromkeys(arms))
    return [
        cell for cell in cells if cell.row in arms and places[cell.column, cell.metric] == whole
    ]
