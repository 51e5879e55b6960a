"""Lines: a measure against a coordinate, with a panel for each point of ``panels`` (and each measure)."""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from hypersphere.config.coordinates import Coordinates, normal
from hypersphere.config.measures import Measure
from hypersphere.report import figures, panels, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points, means
from hypersphere.report.panels import Ticks

OF = "runs"
AXES = {"panels": False, "lines": True, "x": True}
FOLDER = "figures"

PANEL = 2.1
"""Inches: the height of a panel."""
LOG_RANGE = 8.0
"""An axis without unit and bounds is logarithmic if its largest mean is at least so many times its smallest."""
BAND_FROM = 3
"""With at least so many seeds the interval is a band; with fewer, or on a logarithmic axis, each seed has a line."""
MEASURED = ("measure", *words.DATA)
"""The coordinates of a panel that say what is measured on which data."""
MOST = 6
"""Lines of a panel that one can tell apart."""
MOST_TICKS = 12
"""Up to so many numbers along the axis x, each may have its own tick."""
BESIDE, DIGIT, GAP = 0.65, 0.075, 0.09
"""Inches: what stands beside the axis of a panel, a digit of a tick's label, and the least gap between two labels."""
LEVELS: dict[str, Any] = {"pixels": (0, (4, 2)), "untrained": (0, (1, 1.5))}
"""Controls that are drawn as horizontal lines, and their dashes."""
PUBLISHED: dict[str, Any] = {
    "linestyle": "none",
    "markerfacecolor": "none",
    "markersize": 6.0,
    "markeredgewidth": 1.2,
}

Look = dict[str, Any]
"""Colour, marker and dashes of a line."""


class Curve(NamedTuple):
    """One line of a panel."""

    cells: list[Point]
    numbers: pd.DataFrame
    """A row for each cell by its place ``x``: ``mean``, its interval from ``low`` to ``high``, ``published``."""
    look: Look


numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    levels = " and ".join(_levels(points).values())
    level_lines = f"; horizontal lines: {levels}" if levels else ""
    lines = f"{noted.over(points)}{_what_is_spread(points)}{level_lines}"
    text = f"Shown: {noted.measures_in_full(points)}. Lines: {lines}."
    return noted.of(points, text, noted.published_source(points, "Hollow markers repeat"))


def _what_is_spread(points: Points) -> str:
    """What is drawn of the spread over seeds: bands, or single runs."""
    several = [cell for cell in points.every if cell.count("n") > 1]
    banded = list(map(_is_banded, several))
    text = ""
    if any(banded):
        text += f"; bands: {words.confidence(points.config)} t intervals"
    if not all(banded):
        text += "; thin lines: single runs"
    return text


def _is_banded(cell: Point) -> bool:
    """Whether a cell has a band; any other of several seeds has a thin line for each.

    On a logarithmic axis, which a measure without unit and bounds may have, t intervals would fall off the floor.
    """
    return cell.count("n") >= BAND_FROM and not _is_open(cell.measure)


def _is_open(measure: Measure) -> bool:
    """Whether a measure has neither unit nor bounds, so that its axis may be logarithmic."""
    return not measure.unit and not measure.bounded


def _levels(points: Points) -> dict[str, str]:
    """The drawn controls and their names."""
    measured = {str(control.coordinates["variant"]) for control in points.controls}
    return {kind: words.CONTROLS[kind] for kind in LEVELS if kind in measured}


def draw(points: Points) -> Figure:
    """Panels, with heading, legend and notes outside of them. Panels of one measure on one dataset share an axis y."""
    every = points.array("panels", "lines", "x")
    values_of_line = np.isfinite(means(every)).sum(axis=2)
    if values_of_line.max() < 2:
        text = (
            f"Not drawn: no line has two values at this scale. The numbers are in {points.name}.csv"
        )
        frame = panels.frame(points, text)
        figure, _ = figures.figure_in_frame(frame, figures.WIDTH, 0.1)
        return figure
    of_panels, of_lines, most = "panels", "lines", 3
    if _has_too_many_lines(points, every):
        of_panels, of_lines, most = "lines", "panels", 4
    rows = panels.arrange(points.measured_points(of_panels), most)
    inches = panels.width(rows)
    x = panels.ticks(points, "x")
    slant = not x.places and panels.in_lines(x.names, inches)[1]
    height = PANEL * len(rows) + (1.0 if slant else 0.4)
    looks = _looks(points.measured_points(of_lines))
    pretrainings = noted.over(points, "pretrainings")
    text = f"{noted.measures(points)}. Lines: {pretrainings}{_what_is_spread(points)}"
    figure, _, drawn = panels.drawing(
        points,
        rows,
        panels.subtitle(points, text, "x"),
        height,
        inches - BESIDE,
        _legend(points, of_panels, of_lines, looks, x.names[-1]),
        (of_panels,),
    )
    alike = defaultdict(list)
    for panel in drawn:
        point, axis = panel.point, panel.axis
        cells = points.array(of_lines, "x", at=point)
        if np.isnan(means(cells)).all():
            panels.blank(axis, cells.flat)
        else:
            places = _across(axis, x, inches)
            curves = []
            for line, look in zip(cells, looks, strict=True):
                curves.append(_curve(line, places, look))
            _draw_curves(axis, points, curves)
            measured = tuple(point.get(key) for key in MEASURED)
            alike[measured].append(axis)
        at_left = panel.at_left
        if at_left is None or at_left.get("measure") != point.get("measure"):
            axis.set_ylabel(cells[0, 0].label)
        if panel.below is None:
            axis.set_xlabel(panels.fold(x.label, inches - BESIDE))
        elif slant:
            axis.tick_params(axis="x", labelbottom=False)
    for axes in alike.values():
        _share_y(axes)
    return figure


