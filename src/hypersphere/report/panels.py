"""Panels of figures that are made from runs: their places, headings, legend and ticks, and what they cannot show."""

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.report import notes, style, words
from hypersphere.report.artifact import Point, Points
from hypersphere.report.figures import WIDTH, Frame, figure_in_frame

DECADE = 10.0
"""An axis is logarithmic if its largest number is more than so many times its smallest."""
PER_INCH = 13.5
"""Characters of a tick's label per inch."""
LETTER = 0.073
"""Inches: the width of a letter in a legend."""
SIGN = {"higher": 1, "lower": -1, "neither": 0}
"""What a measure is multiplied by so that more of it is better."""

Rows = list[list[dict[str, Scalar]]]
"""The point of every panel, row by row; a row may be shorter than others."""


class Panel(NamedTuple):
    """One panel: its point and axes, and the points of its neighbours, None where there is no panel."""

    point: Coordinates
    axis: Axes
    at_left: Coordinates | None
    below: Coordinates | None


def arrange(points: Sequence[dict[str, Scalar]], most: int) -> Rows:
    """The points of panels in rows.

    A row for each measure if both measures and all else vary; otherwise rows of at most ``most`` panels.
    """
    by_measure: dict[Any, list[dict[str, Scalar]]] = defaultdict(list)
    for point in points:
        by_measure[point.get("measure")].append(point)
    rows = list(by_measure.values())
    longest = max(map(len, rows))
    if len(rows) > 1 and 1 < longest <= most + 1:
        return rows
    wide = most
    if len(points) == most + 1:
        wide = math.ceil(len(points) / 2)
    begins = range(0, len(points), wide)
    return [list(points[at : at + wide]) for at in begins]


def width(rows: Rows) -> float:
    """Inches: what each panel of the longest row has of the page's width."""
    return WIDTH / max(map(len, rows))


def frame(points: Points, subtitle: str) -> Frame:
    """What stands around an artifact's drawing: its title, the subtitle, and its conditions."""
    return Frame(points.artifact.title, subtitle, notes.small(points))


def keys(points: Points, axes: Sequence[str]) -> list[str]:
    """The coordinates that tell the points of some axes apart."""
    varying = [words.varying(points.axis(axis)) for axis in axes]
    return list(chain.from_iterable(varying))


def drawing(
    points: Points,
    rows: Rows,
    subtitle: str,
    height: float,
    inches: float,
    legend: Mapping[str, Artist] | None = None,
    of_panels: Sequence[str] = ("panels", "rows"),
    **grid: Any,
) -> tuple[Figure, SubFigure, list[Panel]]:
    """A figure made from runs, the part inside its frame, and every panel, of ``inches``, row by row.

    A legend above them has a height of its own. A panel's heading is what tells it from the others on the axes
    ``of_panels`` (without the measure), unless the panel above has the same.
    """
    legend = legend or {}
    longest = max(map(len, legend), default=0)
    columns = int(WIDTH / (0.6 + LETTER * longest))
    columns = max(1, min(len(legend), columns))
    lines = math.ceil(len(legend) / columns)
    figure, part = figure_in_frame(frame(points, subtitle), WIDTH, height + 0.19 * lines)
    if legend:
        part.legend(
            legend.values(),
            legend.keys(),
            loc="outside upper left",
            ncols=columns,
            handlelength=2.6,
        )
    across = max(map(len, rows))
    axes = part.subplots(len(rows), across, squeeze=False, gridspec_kw=grid)
    part.align_ylabels(list(axes[:, 0]))
    names = [key for key in keys(points, of_panels) if key != "measure"]
    placed: dict[tuple[int, int], Coordinates] = {}
    for down, row in enumerate(rows):
        for right, point in enumerate(row):
            placed[down, right] = point
    headings = {place: points.name_by(point, names) for place, point in placed.items()}
    drawn = []
    for (down, right), axis in np.ndenumerate(axes):
        if (down, right) not in placed:  # there may be more places than panels
            axis.set_visible(False)
            continue
        heading = headings[down, right]
        if heading and heading != headings.get((down - 1, right)):
            letters = max(12, int(13 * inches))
            axis.set_title(textwrap.fill(heading, letters), loc="left")
        at_left = placed.get((down, right - 1))
        below = placed.get((down + 1, right))
        drawn.append(Panel(placed[down, right], axis, at_left, below))
    return figure, part, drawn


