"""An artifact: its declaration, its points with our numbers and the printed ones, and its table for the reader."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.cells import control, is_made
from hypersphere.config.claims import Claim
from hypersphere.config.coordinates import Coordinates, Position, Scalar
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.config.project import Config
from hypersphere.provenance import columns, tables
from hypersphere.report import words
from hypersphere.report.results import ExactResults, Results

MEASURED = (
    "measured_on",
    "probed_on",
    "epoch",
    "mean",
    "std",
    "n",
    "low",
    "high",
    "n_diverged",
    "n_undefined",
)
"""The columns of summary.csv that the csv of an artifact repeats."""
EFFECT = {
    "baseline": "baseline",
    "effect": "effect",
    "effect_low": "low_holm",
    "effect_high": "high_holm",
    "p_holm": "p_holm",
    "low_power": "low_power",
}
"""The columns of effects.csv that the csv of an artifact repeats, by their names in that csv."""
FIELDS = (
    "coordinates",
    "method",
    "variant",
    "dataset",
    "setting",
    "measure",
    *MEASURED,
    *EFFECT,
    "published",
    "published_std",
    "missing",
    "scale",
)
"""The columns of the csv of a table, and of a figure that is drawn from means."""
SINGLE = FIELDS[: FIELDS.index("mean")]
"""The first columns of the csv of a figure that shows several values of a cell."""


class Head(NamedTuple):
    """One heading over ``span`` columns."""

    text: str
    note: str = ""
    """A second, smaller line."""
    span: int = 1


class Text(NamedTuple):
    """One cell: its number and a second, smaller line."""

    main: str
    second: str = ""


class Line(NamedTuple):
    """One row of a table."""

    labels: tuple[str, ...]
    cells: tuple[Text, ...]
    control: bool = False
    """Whether it is a control (chance, raw pixels, untrained). Controls come last, set apart."""


class Grid(NamedTuple):
    """The layout of a table, which its md and tex, the scorecard and the paper show."""

    head: tuple[tuple[Head, ...], ...]
    """Rows of headings over the cells, outermost first. Headings over the labels are in ``corner``."""
    corner: tuple[str, ...]
    """Headings of the label columns."""
    lines: tuple[Line, ...]


class Shown(NamedTuple):
    """An artifact as pages show it."""

    id: str
    title: str
    notes: tuple[str, ...]
    """Scale, what a cell contains, seeds, device, protocol. The first note names the scale."""
    grid: Grid | None = None
    """None for a figure, which is the file results/<scale>/figures/<paper>/<id>.svg."""
    inches: float = 7.2
    """Width of a figure."""


@dataclass(frozen=True)
class Context:
    """One artifact, its paper, and the results that hold its numbers."""

    results: ExactResults
    paper: Paper
    name: str

    @property
    def config(self) -> Config:
        return self.results.config

    @property
    def artifact(self) -> Any:
        """The artifact's declaration, a Measured or a Studied."""
        return self.paper.artifacts[self.name]


