"""The runs of a table, from its lines: values in one unit, the last step of each run, and runs without a value."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hypersphere.audit import numerals
from hypersphere.audit.numerals import PERCENT, Written
from hypersphere.audit.table import PLUS_OR_MINUS
from hypersphere.errors import HypersphereError
from hypersphere.judging.sheet import Line, Sheet
from hypersphere.statistics.effects import Moments, Sample, moments

FINISHED = ("", "finished", "completed", "complete", "done", "success")
LOST = ("diverged", "failed", "crashed", "killed")
"""Words in place of the value of a run that has none."""
LIKE_SHARE = 2.0
"""A number below 1 is taken for a share if a hundred times of it is so near to the percents beside it."""
MOST_POWER = 30
"""No value is larger than this power of ten, and none but zero is smaller than its inverse."""
Place = tuple[str, str]
"""A dataset and an arm."""


class Asked(NamedTuple):
    """What is known of a table besides its text."""

    baseline: str
    controls: tuple[str, ...] = ()
    columns: Mapping[str, str] = {}
    """Columns by role, where their names do not tell."""
    metric: str = ""
    """Which of several metrics is judged."""
    decimal: str | None = None
    """The mark before decimals; None: as the numbers tell."""


class Runs(NamedTuple):
    """The runs of a table."""

    file: Path
    source: str
    """What the table was recognised as."""
    measure: str
    """The name of the column, or of the metric, that is judged."""
    arms: dict[str, dict[str, Sample]]
    """The runs of each arm, by dataset and arm, in the table's order. Without seeds, each run has a key of its own."""
    lost: Counter[Place]
    """The number of runs without a value, by dataset and arm."""
    has_seeds: bool
    last_steps: dict[Place, set[float]]
    """The steps at which runs ended, by dataset and arm, where the table has their course."""


class Cell(NamedTuple):
    """A run of the table, or one step of it."""

    line: Line
    arm: str
    dataset: str
    seed: str
    text: str
    """The value as it is written."""
    status: str = ""
    step: str = ""

    @property
    def place(self) -> Place:
        """The dataset and the arm."""
        return self.dataset, self.arm

    @property
    def is_lost(self) -> bool:
        """Whether the line says that its run has no value."""
        return self.status.lower() not in FINISHED or self.text.lower() in LOST


Run = tuple[str, str, str]
"""A dataset, an arm and a seed, or what stands for a seed."""


class Ends(NamedTuple):
    """The runs of a table, each by its last line with a value."""

    cells: list[Cell]
    lost: Counter[Place]
    last_steps: dict[Place, set[float]]
    """Empty if each run has one line."""


def of_cells(table: Sheet, source: str, measure: str, cells: Sequence[Cell], asked: Asked) -> Runs:
    """The values of runs, each at its last step where there are several."""
    has_seeds = _have_seeds(table.file, cells, asked.controls)
    ends = _ends(cells)
    _refuse_twice(table.file, ends.cells)
    texts = [(cell.line, measure, cell.text) for cell in ends.cells]
    values = numbers(table, texts, asked.decimal)
    _refuse_mixed(table.file, ends.cells, values)
    arms = _by_arm(ends.cells, values)
    check(table.file, arms, asked)
    return Runs(table.file, source, measure, arms, ends.lost, has_seeds, ends.last_steps)


def _by_arm(cells: Iterable[Cell], values: Iterable[float]) -> dict[str, dict[str, Sample]]:
    """The values by seed, by dataset and arm; a run without a seed has its line in place of one."""
    by_place: dict[Place, dict[object, float]] = {}
    for cell, value in zip(cells, values, strict=True):
        seed = _seed(cell.seed) if cell.seed else ("line", cell.line.number)
        by_place.setdefault(cell.place, {})[seed] = value
    arms: dict[str, dict[str, Sample]] = {}
    for (dataset, arm), by_seed in by_place.items():
        arms.setdefault(dataset, {})[arm] = by_seed
    return arms