def _has_too_many_lines(points: Points, cells: np.ndarray[Any, Any]) -> bool:
    """Whether panels have more than ``MOST`` lines: then each line gets a panel, with a line for each panel."""
    was_run = np.vectorize(lambda cell: cell.was_run, otypes=[bool])
    lines = was_run(cells).any(axis=2)
    most = lines.sum(axis=1).max()
    of_measures = "measure" in words.varying(points.measured_points("panels"))
    return bool(most > MOST >= len(cells)) and not of_measures


def _looks(lines: Sequence[Coordinates]) -> list[Look]:
    """The look of each line: colour, marker and dashes, so that no line is known by its colour alone.

    Dashes are by the first key that varies (the method), or else each line's own.
    """
    first, *_ = words.varying(lines) or [""]
    groups = [line.get(first) for line in lines]
    different = list(dict.fromkeys(groups))
    by_group = 1 < len(different) < len(lines)
    looks = []
    for at, group in enumerate(groups):
        dashes = different.index(group) if by_group else at
        marker = at + at // len(style.COLOURS)
        look = {
            "color": style.nth(style.COLOURS, at),
            "marker": style.nth(style.MARKERS, marker),
            "linestyle": style.nth(style.DASHES, dashes),
        }
        looks.append(look)
    return looks


def _legend(
    points: Points, of_panels: str, of_lines: str, looks: Sequence[Look], last: str
) -> dict[str, Line2D]:
    """Entries of the legend: every line, the controls, and the published numbers."""
    entries = {}
    lines = points.measured_points(of_lines)
    for line, look in zip(lines, looks, strict=True):
        if not line:  # each panel has one line, which its heading names
            continue
        name = points.name_by(line, words.varying(lines))
        ends = points.array(of_panels, "x", at=line)[:, -1]
        lost = panels.reasons(ends)
        if lost and np.isnan(means(ends)).all():
            name += f" ({lost} at {last})"
        entries[name] = Line2D([], [], **look)
    for kind, name in _levels(points).items():
        entries[name] = Line2D(
            [],
            [],
            color=style.GREY,
            linestyle=LEVELS[kind],
            linewidth=1.1,
        )
    if any(math.isfinite(cell.published) for cell in points.every):
        entries["published"] = Line2D(
            [],
            [],
            marker="o",
            markeredgecolor=style.GREY,
            **PUBLISHED,
        )
    return entries


def _curve(cells: Sequence[Point], places: Sequence[float], look: Look) -> Curve:
    """The cells of a line at their places along the axis x, in the order of these."""
    by_place = sorted(zip(places, cells, strict=True), key=itemgetter(0))
    numbers = []
    for x, cell in by_place:
        low, high = cell.ends
        numbers.append(
            {
                "x": x,
                "coordinates": cell.text,
                "mean": cell.mean,
                "low": low,
                "high": high,
                "published": cell.published,
            }
        )
    ordered = [cell for _, cell in by_place]
    return Curve(ordered, pd.DataFrame(numbers), look)


def _draw_curves(axis: Axes, points: Points, curves: Sequence[Curve]) -> None:
    """Draw lines, with their bands and their controls below them, and set the axis y."""
    for kind in LEVELS:
        _draw_controls(axis, points, kind, curves)
    for curve in curves:
        _draw_line(axis, points, curve)
    of_lines = tuple(axis.dataLim.intervaly)  # which the bands widen
    for curve in curves:
        banded = curve.numbers[list(map(_is_banded, curve.cells))]
        axis.fill_between(
            banded["x"],
            banded["low"],
            banded["high"],
            color=curve.look["color"],
            alpha=0.18,
            linewidth=0,
        )
    of_all = axis.dataLim.intervaly
    _set_y(axis, curves[0].cells[0].measure, of_lines, of_all)