@dataclass(frozen=True)
class Point:
    """One cell: a mean over seeds, its effect over the baseline, and the published number beside it."""

    coordinates: Coordinates
    summary: Mapping[str, Any] = field(default_factory=dict)
    effect: Mapping[str, Any] = field(default_factory=dict)
    claim: Claim | None = None
    missing: str = ""
    """Why it cannot be measured at this scale; empty if it can."""
    is_baseline: bool = False
    stands_in: bool = False
    """Whether another dataset than the printed one was measured."""
    control: bool = False
    printed_baseline: Claim | None = None
    has_intervals: bool = True
    """Whether this scale's intervals of effects are shown."""

    @property
    def text(self) -> str:
        return coordinates.text(self.coordinates)

    @property
    def measure(self) -> Measure:
        return MEASURES[str(self.coordinates["measure"])]

    @property
    def label(self) -> str:
        """The name of the measure for readers."""
        return words.measure(str(self.coordinates["measure"]))

    def number(self, name: str) -> float:
        """A number of the summary; NaN if there is none."""
        return float(self.summary.get(name, math.nan))

    def count(self, name: str) -> int:
        """A count of the summary; 0 if there is none."""
        return words.whole(self.number(name))

    @property
    def mean(self) -> float:
        return self.number("mean")

    @property
    def was_run(self) -> bool:
        """Whether a run was made, with a number or without."""
        return not math.isnan(self.mean) or bool(self.lost)

    @property
    def lost(self) -> dict[str, int]:
        """How many runs have no value, by the reason: ``{"diverged": 2}``."""
        return words.seeds_without_value(self.summary)

    @property
    def mean_text(self) -> str:
        return words.number(self.mean, self.measure.decimals)

    @property
    def beside(self) -> Claim | None:
        """The claim that may be shown beside our number: it must be about the dataset that was measured."""
        return None if self.stands_in else self.claim

    @property
    def published(self) -> float:
        """The printed number to show beside ours; NaN if there is none."""
        claim = self.beside
        return math.nan if claim is None or claim.reported is None else claim.reported

    @property
    def ours(self) -> str:
        """Our number, with its spread and n in brackets: ``83.2 ± 0.5 (5)``."""
        lost = self.lost
        if math.isnan(self.mean):
            # a history, for example, has no value of epoch 0
            was_run = self.control or self.summary
            return " or ".join(lost) or ("–" if was_run else words.NOT_RUN)
        std = self.number("std")
        if math.isnan(std) and self.control:  # chance and raw pixels are one number, not a mean
            return self.mean_text
        text = self.mean_text
        if not math.isnan(std):
            text += f" ± {words.number(std, self.measure.decimals)}"
        counts = [str(self.count("n"))]
        for reason, count in lost.items():
            counts.append(f"{count} {reason}")
        return f"{text} ({'; '.join(counts)})"

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the effect; NaN: there is no interval, or it is wider than the measure's range."""
        # an A/A comparison has its own interval
        kind = "" if self.effect.get("in_family") is False else "_holm"
        low = float(self.effect.get(f"low{kind}", math.nan))
        high = float(self.effect.get(f"high{kind}", math.nan))
        useful = self.has_intervals and high - low <= self.measure.high - self.measure.low
        return (low, high) if useful else (math.nan, math.nan)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the mean, cut to the measure's range; NaN: there is no interval."""
        within = self.measure.within
        return within(self.number("low")), within(self.number("high"))

    @property
    def gain(self) -> float:
        """The difference from the baseline; NaN if there is none."""
        return float(self.effect.get("effect", math.nan))

    @property
    def difference(self) -> str:
        """The difference in words: ``+1.2 [+0.4, +2.0]``, or ``baseline``; empty without a comparison."""
        if self.is_baseline:
            return "" if math.isnan(self.mean) else "baseline"
        if math.isnan(self.mean) or math.isnan(self.gain):
            return ""
        text = words.with_sign(self.gain, self.measure.decimals)
        low, high = self.interval
        if math.isnan(low):
            return f"{text}, no interval" if self.has_intervals else text
        interval = words.interval(low, high, self.measure.decimals, self.measure)
        low_power = " low power" if self.effect["low_power"] else ""
        return f"{text} {interval}{low_power}"

    @property
    def printed(self) -> str:
        """The published number, as printed, or an en dash."""
        if self.claim is None or self.claim.reported is None:
            return "–"
        decimals = self.measure.decimals
        text = words.with_decimals(f"{self.claim.reported:.10g}", decimals)
        if self.claim.reported_std is not None:
            text += f" ± {words.with_decimals(f'{self.claim.reported_std:.10g}', decimals)}"
        return text

    @property
    def fields(self) -> dict[str, Any]:
        """The ``FIELDS`` that are known. ``epoch`` is the epoch of the runs, not the published one."""
        fields: dict[str, Any] = {**self.coordinates}
        for name in MEASURED:
            fields[name] = self.summary.get(name)
        for name, column in EFFECT.items():
            fields[name] = self.effect.get(column)
        if self.claim:
            fields["published"] = self.claim.reported
            fields["published_std"] = self.claim.reported_std
        fields["coordinates"] = self.text
        fields["setting"] = coordinates.setting(self.coordinates)
        fields["missing"] = self.missing
        return fields