def _ends(cells: Iterable[Cell]) -> Ends:
    """Where each run ends. A run is lost if a line of it says so, or if none of several has a value."""
    by_run: dict[Run, list[Cell]] = defaultdict(list)
    for at, cell in enumerate(cells):
        has_course = bool(cell.step) and bool(cell.seed)
        key = cell.seed if has_course else f"cell {at}"
        by_run[*cell.place, key].append(cell)
    several = any(len(of_run) > 1 for of_run in by_run.values())
    lost: Counter[Place] = Counter()
    last_steps: dict[Place, set[float]] = defaultdict(set)
    whole = []
    for (dataset, arm, _), of_run in by_run.items():
        says_so = any(cell.is_lost for cell in of_run)
        last = None if says_so else _last(of_run)
        if last is None:
            lost[dataset, arm] += 1
            continue
        whole.append(last)
        if several:
            last_steps[dataset, arm].add(_step(last))
    return Ends(whole, lost, last_steps)


def _have_seeds(file: Path, cells: Sequence[Cell], controls: Sequence[str]) -> bool:
    """Whether runs have seeds, all or none of them; those of controls count for nothing."""
    trained = [cell for cell in cells if cell.arm not in controls]
    without = [cell for cell in trained if not cell.seed]
    if without and len(without) < len(trained):
        raise HypersphereError(f"{file}: line {without[0].line.number}: has no seed, and others do")
    several = {cell.step for cell in trained}
    if without and len(several) > 1:
        raise HypersphereError(
            f"{file}: line {without[0].line.number}: has no seed that says of which run this step is"
        )
    return not without


def _last(of_run: Sequence[Cell]) -> Cell | None:
    """The line of a run at its last step with a value; None: it never has a value, though it has several lines."""
    if len(of_run) == 1:
        return of_run[0]
    return max((cell for cell in of_run if cell.text), key=_step, default=None)


def _step(cell: Cell) -> float:
    """The step of a line; text comes before all numbers."""
    number = numerals.read(cell.step, numerals.POINT)
    return -math.inf if number is None else float(number)


def _seed(text: str) -> object:
    """A seed as a number, so that 3 and 3.0 are one."""
    number = numerals.read(text, numerals.POINT)
    return int(number) if number is not None and number == int(number) else text


def _refuse_twice(file: Path, cells: Iterable[Cell]) -> None:
    """Refuse two values of one run."""
    first: dict[Run, int] = {}
    for cell in cells:
        run = *cell.place, str(_seed(cell.seed))
        if cell.seed and run in first:
            raise HypersphereError(
                f"{file}: line {cell.line.number}: '{cell.arm}' has seed {cell.seed} twice, first on line {first[run]}"
            )
        first[run] = cell.line.number


def _refuse_mixed(file: Path, cells: Sequence[Cell], values: Sequence[float]) -> None:
    """Refuse shares of one beside percents, of one dataset: 0.912 beside 91.3."""
    percents: dict[str, list[float]] = defaultdict(list)
    for cell, value in zip(cells, values, strict=True):
        if 1 < value <= 100:
            percents[cell.dataset].append(value)
    middles = {dataset: statistics.median(of) for dataset, of in percents.items()}
    for cell, value in zip(cells, values, strict=True):
        middle = middles.get(cell.dataset, math.inf)
        if 0 < value < 1 and 1 / LIKE_SHARE < 100 * value / middle < LIKE_SHARE:
            raise HypersphereError(
                f"{file}: line {cell.line.number}: {value:g} seems to be a share, and stands beside {middle:g}; write "
                "all values in percent, or all as shares"
            )


# Published means


def of_means(
    table: Sheet, source: str, roles: Mapping[str, str], cells: Sequence[Cell], asked: Asked
) -> Runs:
    """The arms of a table of means, standard deviations and numbers of runs, as papers publish them.

    A published standard deviation of zero is at most half a unit of its last place. One run has none.
    """
    mean, std, n = (roles[role] for role in ("mean", "std", "n"))
    means = numbers(table, [(cell.line, mean, cell.text) for cell in cells], asked.decimal)
    arms: dict[str, dict[str, Sample]] = {}
    for cell, value in zip(cells, means, strict=True):
        place = f"{table.file}: line {cell.line.number}"
        if cell.arm in arms.setdefault(cell.dataset, {}):
            raise HypersphereError(f"{place}: arm '{cell.arm}' is given twice")
        count = numerals.count(cell.line.fields[n], f"{place}: {n}", numerals.POINT)
        spread = math.nan if count == 1 else _deviation(table, cell.line, std, asked.decimal)
        arms[cell.dataset][cell.arm] = Moments(count, value, spread)
    check(table.file, arms, asked)
    return Runs(table.file, f"{source} of means", mean, arms, Counter(), False, {})