def logarithmic(values: Sequence[float] | np.ndarray[Any, Any]) -> bool:
    """Whether numbers are positive and spread over more than a decade."""
    least, largest = min(values), max(values)
    return least > 0 and largest / least > DECADE


class Ticks(NamedTuple):
    """The ticks of an axis. Numbers stand alone, because the axis says what they are."""

    places: list[float]
    """Empty where the axis has names."""
    names: list[str]
    label: str
    """What the numbers are, ``epoch (as published; ours: 2 to 16)``; empty where the axis has names."""


def ticks(points: Points, axis: str) -> Ticks:
    """The ticks of an axis, at the values that were run."""
    run = points.measured_points(axis)
    key, *others = words.varying(run) or [""]
    values = [point.get(key, "") for point in run]
    if others or any(isinstance(value, str | bool) for value in values):
        names = [points.name_of(point, axis) for point in run]
        return Ticks([], names, "")
    label = words.key(points.paper, key)
    here = points.here(key, run)
    if here:
        label += f" (as published; ours: {here})"
    places = list(map(float, values))
    return Ticks(places, list(map(words.short, values)), label)


def in_lines(names: Sequence[str], inches: float) -> tuple[list[str], bool]:
    """The names below an axis of that width in lines, and whether they must slant, which takes height."""
    room = int(PER_INCH * inches / len(names)) - 1
    room = max(1, room)
    lines = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    most = max(map(len, lines))
    longest = max(map(len, chain.from_iterable(lines)), default=0)
    slant = most > 3 or longest > room
    if slant:
        lines = [textwrap.wrap(name, 30) for name in names]
    return list(map("\n".join, lines)), slant


def fold(label: str, inches: float) -> str:
    """The label of an axis of that length, in lines that are no longer."""
    return textwrap.fill(label, max(18, int(PER_INCH * inches)))


def name_ticks(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Label the places ``first``, ``first + 1``, … of a horizontal axis; slanted if labels would overlap."""
    labels, slant = in_lines(names, inches)
    axis.set_xticks(first + np.arange(len(names)), labels)
    axis.tick_params(axis="x", rotation=35 if slant else 0)
    for label in axis.get_xticklabels():
        label.set_linespacing(1.0)
        if slant:
            label.set(ha="right", rotation_mode="anchor")


def subtitle(points: Points, text: str, *axes: str) -> str:
    """The text, which values of some axes were not run, and whether raw pixels are above every encoder."""
    sentences = [text]
    unrun = []
    for axis in axes:
        run = len(points.measured_points(axis))
        published = len(points.axis(axis))
        if run < published:
            varying = words.varying(points.axis(axis))
            name = " and ".join(words.key(points.paper, key) for key in varying)
            unrun.append(f"{run} of {published} published values of {name} were run")
    if unrun:
        sentences.append("; ".join(unrun))
    if _pixels_are_better(points):
        sentences.append("Raw pixels are better than every encoder")
    return ". ".join(sentences)


def _pixels_are_better(points: Points) -> bool:
    """Whether raw pixels are better than every encoder by a measure."""
    pixels = [cell for cell in points.controls if cell.coordinates["variant"] == "pixels"]
    encoders = [cell for cell in points.every if math.isfinite(cell.mean)]
    for measure in {cell.measure for cell in pixels}:
        sign = SIGN[measure.better]
        levels = [sign * cell.mean for cell in pixels if cell.measure == measure]
        reached = [sign * cell.mean for cell in encoders if cell.measure == measure]
        if reached and max(reached) < min(levels):
            return True
    return False


def reasons(cells: Iterable[Point]) -> str:
    """``diverged or undefined``: why runs of some cells have no value; empty where every run has one."""
    lost = chain.from_iterable(cell.lost for cell in cells)
    return " or ".join(dict.fromkeys(lost))


def blank(axis: Axes, cells: Iterable[Point]) -> None:
    """Mark a panel without any number as diverged or undefined, or as not run."""
    reason = reasons(cells) or words.NOT_RUN
    axis.text(
        0.5,
        0.5,
        reason,
        transform=axis.transAxes,
        ha="center",
        va="center",
        color=style.GREY,
    )
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)