def _draw_controls(axis: Axes, points: Points, kind: str, curves: Sequence[Curve]) -> None:
    """A control of each line; lines that share one have it once, in grey if it belongs to all."""
    levels = {}
    for curve in reversed(curves):
        controls = [points.control(kind, cell) for cell in curve.cells]
        level = _curve(controls, list(curve.numbers["x"]), curve.look)
        names = tuple(level.numbers["coordinates"])
        levels[names] = level
    for names, level in levels.items():
        measured = level.numbers.dropna(subset="mean")
        look: Look = {
            "color": style.GREY if len(levels) == 1 else level.look["color"],
            "linestyle": LEVELS[kind],
            "linewidth": 1.1,
            "zorder": 1.5,
        }
        if len(set(names)) > 1:
            axis.plot(measured["x"], measured["mean"], **look)
        elif len(measured):  # one number
            axis.axhline(measured["mean"].iloc[0], **look)


def _draw_line(axis: Axes, points: Points, curve: Curve) -> None:
    """Means, single runs if they have no band, and published numbers."""
    colour = curve.look["color"]
    measured = curve.numbers.dropna(subset="mean")
    axis.plot(
        measured["x"],
        measured["mean"],
        markevery=max(1, len(measured) // 8),
        zorder=3,
        **curve.look,
    )
    several = [cell for cell in curve.cells if cell.count("n") > 1]
    if not all(map(_is_banded, several)):
        runs = points.table("measurements").dropna(subset="value")
        runs = runs.merge(measured[["x", "coordinates"]], on="coordinates")
        for _, run in runs.sort_values("x").groupby("seed"):
            axis.plot(
                run["x"],
                run["value"],
                color=colour,
                linewidth=0.6,
                alpha=0.7,
                zorder=2,
            )
    published = curve.numbers.dropna(subset="published")
    axis.plot(
        published["x"],
        published["published"],
        marker=curve.look["marker"],
        markeredgecolor=colour,
        zorder=4,
        **PUBLISHED,
    )


def _set_y(
    axis: Axes, measure: Measure, of_lines: Sequence[float], of_all: Sequence[float]
) -> None:
    """The axis y: logarithmic if the lines spread far. Wide bands are cut off, because they hide the lines."""
    low, high = of_lines
    if _is_open(measure) and low > 0 and high / low >= LOG_RANGE:
        axis.set_yscale("log")
        style.log_ticks(axis.yaxis)
        axis.set_ylim(low / 1.3, high * 1.3)
        return
    lowest, highest = of_all
    room = 0.5 * (high - low) or 1.0
    margin = 0.06 * (high - low) or 0.5
    bottom = max(lowest, low - room)
    top = min(highest, high + room)
    axis.set_ylim(bottom - margin, top + margin)


def _share_y(axes: Sequence[Axes]) -> None:
    """Give panels of one measure on one dataset the same ends of the axis y, unless some are logarithmic."""
    if len({axis.get_yscale() for axis in axes}) > 1:
        return
    ends = list(chain.from_iterable(axis.get_ylim() for axis in axes))
    for axis in axes:
        axis.set_ylim(min(ends), max(ends))


def _across(axis: Axes, x: Ticks, inches: float) -> Sequence[float]:
    """The axis x, the same in every panel: names, or numbers, each with a tick if it has room; all places."""
    if not x.places:
        panels.name_ticks(axis, x.names, inches)
        axis.set_xlim(-0.4, len(x.names) - 0.6)
        return range(len(x.names))
    numbers = np.sort(x.places)
    steps = np.diff(x.places).round(9)
    is_even = len(steps) > 1 and len(set(steps)) == 1
    is_logarithmic = panels.logarithmic(x.places) and not is_even
    at = np.log(numbers) if is_logarithmic else numbers
    first, last = at[0], at[-1]
    margin = 0.04 * (last - first) or 0.5
    ends = np.array([first - margin, last + margin])
    if is_logarithmic:
        axis.set_xscale("log")
        ends = np.exp(ends)
    axis.set_xlim(*ends)
    if len(numbers) <= MOST_TICKS:
        shares = (at - first) / (last - first or 1.0)
        labels = list(map(words.short, numbers))
        with_room = _with_room(shares * (inches - BESIDE), labels)
        axis.set_xticks(numbers[with_room])
    else:
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    in_print = FuncFormatter(lambda value, _: words.short(normal(value)))
    axis.xaxis.set_major_formatter(in_print)
    axis.xaxis.set_minor_locator(NullLocator())
    return x.places


def _with_room(places: np.ndarray[Any, Any], labels: Sequence[str]) -> list[int]:
    """Which ticks of an axis get a label, so that none touches another: all, every second, or fewer."""
    halves = np.array([DIGIT * len(label) / 2 for label in labels])
    begins, ends = places - halves, places + halves
    for step in range(1, len(labels)):
        gaps = begins[step::step] - ends[:-step:step]
        if gaps.min() >= GAP:
            return list(range(0, len(labels), step))
    return [0]