def _deviation(table: Sheet, line: Line, column: str, decimal: str | None) -> float:
    """A published standard deviation above zero."""
    text = line.fields[column]
    (value,) = numbers(table, [(line, column, text)], decimal)
    if value < 0:
        raise HypersphereError(
            f"{table.file}: line {line.number}: {column}: must not be negative (given: {value:g})"
        )
    _, _, decimals = text.rstrip(f"{PERCENT} ").replace(",", ".").partition(".")
    return value or 0.5 * 10.0 ** -len(decimals)


# What both must have


def check(file: Path, arms: Mapping[str, Mapping[str, Sample]], asked: Asked) -> None:
    """Refuse a dataset without its baseline, a control that is nowhere, and an arm of one run."""
    everywhere = dict.fromkeys(chain.from_iterable(arms.values()))
    for control in asked.controls:
        if control not in everywhere:
            raise HypersphereError(
                f"{file}: control '{control}': is not an arm of the table ({', '.join(everywhere)})"
            )
    for dataset, of_dataset in arms.items():
        place = f"{file}: dataset '{dataset}'" if dataset else f"{file}"
        if asked.baseline not in of_dataset:
            raise HypersphereError(f"{place}: has no run of the baseline '{asked.baseline}'")
        for arm, runs in of_dataset.items():
            if moments(runs).n < 2 and arm not in asked.controls:
                where = f" on {dataset}" if dataset else ""
                raise HypersphereError(
                    f"{file}: arm '{arm}': has one run{where}; an arm needs two, unless --control names it"
                )
        if not of_dataset.keys() - {asked.baseline, *asked.controls}:
            raise HypersphereError(f"{place}: has no arm beside the baseline '{asked.baseline}'")


# Numbers


def numbers(
    table: Sheet, texts: Sequence[tuple[Line, str, str]], decimal: str | None
) -> list[float]:
    """The numbers of a column, in one unit and with one mark before decimals."""
    stripped = [PLUS_OR_MINUS.split(text, maxsplit=1)[0] for _, _, text in texts]
    places = [f"line {line.number}: {column}" for line, column, _ in texts]
    placed = list(zip(places, stripped, strict=True))
    written = [Written(place, text) for place, text in placed if text]
    mark = decimal or numerals.convention(str(table.file), written, table.has_points)
    values = [_number(f"{table.file}: {place}", text, mark) for place, text in placed]
    _refuse_other_signs(table.file, placed)
    return values


def _number(place: str, text: str, mark: str) -> float:
    """The number of one text, of a size that can be compared with others."""
    number = numerals.read(text, mark)
    if number is None:
        raise HypersphereError(f"{place}: {_why_no_number(text)}")
    if number and not -MOST_POWER <= number.adjusted() <= MOST_POWER:
        raise HypersphereError(f"{place}: is too large or too small (given: '{text}')")
    return float(number)


def _refuse_other_signs(file: Path, placed: Iterable[tuple[str, str]]) -> None:
    """Refuse numbers with a percent sign beside numbers without."""
    bare: tuple[str, str] | None = None
    signed: tuple[str, str] | None = None
    for place, text in placed:
        if set(PERCENT).isdisjoint(text):
            bare = bare or (place, text)
        else:
            signed = signed or (place, text)
    if bare and signed:
        place, text = bare
        raise HypersphereError(
            f"{file}: {place}: '{text}' lacks the % of '{signed[1]}'; write all numbers in one unit"
        )


def _why_no_number(text: str) -> str:
    """What is wrong with a text that is not a number."""
    lost = f"write {LOST[0]} for a run that has no value"
    if not text:
        return f"is empty; {lost}"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity", "none", "null"):
        return f"is {text}; {lost}"
    if text[:1].isdigit() and text[-1:].isalpha():
        return f"must be a number without a unit (given: '{text}')"
    return f"must be a number (given: '{text}')"
