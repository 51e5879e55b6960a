"""An artifact: its declaration, its points with our numbers and the printed ones, and what is shown of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.cells import control
from hypersphere.config.claims import Claim
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.config.project import Config
from hypersphere.config.run import Component
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
EFFECT = {
    **{
        "baseline": "baseline",
        "effect": "effect",
        "effect_low": "low_holm",
        "effect_high": "high_holm",
    },
    **{"p_holm": "p_holm", "low_power": "low_power"},
}
FIELDS = (
    *("coordinates", "method", "variant", "dataset", "setting", "measure", *MEASURED, *EFFECT),
    *("published", "published_std", "missing", "scale"),
)
"""Columns of the csv of a table, and of a figure that is drawn from means."""
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
        """Its declaration: Measured or Studied."""
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
        """The measure in print."""
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
        """Whether there is a number, or a run that has none."""
        return not math.isnan(self.mean) or bool(self.lost)

    @property
    def lost(self) -> dict[str, int]:
        """How many runs have no value, by the reason: ``{"diverged": 2}``."""
        return words.lost(self.summary)

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
        return (
            math.nan
            if self.beside is None or self.beside.reported is None
            else self.beside.reported
        )

    @property
    def ours(self) -> str:
        """``83.2 ± 0.5 (5)``; n in parentheses."""
        std = self.number("std")
        if math.isnan(self.mean):
            # a history, for example, has no value of epoch 0
            was_run = self.control or self.summary
            return " or ".join(self.lost) or ("–" if was_run else words.NOT_RUN)
        spread = "" if math.isnan(std) else f" ± {words.number(std, self.measure.decimals)}"
        # chance and raw pixels are one number, not a mean of runs
        single = self.control and not spread
        lost = "".join(f"; {count} {how}" for how, count in self.lost.items())
        count = "" if single else f" ({self.count('n')}{lost})"
        return self.mean_text + spread + count

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the effect; NaN where there is none, or none that says more than the measure's own range."""
        # an A/A comparison has its own interval
        kind = "" if self.effect.get("in_family") is False else "_holm"
        low, high = (float(self.effect.get(f"{end}{kind}", math.nan)) for end in ("low", "high"))
        useful = self.has_intervals and high - low <= self.measure.high - self.measure.low
        return (low, high) if useful else (math.nan, math.nan)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the mean, as far as the measure goes; NaN where there is none."""
        low, high = (self.measure.within(self.number(end)) for end in ("low", "high"))
        return low, high

    @property
    def gain(self) -> float:
        """The difference from the baseline; NaN if there is none."""
        return float(self.effect.get("effect", math.nan))

    @property
    def difference(self) -> str:
        """``+1.2 [+0.4, +2.0]``; ``baseline`` for the baseline; empty without a comparison."""
        if self.is_baseline:
            return "" if math.isnan(self.mean) else "baseline"
        if math.isnan(self.mean) or math.isnan(self.gain):
            return ""
        text, (low, high) = words.signed(self.gain, self.measure.decimals), self.interval
        if math.isnan(low):
            return f"{text}, no interval" if self.has_intervals else text
        low_power = " low power" if self.effect["low_power"] else ""
        return f"{text} {words.interval(low, high, self.measure.decimals, self.measure)}{low_power}"

    @property
    def printed(self) -> str:
        """The published number, as printed, or an en dash."""
        if self.claim is None or self.claim.reported is None:
            return "–"
        decimals, std = self.measure.decimals, self.claim.reported_std
        spread = "" if std is None else f" ± {words.published(f'{std:.10g}', decimals)}"
        return words.published(f"{self.claim.reported:.10g}", decimals) + spread

    @property
    def fields(self) -> dict[str, Any]:
        """Of ``FIELDS``, those that are known."""
        measured = {name: self.summary.get(name) for name in MEASURED}
        effect = {name: self.effect.get(column) for name, column in EFFECT.items()}
        printed = (
            {"published": self.claim.reported, "published_std": self.claim.reported_std}
            if self.claim
            else {}
        )
        text = {
            "coordinates": self.text,
            "setting": coordinates.setting(self.coordinates),
            "missing": self.missing,
        }
        return {**self.coordinates, **measured, **effect, **printed, **text}


@dataclass(frozen=True)
class Points(Context):
    """Every point of an artifact made from runs, from results/<scale>/statistics/<paper>/<artifact>/."""

    results: Results
    _tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """A tidy table of the artifact, with the columns that provenance/columns.py describes."""
        if name not in self._tables:
            self._tables[name] = tables.read(self.checked(f"{name}.csv"), columns.TABLES[name])
        return self._tables[name]

    def checked(self, file: str) -> Path:
        """One of the artifact's tidy files, as its manifest says."""
        return self.results.checked(
            self.results.config.artifact_folder(self.paper.paper, self.name) / file
        )

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
        paper, found = self.paper.paper, {}
        missing, printed = self.results.plan.missing(paper, self.name), self.results.published
        effects = {
            (row["coordinates"], row["baseline"]): row for row in tables.rows(self.table("effects"))
        }
        for point in self.artifact.points:
            text, other = coordinates.text(point), self.artifact.compared_with(point)
            baseline = "" if other is None else coordinates.text(other)
            used = words.datasets_for(self.config, paper, point)
            found[text] = Point(
                point,
                self.summary.get(text, {}),
                effects.get((text, baseline), {}) if baseline else {},
                printed.get((paper, self.name, text)),
                missing.get(text, ""),
                is_baseline=self.artifact.baseline is not None and not baseline,
                stands_in=any(
                    one and one.source and one.name != point[name] for name, one in used.items()
                ),
                printed_baseline=printed.get((paper, self.name, baseline)),
                has_intervals=self.config.scale.level != "quick",
            )
        return found

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
            controls[point.text] = point
        return [point for point in controls.values() if point.summary]

    def measured(self, axis: str) -> list[dict[str, Scalar]]:
        """The points of an axis of which anything was run; all points if nothing was."""
        others = [points for name, points in self.artifact.axes.items() if name != axis]
        run = []
        for point in self.axis(axis):
            cells = (self.at(point, *rest) for rest in product(*others))
            run += [point] if any(cell.was_run for cell in cells) else []
        return run or self.axis(axis)

    def named(self, point: Coordinates, axis: str) -> str:
        """The name of a point of an axis: what tells it from the others."""
        return self.called(point, words.varying(self.axis(axis)))

    def called(self, point: Coordinates, keys: Iterable[str]) -> str:
        """``digits (for CIFAR-10), epoch 40 (here 4)``: the name of some keys of a point, by what was measured.

        ``CIFAR-10 (not run at this scale)``, or ``(not run: no loader yet)``, if a dataset or target cannot be
        measured.
        """
        chosen = {key: point[key] for key in keys if key in point}
        texts = [text for key in chosen if (text := self.here(key, [point]))]
        here = f" (here {', '.join(texts)})" if texts else ""
        measured, names = dict(chosen), []
        for key, dataset in words.datasets_for(self.config, self.paper.paper, chosen).items():
            if dataset is None or dataset.source is None:
                why = " at this scale" if dataset is None else ": no loader yet"
                return f"{words.point(self.paper, chosen, chosen)} ({words.NOT_RUN}{why}){here}"
            measured[key] = dataset.name
        for group in words.together(list(chosen)):
            replaced = any(measured[key] != chosen[key] for key in group)
            stands_for = words.point(self.paper, chosen, group).removeprefix("→ ")
            names.append(
                words.point(self.paper, measured, group)
                + (f" (for {stands_for})" if replaced else "")
            )
        return ", ".join(names) + here

    def here(self, key: str, points: Sequence[Coordinates]) -> str:
        """What ran in place of a published epoch, or field of the run, at some points; empty: as published."""
        cells = (
            self.results.plan.artifacts[self.paper.paper, self.name]
            if key == "epoch" or "." in key
            else []
        )
        ran = set[tuple[Scalar, Scalar | None]]()
        for cell in cells:
            at = dict(cell.coordinates).items()
            if cell.missing or not cell.run or not any(point.items() <= at for point in points):
                continue
            value: Scalar | None = cell.epoch
            if key != "epoch":
                part, _, name = key.partition(".")
                of = getattr(cell.run, part)
                # None: the run has the default of a component
                value = (
                    of.parameters.get(name)
                    if isinstance(of, Component)
                    else getattr(of, name, None)
                )
            ran.add((cell.coordinates[key], value))
        if all(
            value is None or value == published or "%" in str(published) for published, value in ran
        ):
            return ""
        return words.several(words.short(value) for _, value in sorted(ran) if value is not None)

    def means(self) -> str:
        """The csv of every cell and control, with the columns ``FIELDS``."""
        cells = (*self.every, *self.controls)
        return as_csv(FIELDS, [cell.fields | {"scale": self.config.scale_name} for cell in cells])

    def single(self, table: str, names: Sequence[str]) -> str:
        """The csv of a table with several rows for a cell: ``SINGLE``, the table's columns ``names``, the scale."""
        of_cell, scale = (
            dict(iter(self.table(table).groupby("coordinates"))),
            {"scale": self.config.scale_name},
        )
        rows = []
        for cell in self.every:
            rows += [
                row | cell.fields | scale
                for row in tables.rows(of_cell.get(cell.text, pd.DataFrame()))
            ]
        return as_csv((*SINGLE, *names, "scale"), rows)


def as_csv(fields: Sequence[str], rows: Sequence[Sequence[Any] | Mapping[str, Any]]) -> str:
    """Tidy lines under a header: all digits of a number, whole ones without a point; empty where nothing is known."""

    def plain(value: Any) -> str:
        if value is None or value != value:
            return ""
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)

    frame = pd.DataFrame(rows, columns=list(fields), dtype=object)
    return frame.map(plain).to_csv(index=False, lineterminator="\n")
