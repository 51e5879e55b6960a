"""Where the panels of a figure stand, what is written over them, and which axes they can do with."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from hypersphere.declared.coordinates import Coordinates, Scalar
from hypersphere.present import labels, style, words
from hypersphere.present.points import Points

DECADE = 10.0
"""Largest over smallest number from which an axis is logarithmic."""
PER_INCH = 15.5
"""Characters of a tick's label that fit an inch."""
ROOM = 0.12
"""Of an axis' length: how far apart the labels of two ticks are at least."""


class Panel(NamedTuple):
    """A panel, its place, and what is written around it."""

    row: int
    column: int
    point: dict[str, Scalar]
    titled: bool
    """Whether it needs a heading: not below a panel of the same one."""
    measured: bool
    """Whether it says its measure at the left: not beside a panel of the same one."""
    lowest: bool
    """Whether it says what goes across: not above another panel."""


def arrange(points: Sequence[dict[str, Scalar]], most: int) -> list[Panel]:
    """Measures down and all else across where both vary; else line by line, at most ``most`` in one."""
    measures = list(dict.fromkeys(point.get("measure") for point in points))
    others = [{key: value for key, value in point.items() if key != "measure"} for point in points]
    across = [other for at, other in enumerate(others) if other not in others[:at]]
    if len(measures) > 1 and 1 < len(across) <= most + 1 and len(points) == len(measures) * len(across):
        found = []
        for point, other in zip(points, others, strict=True):
            down, right = measures.index(point.get("measure")), across.index(other)
            found.append(Panel(down, right, point, down == 0, right == 0, down == len(measures) - 1))
        return found
    wide = min(most, len(points)) if len(points) != most + 1 else -(-len(points) // 2)
    several = len(measures) > 1
    return [
        Panel(at // wide, at % wide, point, True, at % wide == 0 or several, at + wide >= len(points))
        for at, point in enumerate(points)
    ]


def measured(points: Points, axis: str, others: Sequence[str]) -> list[dict[str, Scalar]]:
    """The points of an axis at which there is any number; all where there is none at all."""
    rest: list[dict[str, Scalar]] = [{}]
    for other in others:
        rest = [{**one, **point} for one in rest for point in points.axis(other)]
    known = [
        point for point in points.axis(axis) if any(not math.isnan(points.at(point, other).mean) for other in rest)
    ]
    return known or points.axis(axis)


def size(placed: Sequence[Panel]) -> tuple[int, int]:
    """How many panels there are down and across."""
    return 1 + max(one.row for one in placed), 1 + max(one.column for one in placed)


def hide_unused(axes: Iterable[Iterable[Axes]], placed: Sequence[Panel]) -> None:
    """Leave no empty axes where the last row is not full."""
    used = {(one.row, one.column) for one in placed}
    for down, row in enumerate(axes):
        for right, axis in enumerate(row):
            axis.set_visible((down, right) in used)


def title(points: Points, panel: Coordinates, among: Sequence[Panel], inches: float) -> str:
    """What is said over a panel: what tells it from the others, but the measure, and what it was measured on."""
    config, paper = points.context.results.config, points.context.paper
    keys = [key for key in labels.varying([one.point for one in among]) if key in panel and key != "measure"]
    text, note = labels.point(paper, panel, keys), labels.stand_in(config, {key: panel[key] for key in keys})
    return "\n".join(line for part in (text, note) for line in textwrap.wrap(part, max(12, int(13.5 * inches))))


def numeric(values: Sequence[Scalar]) -> bool:
    """Whether all are numbers, so that an axis can be one of numbers."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def logarithmic(values: Sequence[float]) -> bool:
    """Whether numbers are spread over more than a decade, and have logarithms."""
    return min(values) > 0 and max(values) / min(values) > DECADE


def thinned(places: Mapping[float, float]) -> list[float]:
    """The ticks, by their place on an axis from 0 to 1, that are labelled so that no label is upon another."""
    kept: list[float] = []
    for tick in sorted(places, key=lambda one: places[one]):
        if not kept or places[tick] - places[kept[-1]] >= ROOM:
            kept.append(tick)
    return kept


def slanted(names: Sequence[str], inches: float) -> bool:
    """Whether names below an axis of that width have to slant, which takes height."""
    wrapped = [_wrapped(names, name, inches) for name in names]
    return any(len(lines) > 3 or max(map(len, lines), default=0) > _room(names, inches) for lines in wrapped)


def _room(names: Sequence[str], inches: float) -> int:
    """Characters below each place."""
    return max(1, int(PER_INCH * inches / max(1, len(names))) - 1)


def _wrapped(names: Sequence[str], name: str, inches: float) -> list[str]:
    return textwrap.wrap(name, _room(names, inches), break_long_words=False)


def name_ticks(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Label the places ``first``, ``first + 1``, … across, slanted where labels would be upon each other.

    Args:
        axis: whose horizontal axis it is.
        names: of the places.
        inches: width of the panel.
        first: where the first place is.
    """
    slant = slanted(names, inches)
    texts = ["\n".join(textwrap.wrap(name, 30) if slant else _wrapped(names, name, inches)) for name in names]
    axis.set_xticks([first + at for at in range(len(names))], texts)
    axis.tick_params(axis="x", rotation=35 if slant else 0)
    for label in axis.get_xticklabels():
        label.set(ha="right" if slant else "center", rotation_mode="anchor" if slant else "default")
        label.set_linespacing(1.0)


def names(points: Points, axis: str) -> list[str]:
    """How each point of an axis is called beside or below it; numbers stand alone, as the axis says what they are."""
    config, paper = points.context.results.config, points.context.paper
    keys = labels.varying(points.axis(axis))
    if len(keys) == 1 and numeric([point[keys[0]] for point in points.axis(axis)]):
        return [labels.number(point[keys[0]]) for point in points.axis(axis)]
    return [labels.standing(config, paper, point, keys) for point in points.axis(axis)]


def axis_label(points: Points, axis: str) -> str:
    """What an axis shows: ``epoch``; nothing where its labels say that themselves."""
    keys = labels.varying(points.axis(axis))
    if len(keys) == 1 and numeric([point[keys[0]] for point in points.axis(axis)]):
        return labels.key(points.context.paper, keys[0])
    return ""


def blank(axis: Axes) -> None:
    """A panel without any number."""
    axis.text(0.5, 0.5, words.NOT_RUN, transform=axis.transAxes, ha="center", va="center", color=style.GREY)
    axis.set_yticks([])
    axis.grid(visible=False)
