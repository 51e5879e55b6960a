"""Lines: a measure against a coordinate, with a panel for each point of ``panels`` (and each measure)."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from hypersphere.config.coordinates import Coordinates, normal
from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points

OF = "runs"
AXES = {"panels": False, "lines": True, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

PANEL = 2.1
"""Inches: the height of a panel."""
ACROSS = 3
"""Most panels in a row."""
LOG_RANGE = 8.0
"""An axis without unit and bounds is logarithmic if its largest mean is at least so many times its smallest."""
BAND_FROM = 3
"""With at least so many seeds the interval is a band; with fewer, or on a logarithmic axis, each seed has a line."""
ROOM = 0.12
"""Smallest distance between the labels of two ticks, as a share of the axis."""
LEVELS: dict[str, Any] = {"pixels": (0, (4, 2)), "untrained": (0, (1, 1.5))}
"""Controls that are drawn as horizontal lines, and their dashes."""
PRINTED = "published"
PUBLISHED: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "markersize": 6.0, "markeredgewidth": 1.2}


numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What lines, bands and markers are."""
    levels = f"; horizontal lines: {' and '.join(_levels(points).values())}" if _levels(points) else ""
    text = f"Shown: {noted.measured(points)}. Lines: mean over independent pretrainings{_spread(points)}{levels}."
    return noted.of(points, text, noted.published(points, "Hollow markers repeat"))


def _spread(points: Points) -> str:
    """What is drawn of the spread over seeds: bands, or single runs."""
    level = words.confidence(points.config)
    drawn_as = [f"bands: {level} t intervals"] if any(_banded(cell) for cell in points.every) else []
    drawn_as += ["thin lines: single runs"] if any(_by_run(cell) for cell in points.every) else []
    return "".join(f"; {one}" for one in drawn_as)


def _logarithmic(cell: Point) -> bool:
    """Whether the axis of a cell's measure may be logarithmic, where t intervals would fall off the floor."""
    return not cell.measure.unit and not cell.measure.bounded


def _banded(cell: Point) -> bool:
    return cell.count("n") >= BAND_FROM and not _logarithmic(cell)


def _by_run(cell: Point) -> bool:
    return cell.count("n") > 1 and not _banded(cell)


def _levels(points: Points) -> dict[str, str]:
    """The drawn controls and their names."""
    measured = {str(control.coordinates["variant"]) for control in points.controls}
    return {kind: words.CONTROLS[kind] for kind in LEVELS if kind in measured}


