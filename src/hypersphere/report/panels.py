"""Place, heading and axes of a figure's panels."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.report import labels, style, words
from hypersphere.report.points import Points

DECADE = 10.0
"""An axis is logarithmic if its largest number is more than so many times its smallest."""
PER_INCH = 15.5
"""Characters of a tick's label per inch."""
ROOM = 0.12
"""Smallest distance between the labels of two ticks, as a share of the axis."""


class Panel(NamedTuple):
    """A panel, its place and its labels."""

    row: int
    column: int
    point: dict[str, Scalar]
    titled: bool
    """Whether it has a heading: not below a panel with the same one."""
    measured: bool
    """Whether it names its measure at the left: not beside a panel with the same one."""
    lowest: bool
    """Whether it names its horizontal axis: not above another panel."""


def arrange(points: Sequence[dict[str, Scalar]], most: int) -> list[Panel]:
    """Place measures in rows and all else in columns if both vary; otherwise fill rows of at most ``most`` panels."""
    measures = list(dict.fromkeys(point.get("measure") for point in points))
    rest = [{key: value for key, value in point.items() if key != "measure"} for point in points]
    columns = [column for at, column in enumerate(rest) if column not in rest[:at]]
    if len(measures) > 1 and 1 < len(columns) <= most + 1 and len(points) == len(measures) * len(columns):
        placed = []
        for point, column in zip(points, rest, strict=True):
            down, right = measures.index(point.get("measure")), columns.index(column)
            placed.append(Panel(down, right, point, down == 0, right == 0, down == len(measures) - 1))
        return placed
    wide = min(most, len(points)) if len(points) != most + 1 else -(-len(points) // 2)
    several = len(measures) > 1
    return [
        Panel(at // wide, at % wide, point, True, at % wide == 0 or several, at + wide >= len(points))
        for at, point in enumerate(points)
    ]


def measured(points: Points, axis: str, others: Sequence[str]) -> list[dict[str, Scalar]]:
    """The points of an axis with any number; all points if there is no number at all."""
    combinations: list[dict[str, Scalar]] = [{}]
    for other in others:
        combinations = [{**start, **point} for start in combinations for point in points.axis(other)]
    measured_points = [
        point
        for point in points.axis(axis)
        if any(not math.isnan(points.at(point, other).mean) for other in combinations)
    ]
    return measured_points or points.axis(axis)


def size(placed: Sequence[Panel]) -> tuple[int, int]:
    """The number of rows and columns of panels."""
    return 1 + max(one.row for one in placed), 1 + max(one.column for one in placed)


class Row(NamedTuple):
    """Panels that each show a piece (a bar, a violin) for every point of ``x``."""

    placed: list[Panel]
    down: int
    across: int
    inches: float
    """The width of a panel with the labels beside it."""
    slant: bool
    """Whether the names of the pieces are slanted, which takes height."""


def in_rows(points: Points, width: float, piece: float, labels_width: float) -> Row:
    """Place a panel for each combination of a point of ``panels`` and a point of ``rows``.

    Args:
        points: of the artifact.
        width: of the figure, inches.
        piece: the smallest width of a piece with its margin, inches.
        labels_width: of the labels beside a panel, inches.
    """
    rows, beside = measured(points, "rows", ("panels", "x")), measured(points, "panels", ("rows", "x"))
    combinations = [{**panel, **row} for row in rows for panel in beside]
    most = max(1, min(3, int(width / (piece * len(points.axis("x")) + labels_width))))
    across = len(beside) if len(rows) > 1 and len(beside) <= most else most
    placed = arrange(combinations, min(across, len(combinations)))
    down, across = size(placed)
    inches = width / across
    return Row(placed, down, across, inches, slanted(names(points, "x"), inches - labels_width))


def hide_unused(axes: Iterable[Iterable[Axes]], placed: Sequence[Panel]) -> None:
    """Hide the axes without a panel, in a last row that is not full."""
    used = {(one.row, one.column) for one in placed}
    for down, row in enumerate(axes):
        for right, axis in enumerate(row):
            axis.set_visible((down, right) in used)


def title(points: Points, panel: Coordinates, among: Sequence[Panel], inches: float) -> str:
    """A panel's heading: what tells it from the others (without the measure), and whether it was not run."""
    config, paper = points.context.results.config, points.context.paper
    keys = [key for key in labels.varying([one.point for one in among]) if key in panel and key != "measure"]
    text, note = labels.point(paper, panel, keys), labels.not_run(config, paper, {key: panel[key] for key in keys})
    return "\n".join(line for part in (text, note) for line in textwrap.wrap(part, max(12, int(13.5 * inches))))


def numeric(values: Sequence[Scalar]) -> bool:
    """Whether all values are numbers."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def logarithmic(values: Sequence[float]) -> bool:
    """Whether numbers are positive and spread over more than a decade."""
    return min(values) > 0 and max(values) / min(values) > DECADE


def thinned(places: Mapping[float, float]) -> list[float]:
    """The ticks that get a label, so that no two labels overlap; ``places`` are on an axis from 0 to 1."""
    labelled: list[float] = []
    for tick in sorted(places, key=lambda place: places[place]):
        if not labelled or places[tick] - places[labelled[-1]] >= ROOM:
            labelled.append(tick)
    return labelled


def slanted(names: Sequence[str], inches: float) -> bool:
    """Whether names below an axis of that width must slant, which takes height."""
    wrapped = [_wrapped(names, name, inches) for name in names]
    return any(len(lines) > 3 or max(map(len, lines), default=0) > _room(names, inches) for lines in wrapped)


def _room(names: Sequence[str], inches: float) -> int:
    """Characters that fit below each place."""
    return max(1, int(PER_INCH * inches / max(1, len(names))) - 1)


def _wrapped(names: Sequence[str], name: str, inches: float) -> list[str]:
    return textwrap.wrap(name, _room(names, inches), break_long_words=False)


def name_ticks(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Label the places ``first``, ``first + 1``, … of a horizontal axis; slanted if labels would overlap.

    Args:
        axis: the axes to label.
        names: one for each place.
        inches: width of the panel.
        first: the first place.
    """
    slant = slanted(names, inches)
    texts = ["\n".join(textwrap.wrap(name, 30) if slant else _wrapped(names, name, inches)) for name in names]
    axis.set_xticks([first + at for at in range(len(names))], texts)
    axis.tick_params(axis="x", rotation=35 if slant else 0)
    for label in axis.get_xticklabels():
        label.set(ha="right" if slant else "center", rotation_mode="anchor" if slant else "default")
        label.set_linespacing(1.0)


def names(points: Points, axis: str) -> list[str]:
    """The name of each point of an axis. A number stands alone, because the axis says what it is."""
    config, paper = points.context.results.config, points.context.paper
    keys = labels.varying(points.axis(axis))
    if len(keys) == 1 and numeric([point[keys[0]] for point in points.axis(axis)]):
        return [labels.number(point[keys[0]]) for point in points.axis(axis)]
    return [labels.drawn(config, paper, point, keys) for point in points.axis(axis)]


def axis_label(points: Points, axis: str) -> str:
    """The label of an axis of numbers: ``epoch``; empty for an axis of names."""
    keys = labels.varying(points.axis(axis))
    if len(keys) == 1 and numeric([point[keys[0]] for point in points.axis(axis)]):
        return labels.key(points.context.paper, keys[0])
    return ""


def blank(axis: Axes) -> None:
    """Mark a panel without any number as not run."""
    axis.text(0.5, 0.5, words.NOT_RUN, transform=axis.transAxes, ha="center", va="center", color=style.GREY)
    axis.set_yticks([])
    axis.grid(visible=False)
