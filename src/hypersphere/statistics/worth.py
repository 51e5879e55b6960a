"""What a change of settings is worth, by recorded runs that differ in these settings alone.

The records say how far a measure moves from one value of a setting to another, in small encoders on real images. Any
two cells of an artifact are compared that differ in nothing else. There is no worth of an arm that lost a run or is not
shown to be above its controls, nor of a study that is not finished.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import Measured
from hypersphere.config.cells import MadeCell, is_made
from hypersphere.config.coordinates import NUMBER, Position
from hypersphere.config.difference import Change, between, changed_fields
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Rules
from hypersphere.provenance import likeness
from hypersphere.statistics import confirmed, effects, effects_table, measure

FAR = 10.0
"""The distance of two values that are no positive numbers; of numbers, a ratio of 22,000."""
FAULTS = ["floor", "n_diverged", "n_undefined"]
"""Columns of summary.csv that are empty, or zero, for an arm whose mean can be read."""
Changes = Mapping[str, Change]
"""Settings that differ, by path, each with its first and second value."""


class Worth(NamedTuple):
    """How far a measure moves where settings go from their first values to their second."""

    changes: Changes
    effect: float
    """The mean of the second minus the mean of the first, in the measure's unit."""
    low: float
    high: float
    n_first: int
    n_second: int
    """Runs with the first values, and with the second."""
    scale: str
    paper: str
    method: str
    dataset: str
    """Where it was measured; the dataset is the published one."""


class Pair(NamedTuple):
    """Two cells of one artifact that differ in some settings alone."""

    first: MadeCell
    second: MadeCell
    changes: Changes


def of_changes(plans: Iterable[Plan], changes: Changes, about: Position) -> list[Worth]:
    """All that records say of some of these changes, or of one of these settings at other values.

    ``about`` are the coordinates of the number that is explained: its measure and its readings are those compared. The
    worths of the same method and dataset come first.
    """
    found: list[Worth] = []
    for plan in plans:
        rules = rules_file.load(plan.config.root)
        for paper, artifact in plan.made_artifacts:
            pairs = list(_pairs(plan, paper, artifact, changes, about))
            if pairs and confirmed.is_finished(plan, paper, artifact):
                found += _measured(plan, paper, artifact, pairs, rules)

    def order(one: Worth) -> tuple[int, float]:
        others = (one.method != about["method"]) + (one.dataset != about["dataset"])
        return others, one.high - one.low

    return sorted(found, key=order)


def _pairs(
    plan: Plan, paper: str, artifact: str, changes: Changes, about: Position
) -> Iterator[Pair]:
    """The pairs of an artifact's cells that differ in some of these settings and in nothing else."""
    fields = {path.partition(".")[0] for path in changes}
    alike: dict[object, dict[Position, MadeCell]] = {}
    for cell in filter(is_made, plan.artifacts[paper, artifact]):
        if _readings(cell.coordinates) == _readings(about):
            place = effects_table.layout(cell.coordinates), cell.protocol
            alike.setdefault(place, {}).setdefault(cell.coordinates, cell)
    for cells in alike.values():
        for first, second in permutations(cells.values(), 2):
            if fields.issuperset(changed_fields(first.run, second.run)):
                differing = between(first.run, second.run)
                if _tells(differing, changes):
                    yield Pair(first, second, differing)


def _readings(point: Position) -> Position:
    """The measure and how it is read, whatever the protocol."""
    read = coordinates.READINGS
    return coordinates.in_order({key: point[key] for key in point if key in read and key != "by"})


def _tells(differing: Changes, changes: Changes) -> bool:
    """Whether two cells differ as the changes do, or in one of their settings at any values."""
    if not differing or not differing.keys() <= changes.keys():
        return False
    return len(differing) == 1 or differing.items() <= changes.items()


def _measured(
    plan: Plan, paper: str, artifact: str, pairs: Iterable[Pair], rules: Rules
) -> Iterator[Worth]:
    """The worth of each pair of an artifact that can be compared."""
    tables = measure.judged_tables(plan, paper, artifact, rules)
    declared: Measured = plan.config.papers[paper].measured[artifact]
    by_layout = effects_table.arms(tables["measurements"], declared.points)
    summary = tables["summary"].set_index("coordinates")
    for pair in pairs:
        arms = by_layout[effects_table.layout(pair.first.coordinates)]
        first, second = pair.first.text, pair.second.text
        if not {first, second} <= arms.keys() or summary.loc[[first, second], FAULTS].any(
            axis=None
        ):
            continue
        if likeness.unlike(_about(tables, [first, second])):
            continue
        effect = effects.effect(arms[second], arms[first], arms, rules)
        if math.isnan(effect["low"]):
            continue
        yield Worth(
            pair.changes,
            effect["effect"],
            effect["low"],
            effect["high"],
            effect["n_baseline"],
            effect["n_variant"],
            plan.config.scale_name,
            paper,
            str(pair.first.coordinates["method"]),
            str(pair.first.coordinates["dataset"]),
        )


def _about(tables: Mapping[str, pd.DataFrame], cells: list[str]) -> pd.DataFrame:
    """How the runs of cells were made."""
    measured = tables["measurements"]
    runs = measured.loc[measured["coordinates"].isin(cells), "run"]
    return tables["runs"][tables["runs"]["run"].isin(runs)]


def explaining(worths: Iterable[Worth], changes: Changes) -> list[Worth]:
    """The worths that together explain most of the changes, each setting once: of most settings first."""
    exact = [one for one in worths if one.changes.items() <= changes.items()]
    taken: set[str] = set()
    chosen = []
    for one in sorted(exact, key=lambda worth: -len(worth.changes)):
        if taken.isdisjoint(one.changes):
            chosen.append(one)
            taken.update(one.changes)
    return chosen


def by_setting(explaining: Iterable[Worth]) -> dict[str, Worth]:
    """The worth that each setting is part of."""
    found: dict[str, Worth] = {}
    for one in explaining:
        found |= dict.fromkeys(one.changes, one)
    return found


def nearest(worths: Iterable[Worth], setting: str, change: Change) -> Worth | None:
    """What records have where this setting alone changes at other values: those nearest to the change.

    ``worths`` begin with the nearest method and dataset, and others are not asked. None: no record varies the setting
    alone.
    """
    alone = [one for one in worths if [*one.changes] == [setting]]
    near = [
        one for one in alone if (one.method, one.dataset) == (alone[0].method, alone[0].dataset)
    ]

    def distance(one: Worth) -> float:
        other = one.changes[setting]
        return sum(_distance(*values) for values in zip(other, change, strict=True))

    return min(near, key=distance, default=None)


def _distance(first: str, second: str) -> float:
    """How far apart two values are: of positive numbers by their ratio, else whether they are equal."""
    if first == second:
        return 0.0
    numbers = [float(one) for one in (first, second) if NUMBER.fullmatch(one)]
    if len(numbers) < 2 or min(numbers) <= 0:
        return FAR
    return abs(math.log(numbers[0] / numbers[1]))
