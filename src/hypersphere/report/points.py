"""An artifact's points, each with its mean, effect and printed value, or the reason why it is missing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured
from hypersphere.config.cells import control
from hypersphere.config.claims import Claim
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.report import words
from hypersphere.report.results import ArtifactResults
from hypersphere.report.shown import Context

IDENTITY = ("coordinates", "method", "variant", "dataset", "setting", "measure")
DATASETS = {"dataset", "target"}
"""The coordinates that name a dataset."""
SINGLE = (*IDENTITY, "measured_on", "probed_on", "epoch")
"""The first columns of the csv of a figure that shows several values of a cell."""
FIELDS = (
    *IDENTITY,
    *("measured_on", "probed_on", "epoch", "mean", "std", "n", "low", "high", "n_diverged"),
    *("baseline", "effect", "effect_low", "effect_high", "p_holm", "low_power"),
    *("published", "published_std", "missing", "scale"),
)
"""Columns of the csv of a table, and of a figure that is drawn from means."""


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

    @property
    def text(self) -> str:
        """The coordinates as text."""
        return coordinates.text(self.coordinates)

    @property
    def measure(self) -> Measure:
        """The measure of the cell."""
        return MEASURES[str(self.coordinates["measure"])]

    def number(self, name: str) -> float:
        """A number of the summary; NaN if there is none."""
        return float(self.summary.get(name, math.nan))

    def count(self, name: str) -> int:
        """A count of the summary; 0 if there is none."""
        number = self.number(name)
        return 0 if math.isnan(number) else int(number)

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return self.number("mean")

    @property
    def beside(self) -> Claim | None:
        """The claim that may be shown beside our number: it must be about the dataset that was measured."""
        return None if self.stands_in else self.claim

    @property
    def published(self) -> float:
        """The printed number to show beside ours; NaN if there is none."""
        return math.nan if self.beside is None or self.beside.reported is None else self.beside.reported

    @property
    def ours(self) -> str:
        """``83.2 ± 0.5 (5)``; n in parentheses."""
        decimals, diverged = self.measure.decimals, self.count("n_diverged")
        if math.isnan(self.mean):
            was_run = self.control or self.summary  # a history, for example, has no value of epoch 0
            return "diverged" if diverged else "–" if was_run else words.NOT_RUN
        std = self.number("std")
        spread = "" if math.isnan(std) else f" ± {words.number(std, decimals)}"
        single = self.control and not spread  # chance and raw pixels are one number, not a mean of runs
        count = "" if single else f" ({self.count('n')}{f'; {diverged} diverged' if diverged else ''})"
        return words.number(self.mean, decimals) + spread + count

    @property
    def difference(self) -> str:
        """``+1.2 [+0.4, +2.0]``; ``baseline`` for the baseline; empty without a comparison."""
        if self.is_baseline:
            return "" if math.isnan(self.mean) else "baseline"
        if math.isnan(self.mean) or math.isnan(effect := float(self.effect.get("effect", math.nan))):
            return ""
        decimals = self.measure.decimals
        kind = "" if self.effect.get("in_family") is False else "_holm"  # an A/A comparison has its own interval
        bounds = words.interval(self.effect[f"low{kind}"], self.effect[f"high{kind}"], decimals)
        low_power = " low power" if self.effect["low_power"] else ""
        return f"{words.signed(effect, decimals)} {bounds}{low_power}"

    @property
    def printed(self) -> str:
        """The published number to show beside ours, as printed, or an en dash."""
        if self.beside is None or self.beside.reported is None:
            return "–"
        decimals, std = self.measure.decimals, self.beside.reported_std
        spread = "" if std is None else f" ± {words.published(f'{std:.10g}', decimals)}"
        return words.published(f"{self.beside.reported:.10g}", decimals) + spread

    def fields(self, scale: str) -> list[Any]:
        """The values of ``FIELDS``."""
        identity = [self.coordinates.get(key, "") for key in coordinates.IDENTITY]
        point = [self.text, *identity, coordinates.setting(self.coordinates), self.coordinates["measure"]]
        ours = [self.summary.get(name) for name in FIELDS[len(IDENTITY) : FIELDS.index("baseline")]]
        effect = [
            self.effect.get(name) for name in ("baseline", "effect", "low_holm", "high_holm", "p_holm", "low_power")
        ]
        printed = (self.claim.reported, self.claim.reported_std) if self.claim else (None, None)
        return [*point, *ours, *effect, *printed, self.missing, scale]


@dataclass
class Points:
    """Every point of an artifact made from runs."""

    context: Context
    _known: dict[str, Point] = field(default_factory=dict)

    @cached_property
    def tables(self) -> ArtifactResults:
        """The tidy tables."""
        return self.context.results.artifact(self.context.paper.paper, self.context.name)

    @property
    def artifact(self) -> Measured:
        """Its declaration."""
        return self.tables.artifact

    @cached_property
    def axes(self) -> dict[str, list[dict[str, Scalar]]]:
        """The points of each of its axes."""
        return self.artifact.axes

    def axis(self, name: str) -> list[dict[str, Scalar]]:
        """The points of an axis; a single empty point if the artifact lacks this axis."""
        return self.axes.get(name, [{}])

    def at(self, *parts: Coordinates) -> Point:
        """The cell at a point of every axis."""
        given: dict[str, Scalar] = dict(self.artifact.fixed)
        for part in parts:
            given |= part
        if self.artifact.measure:
            given["measure"] = self.artifact.measure
        return self._of(coordinates.ordered(given))

    def _of(self, point: Coordinates) -> Point:
        text = coordinates.text(point)
        if text not in self._known:
            self._known[text] = self._joined(point, text)
        return self._known[text]

    def _joined(self, point: Coordinates, text: str) -> Point:
        baseline, config, paper = self.artifact.baseline, self.context.results.config, self.context.paper
        return Point(
            point,
            self.tables.summary.get(text, {}),
            self.tables.effects.get(text, {}) if baseline else {},
            self.tables.printed(point),
            self._missing.get(text, ""),
            baseline is not None and self.artifact.compared_with(point) is None,
            any(words.replacement(config, str(point[key]), paper.paper) for key in DATASETS & set(point)),
        )

    @cached_property
    def _missing(self) -> dict[str, str]:
        return self.tables.missing

    @cached_property
    def every(self) -> list[Point]:
        """Every cell; the innermost axis varies fastest."""
        return [self._of(point) for point in self.artifact.points]

    def control(self, kind: str, under: Point) -> Point:
        """The control (chance, pixels, untrained) for a cell."""
        point = control(under.coordinates, kind)
        return Point(point, self.tables.summary.get(coordinates.text(point), {}), control=True)

    @cached_property
    def controls(self) -> list[Point]:
        """Every measured control, each once."""
        controls = [self.control(kind, cell) for kind in words.CONTROLS for cell in self.every]
        return [control for control in {control.text: control for control in controls}.values() if control.summary]

    @property
    def fixed(self) -> dict[str, Scalar]:
        """The coordinates that all cells share."""
        first = self.every[0].coordinates
        return {
            key: value for key, value in first.items() if all(cell.coordinates.get(key) == value for cell in self.every)
        }

    def single(self, table: pd.DataFrame, columns: Sequence[str]) -> list[list[Any]]:
        """The tidy rows of ``table``, which has several for a cell: ``SINGLE``, the table's ``columns``, the scale."""
        scale, of_cell = self.context.results.config.scale_name, dict(iter(table.groupby("coordinates")))
        return [
            [*point.fields(scale)[: len(SINGLE)], *(row[name] for name in columns), scale]
            for point in self.every
            for row in of_cell.get(point.text, pd.DataFrame()).to_dict("records")
        ]

    def rows(self) -> list[list[Any]]:
        """The tidy rows of every cell and control, with the columns ``FIELDS``."""
        scale = self.context.results.config.scale_name
        return [point.fields(scale) for point in (*self.every, *self.controls)]