def draw(points: Points) -> Figure:
    """Panels, with heading, legend and notes outside of them."""
    placed = figures.arrange(points.measured("panels", "lines", "x"), ACROSS)
    down, across = figures.size(placed)
    lines = _Lines(points, figures.WIDTH / across)
    legend = 0.19 * -(-len(lines.handles) // lines.columns)
    slant = lines.named and figures.slanted(figures.names(points, "x"), lines.inches)
    height = PANEL * down + 0.4 + legend + (0.6 if slant else 0.0)
    subtitle = f"{noted.measures(points)}. Lines: mean over pretrainings{_spread(points)}"
    made = figures.drawing(points, placed, subtitle, height, lines.inches)
    for panel, axis in made.panels:
        lines.panel(axis, panel.point)
    _share_limits(made.panels)
    for panel, axis in made.panels:
        if panel.measured:
            axis.set_ylabel(lines.cells(panel.point)[0].label)
        if panel.lowest:
            axis.set_xlabel(figures.axis_label(points, "x"))
        elif slant:
            axis.tick_params(axis="x", labelbottom=False)
    look: dict[str, Any] = {"loc": "outside upper left", "ncols": lines.columns, "handlelength": 2.6}
    made.part.legend(list(lines.handles.values()), list(lines.handles), **look)
    return made.align()


def _share_limits(panels: Sequence[tuple[figures.Panel, Axes]]) -> None:
    """Panels of one measure on one dataset have one axis y."""
    groups: dict[tuple[Any, ...], list[Axes]] = {}
    for panel, axis in panels:
        groups.setdefault(tuple(panel.point.get(key) for key in ("measure", *words.DATA)), []).append(axis)
    for axes in groups.values():
        limits = [axis.get_ylim() for axis in axes if axis.lines]
        for axis in axes:
            if axis.lines and len({other.get_yscale() for other in axes}) == 1:
                axis.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


class _Lines:
    """The look of lines and the places on the axis x, which all panels share."""

    def __init__(self, points: Points, inches: float) -> None:
        self.points = points
        self.inches = inches
        """Width of a panel."""
        self.lines = points.measured("lines", "panels", "x")
        numbers = figures.numbers(points, "x")
        self.x = list(map(float, numbers or range(len(points.axis("x")))))
        """The place of each point of the axis x."""
        self.named = not numbers
        """Whether the axis x shows names instead of numbers."""
        self.handles = self._handles()
        self.columns = figures.legend_columns(self.handles)

    def cells(self, panel: Coordinates) -> list[Point]:
        """Every cell of a panel."""
        return [cell for line in self.lines for cell in self._along(panel, line)]

    def _along(self, panel: Coordinates, line: Coordinates) -> list[Point]:
        return [self.points.at(panel, line, x) for x in self.points.axis("x")]

    def panel(self, axis: Axes, panel: Coordinates) -> None:
        """Draw one panel."""
        cells = self.cells(panel)
        if all(math.isnan(cell.mean) for cell in cells):
            figures.blank(axis, cells)
            return
        self._across(axis)
        for kind in LEVELS:
            self._level(axis, panel, kind)
        for at, line in enumerate(self.lines):
            self._line(axis, self._along(panel, line), self.look(at))
        self._limits(axis, cells)

    def look(self, at: int) -> dict[str, Any]:
        """Colour and marker by line, dashes by the first key that varies (for example, the method)."""
        first = words.varying(self.lines)[0]
        groups = list(dict.fromkeys(line.get(first) for line in self.lines))
        group = groups.index(self.lines[at].get(first)) if 1 < len(groups) < len(self.lines) else 0
        count = len(style.COLOURS)
        return {
            "color": style.COLOURS[at % count],
            "marker": style.MARKERS[(at + at // count) % len(style.MARKERS)],
            "linestyle": style.DASHES[group % len(style.DASHES)],
        }

    def _line(self, axis: Axes, cells: list[Point], look: dict[str, Any]) -> None:
        placed = sorted(zip(self.x, cells, strict=True), key=lambda one: one[0])
        measured = [(x, cell) for x, cell in placed if not math.isnan(cell.mean)]
        places, means = [x for x, _ in measured], [cell.mean for _, cell in measured]
        every = max(1, len(measured) // 8)
        axis.plot(places, means, markevery=every, zorder=3, **look)
        banded = [(x, cell) for x, cell in measured if _banded(cell)]
        low, high = ([cell.number(name) for _, cell in banded] for name in ("low", "high"))
        axis.fill_between([x for x, _ in banded], low, high, color=look["color"], alpha=0.18, linewidth=0)
        if any(_by_run(cell) for _, cell in measured):  # a thin line for each seed
            at = {cell.text: x for x, cell in measured}
            for _, rows in self._single([cell for _, cell in measured]).groupby("seed"):
                run = sorted((at[str(row["coordinates"])], row["value"]) for row in rows.to_dict("records"))
                thin = {"color": look["color"], "linewidth": 0.6, "alpha": 0.7, "zorder": 2}
                axis.plot([x for x, _ in run], [y for _, y in run], **thin)
        printed = [(x, cell.published) for x, cell in placed if math.isfinite(cell.published)]
        hollow = PUBLISHED | {"marker": look["marker"], "markeredgecolor": look["color"]}
        axis.plot([x for x, _ in printed], [y for _, y in printed], **hollow, zorder=4)

    def _single(self, cells: list[Point]) -> pd.DataFrame:
        table = self.points.table("measurements")
        return table[table["coordinates"].isin([cell.text for cell in cells]) & table["value"].notna()]

    def _level(self, axis: Axes, panel: Coordinates, kind: str) -> None:
        """Draw a control: a horizontal line if it is one number, grey if it belongs to all lines."""
        runs = [[self.points.control(kind, cell) for cell in self._along(panel, line)] for line in self.lines]
        series = {tuple(one.text for one in run): (at, run) for at, run in reversed(list(enumerate(runs)))}
        for at, run in series.values():
            look = {"color": style.GREY if len(series) == 1 else self.look(at)["color"], "linestyle": LEVELS[kind]}
            measured = [(x, one.mean) for x, one in zip(self.x, run, strict=True) if one.summary]
            if len({one.text for one in run}) == 1:
                for _, mean in measured[:1]:
                    axis.axhline(mean, linewidth=1.1, zorder=1.5, **look)
            else:
                axis.plot([x for x, _ in measured], [y for _, y in measured], linewidth=1.1, zorder=1.5, **look)

    def _across(self, axis: Axes) -> None:
        """The axis x: names, or numbers with a tick at each one that has room."""
        if self.named:
            figures.name_ticks(axis, figures.names(self.points, "x"), self.inches)
            axis.set_xlim(-0.4, len(self.x) - 0.6)
            return
        steps = {round(after - before, 9) for before, after in pairwise(self.x)}
        even = len(self.x) > 2 and len(steps) == 1
        spread = figures.logarithmic(self.x) and not even
        at = {x: math.log(x) if spread else x for x in self.x}
        low, high = min(at.values()), max(at.values())
        margin = 0.04 * (high - low) or 0.5
        ends = (low - margin, high + margin)  # the same axis in every panel, also where some places have no number
        if spread:
            axis.set_xscale("log")
        axis.set_xlim(*map(math.exp, ends) if spread else ends)
        ticks: list[float] = []
        for x in sorted(at, key=lambda x: at[x]):
            if not ticks or (at[x] - at[ticks[-1]]) / ((high - low) or 1.0) >= ROOM:
                ticks.append(x)
        axis.xaxis.set_major_locator(FixedLocator(ticks) if len(self.x) <= 12 else MaxNLocator(5, integer=True))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: words.short(normal(value))))
        axis.xaxis.set_minor_locator(NullLocator())

    def _limits(self, axis: Axes, cells: list[Point]) -> None:
        """Limits of the axis y: the means, single runs, and levels, plus up to half of their range beyond.

        Bands, and controls that change along the axis, may be cut off there, because wide ones hide the lines.
        """
        controls = {kind: [self.points.control(kind, cell) for cell in cells] for kind in LEVELS}
        flat = [one for kind in controls.values() if len({one.text for one in kind}) <= len(self.lines) for one in kind]
        inside = [*(one.mean for one in flat), *(value for cell in cells for value in (cell.mean, cell.published))]
        inside += self._single([cell for cell in cells if _by_run(cell)])["value"].tolist()
        inside = [value for value in inside if math.isfinite(value)]
        edges = [cell.number(name) for cell in cells for name in ("low", "high")]
        edges += [one.mean for kind in controls.values() for one in kind]
        edges = [edge for edge in edges if math.isfinite(edge)]
        low, high = min(inside), max(inside)
        if low > 0 and high / low >= LOG_RANGE and _logarithmic(cells[0]):
            axis.set_yscale("log")
            figures.log_ticks(axis.yaxis)
            axis.set_ylim(low / 1.3, high * 1.3)
            return
        room, margin = 0.5 * (high - low) or 1.0, 0.06 * (high - low) or 0.5
        axis.set_ylim(max(min([*edges, low]), low - room) - margin, min(max([*edges, high]), high + room) + margin)

    def _handles(self) -> dict[str, Line2D]:
        """Entries of the legend: every line, the controls, and the published numbers."""
        keys = words.varying(self.lines)
        entries = {}
        for at, line in enumerate(self.lines):
            ends = [self._along(panel, line)[-1] for panel in self.points.axis("panels")]
            diverged = any(end.was_run for end in ends) and all(math.isnan(end.mean) for end in ends)
            name = self.points.called(line, keys) + (" (diverged)" if diverged else "")
            entries[name] = Line2D([], [], **self.look(at))
        for kind, name in _levels(self.points).items():
            entries[name] = Line2D([], [], color=style.GREY, linestyle=LEVELS[kind], linewidth=1.1)
        if any(math.isfinite(cell.published) for cell in self.points.every):
            entries[PRINTED] = Line2D([], [], marker="o", markeredgecolor=style.GREY, **PUBLISHED)
        return entries