@dataclass(frozen=True)
class Points(Context):
    """Every point of an artifact made from runs, from results/<scale>/statistics/<paper>/<artifact>/."""

    results: Results
    _tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """A tidy table of the artifact, with the columns that provenance/columns.py describes."""
        if name not in self._tables:
            file = self.checked_file(f"{name}.csv")
            self._tables[name] = tables.read(file, columns.TABLES[name])
        return self._tables[name]

    def by_cell(self, name: str) -> dict[str, pd.DataFrame]:
        """The rows of a tidy table, by the coordinates of their cell."""
        groups = self.table(name).groupby("coordinates")
        return {str(cell): rows for cell, rows in groups}

    def checked_file(self, file: str) -> Path:
        """The path of one of the artifact's tidy files, after a check against its manifest."""
        folder = self.results.config.artifact_folder(self.paper.paper, self.name)
        return self.results.checked_file(folder / file)

    @cached_property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Means over seeds by coordinates, including controls (``method=control;…``)."""
        return {row["coordinates"]: row for row in tables.rows(self.table("summary"))}

    def axis(self, name: str) -> list[dict[str, Scalar]]:
        """The points of an axis; a single empty point if the artifact lacks this axis."""
        points: list[dict[str, Scalar]] = self.artifact.axes.get(name, [{}])
        return points

    @cached_property
    def cells(self) -> dict[str, Point]:
        """Every cell by its coordinates; the innermost axis varies fastest."""
        missing = self.results.plan.missing(self.paper.paper, self.name)
        effects = {}
        for row in tables.rows(self.table("effects")):
            effects[row["coordinates"], row["baseline"]] = row
        cells = {}
        for point in self.artifact.points:
            baseline = self.artifact.compared_with(point)
            cells[point.text] = Point(
                point,
                self.summary.get(point.text, {}),
                effects.get((point.text, baseline.text), {}) if baseline else {},
                self._claim(point),
                missing.get(point.text, ""),
                is_baseline=self.artifact.baseline is not None and not baseline,
                stands_in=self._stands_in(point),
                printed_baseline=self._claim(baseline) if baseline else None,
                has_intervals=self.config.scale.level != "quick",
            )
        return cells

    def _claim(self, point: Position) -> Claim | None:
        return self.results.published.get((self.paper.paper, self.name, point.text))

    def _stands_in(self, point: Coordinates) -> bool:
        """Whether another dataset than the named one is measured."""
        for key, dataset in words.datasets_for(self.config, self.paper.paper, point).items():
            if dataset and dataset.source and dataset.name != point[key]:
                return True
        return False

    @property
    def every(self) -> list[Point]:
        return list(self.cells.values())

    def at(self, *parts: Coordinates) -> Point:
        """The cell at a point of every axis."""
        given: dict[str, Scalar] = dict(self.artifact.fixed)
        for part in parts:
            given |= part
        if self.artifact.measure:
            given["measure"] = self.artifact.measure
        return self.cells[coordinates.text(given)]

    def combinations(self, *axes: str) -> list[dict[str, Scalar]]:
        """The product of the measured points of some axes; the last axis varies fastest."""
        points: list[dict[str, Scalar]] = [{}]
        for axis in axes:
            pairs = product(points, self.measured_points(axis))
            points = [{**outer, **inner} for outer, inner in pairs]
        return points

    def array(self, *axes: str, at: Coordinates | None = None) -> np.ndarray[Any, Any]:
        """The cells at all measured points of some axes. Each axis is a dimension; ``at`` fixes the other axes."""
        cells = [self.at(at or {}, point) for point in self.combinations(*axes)]
        shape = [len(self.measured_points(axis)) for axis in axes]
        return np.array(cells, dtype=object).reshape(shape)

    def control(self, kind: str, under: Point) -> Point:
        """The control (chance, pixels, untrained) for a cell."""
        point = control(under.coordinates, kind)
        return Point(point, self.summary.get(coordinates.text(point), {}), control=True)

    @cached_property
    def controls(self) -> list[Point]:
        """Every measured control, each once."""
        controls = {}
        for kind, cell in product(words.CONTROLS, self.every):
            point = self.control(kind, cell)
            if point.summary:
                controls[point.text] = point
        return list(controls.values())

    def measured_points(self, axis: str) -> list[dict[str, Scalar]]:
        """The points of an axis at which a cell was run; all points if nothing was run."""
        others = [points for name, points in self.artifact.axes.items() if name != axis]
        run = []
        for point in self.axis(axis):
            if any(self.at(point, *rest).was_run for rest in product(*others)):
                run.append(point)
        return run or self.axis(axis)

    def name_of(self, point: Coordinates, axis: str) -> str:
        """The name of a point of an axis, by the keys that tell it from the other points."""
        return self.name_by(point, words.varying(self.axis(axis)))

    def name_by(self, point: Coordinates, keys: Iterable[str]) -> str:
        """``digits (for CIFAR-10), epoch 40 (here 4)``: the name of some keys of a point, by what was measured.

        ``CIFAR-10 (not run at this scale)``, or ``(not run: no loader yet)``, if a dataset or target cannot be
        measured.
        """
        chosen = {key: point[key] for key in keys if key in point}
        ran = [self.here(key, [point]) for key in chosen]
        ran = list(filter(None, ran))
        here = f" (here {', '.join(ran)})" if ran else ""
        measured = dict(chosen)
        for key, dataset in words.datasets_for(self.config, self.paper.paper, chosen).items():
            if dataset is None or dataset.source is None:
                why = " at this scale" if dataset is None else ": no loader yet"
                name = words.point(self.paper, chosen, chosen)
                return f"{name} ({words.NOT_RUN}{why}){here}"
            measured[key] = dataset.name
        names = []
        for group in words.together(list(chosen)):
            name = words.point(self.paper, measured, group)
            if any(measured[key] != chosen[key] for key in group):
                published = words.point(self.paper, chosen, group)
                name += f" (for {published.removeprefix('→ ')})"
            names.append(name)
        return ", ".join(names) + here

    def here(self, key: str, points: Sequence[Coordinates]) -> str:
        """The values that ran in place of a published epoch or field of the run, at some points; empty: the same."""
        if key != "epoch" and "." not in key:
            return ""
        ran: set[tuple[Scalar, Scalar | None]] = set()
        part, _, name = key.partition(".")
        for cell in filter(is_made, self.results.plan.artifacts[self.paper.paper, self.name]):
            at = dict(cell.coordinates).items()
            is_asked = any(point.items() <= at for point in points)
            if not is_asked:
                continue
            value: Scalar | None = cell.epoch
            if name:  # None: the run has the default of a component
                value = getattr(getattr(cell.run, part), name, None)
            ran.add((cell.coordinates[key], value))
        known = [(published, value) for published, value in ran if value is not None]
        if all(value == published or "%" in str(published) for published, value in known):
            return ""
        values = [words.short(value) for _, value in sorted(known)]
        return words.several(values)

    def means(self) -> str:
        """The csv of every cell and control, with the columns ``FIELDS``."""
        return as_csv(FIELDS, self._fields([*self.every, *self.controls]))

    def single(self, table: str, names: Sequence[str]) -> str:
        """The csv of a table with several rows for a cell: ``SINGLE``, the table's columns ``names``, the scale."""
        cells = pd.DataFrame(self._fields(self.every), columns=[*SINGLE, "scale"], dtype=object)
        rows = cells.merge(self.table(table)[["coordinates", *names]], on="coordinates")
        return as_csv((*SINGLE, *names, "scale"), rows)

    def _fields(self, cells: Sequence[Point]) -> list[dict[str, Any]]:
        return [cell.fields | {"scale": self.config.scale_name} for cell in cells]


def means(cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The means of cells; NaN where there is no number."""
    return np.vectorize(lambda cell: cell.mean, otypes=[float])(cells)


def as_csv(fields: Sequence[str], rows: pd.DataFrame | Sequence[Any]) -> str:
    """Rows as csv: a number has all its digits, a whole number has no point, and an unknown value is empty."""

    def plain(value: Any) -> str:
        if value is None or value != value:
            return ""
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)

    frame = pd.DataFrame(rows, columns=list(fields), dtype=object)
    return frame.map(plain).to_csv(index=False, lineterminator="\n")
