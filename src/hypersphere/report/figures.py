"""What all figures share: the frame, the panels with their axes, and files that have the same bytes each time."""

import io
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import Measure
from hypersphere.files import replacing, write_text
from hypersphere.report import notes, style, words
from hypersphere.report.artifact import Point, Points

WIDTH = 7.2
"""Inches: the text width of a page."""
TITLE = FontProperties(family=style.FONT, size=12, weight="bold")
SUBTITLE = FontProperties(family=style.FONT, size=9.5)
SMALL = FontProperties(family=style.FONT, size=9)
"""The looks of a title, of a subtitle and of the small lines below."""
DECADE = 10.0
"""An axis is logarithmic if its largest number is more than so many times its smallest."""
NARROWER = 0.96
"""A line by its outlines, as a share of the line on a grid of pixels."""
PER_INCH = 13.5
"""Characters of a tick's label per inch."""
LETTER = 0.073
"""Inches: the width of a letter in a legend."""
ROUND_PANELS = 0.09
"""Inches at the left and the right of a panel: half of the label of its last tick."""
_HASHED = re.compile(r"\b([a-zA-Z])[0-9a-f]{10}\b")
"""Names that matplotlib gives to the parts of a drawing."""
_TAG = re.compile(r"<[^>]+>")
_LONG = re.compile(r"-?\d+\.\d{4,}(?![\w.])")
"""Coordinates."""
_PLACES = 4
"""Decimals of a position, in shares of the figure: at 7.2 inches and 200 dpi, 1e-4 is a seventh of a pixel."""
_FORMULAS = MathTextParser("path")


class Frame(NamedTuple):
    """What stands around a drawing."""

    title: str
    """The finding, or the subject, in plain words."""
    subtitle: str
    """What is measured."""
    small: str
    """Scale, n, device and protocol: for a reader who has the file alone."""


def framed(frame: Frame, width: float, height: float) -> tuple[Figure, SubFigure]:
    """A figure with title and subtitle above and a small line below, and the part between them.

    The part, ``width`` by ``height`` inches, is a subfigure, so that a legend outside of the axes covers nothing.
    """
    title, subtitle, below = (
        _in_lines(text, font, width - 0.2)
        for text, font in zip(frame, (TITLE, SUBTITLE, SMALL), strict=True)
    )
    top, bottom = 0.1 + 0.19 * len(title) + 0.165 * len(subtitle), 0.1 + 0.155 * len(below)
    full_height = height + top + bottom
    figure = Figure(
        figsize=(width, full_height), layout=ConstrainedLayoutEngine(w_pad=ROUND_PANELS)
    )
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    part = figure.add_subfigure(grid[1, 0])
    left = 0.1 / width
    look: dict[str, Any] = {"ha": "left", "va": "top", "linespacing": 1.1}
    figure.text(left, 1 - 0.05 / full_height, "\n".join(title), fontproperties=TITLE, **look)
    under = 1 - (0.07 + 0.19 * len(title)) / full_height
    figure.text(left, under, "\n".join(subtitle), fontproperties=SUBTITLE, color="#333333", **look)
    look = {"va": "bottom", "fontproperties": SMALL, "color": "#555555", "linespacing": 1.15}
    figure.text(left, 0.04 / full_height, "\n".join(below), **look)
    return figure, part


def _in_lines(text: str, font: FontProperties, inches: float) -> list[str]:
    """The text in lines of at most that width."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        points, _, _ = text_to_path.get_text_width_height_descent(longer, font, ismath=False)
        if lines[-1] and points > NARROWER * 72 * inches:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


Place = tuple[int, int]
"""Row and column of a panel."""


def arrange(
    points: Sequence[dict[str, Scalar]], most: int
) -> tuple[dict[Place, dict[str, Scalar]], Place]:
    """The place of each panel, and the number of their rows and columns.

    A row for each measure if both measures and all else vary; otherwise rows of at most ``most`` panels.
    """
    of_measure: dict[Any, list[dict[str, Scalar]]] = {}
    for point in points:
        of_measure.setdefault(point.get("measure"), []).append(point)
    rows = list(of_measure.values())
    if len(rows) == 1 or not 1 < max(map(len, rows)) <= most + 1:
        wide = min(most, len(points)) if len(points) != most + 1 else -(-len(points) // 2)
        rows = [list(points[at : at + wide]) for at in range(0, len(points), wide)]
    placed = {}
    for down, row in enumerate(rows):
        for right, point in enumerate(row):
            placed[down, right] = point
    return placed, (len(rows), max(map(len, rows)))


def drawing(
    points: Points,
    placed: Mapping[Place, Coordinates],
    subtitle: str,
    height: float,
    inches: float,
    legend: Mapping[str, Artist] | None = None,
    of_panels: Sequence[str] = ("panels", "rows"),
    **grid: Any,
) -> tuple[Figure, SubFigure, dict[Place, Axes]]:
    """A figure made from runs, the part inside its frame, and axes for every panel, of ``inches``.

    A legend above them has a height of its own. A panel's heading is what tells it from the others on the axes
    ``of_panels`` (without the measure), unless the panel above has the same.
    """
    longest = max(map(len, legend or {}), default=0)
    columns = max(1, min(len(legend or {}), int(WIDTH / (0.6 + LETTER * longest))))
    frame = Frame(points.artifact.title, subtitle, notes.small(points))
    figure, part = framed(frame, WIDTH, height + 0.19 * -(-len(legend or {}) // columns))
    if legend:
        part.legend(
            legend.values(),
            legend.keys(),
            loc="outside upper left",
            ncols=columns,
            handlelength=2.6,
        )
    rows, across = zip(*placed, strict=True)
    axes = part.subplots(1 + max(rows), 1 + max(across), squeeze=False, gridspec_kw=grid)
    varying = chain.from_iterable(words.varying(points.axis(axis)) for axis in of_panels)
    keys = [key for key in varying if key != "measure"]
    headings = {place: points.called(point, keys) for place, point in placed.items()}
    for (down, right), axis in np.ndenumerate(axes):
        heading = headings.get((down, right))
        axis.set_visible(heading is not None)  # there may be more places than panels
        if heading and heading != headings.get((down - 1, right)):
            axis.set_title(textwrap.fill(heading, max(12, int(13 * inches))), loc="left")
    part.align_ylabels(list(axes[:, 0]))
    return figure, part, {place: axes[place] for place in placed}


def logarithmic(values: Sequence[float]) -> bool:
    """Whether numbers are positive and spread over more than a decade."""
    return min(values) > 0 and max(values) / min(values) > DECADE


def log_ticks(axis: Axis) -> None:
    """Ticks at 1, 2 and 5 of each decade of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def wrapped(names: Sequence[str], inches: float) -> tuple[list[str], bool]:
    """The names below an axis of that width in lines, and whether they must slant, which takes height."""
    room = max(1, int(PER_INCH * inches / max(1, len(names))) - 1)
    lines = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    slant = any(len(each) > 3 or max(map(len, each), default=0) > room for each in lines)
    if slant:
        lines = [textwrap.wrap(name, 30) for name in names]
    return list(map("\n".join, lines)), slant


def folded(label: str, inches: float) -> str:
    """The label of an axis of that length, in lines that are no longer."""
    return textwrap.fill(label, max(18, int(PER_INCH * inches)))


def name_ticks(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Label the places ``first``, ``first + 1``, … of a horizontal axis; slanted if labels would overlap."""
    labels, slant = wrapped(names, inches)
    axis.set_xticks([first + at for at in range(len(names))], labels)
    axis.tick_params(axis="x", rotation=35 if slant else 0)
    for label in axis.get_xticklabels():
        label.set(ha="right" if slant else "center", rotation_mode="anchor" if slant else "default")
        label.set_linespacing(1.0)


def ticks(points: Points, axis: str) -> tuple[list[float], list[str], str]:
    """The places, names and label of an axis: ``epoch (as published; ours: 2 to 16)``. It has the values that were run.

    Numbers stand alone, because the axis says what they are. An axis of names has neither places nor a label.
    """
    every = points.measured(axis)
    keys = words.varying(every)
    values = [point[keys[0]] for point in every] if len(keys) == 1 else []
    places = [
        float(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if not places or len(places) < len(every):
        return [], [points.named(point, axis) for point in every], ""
    here = points.here(keys[0], every)
    label = words.key(points.paper, keys[0]) + (f" (as published; ours: {here})" if here else "")
    return places, list(map(words.short, values)), label


def unrun(points: Points, *axes: str) -> str:
    """``3 of 9 published values of epoch were run``: of each axis with values that were not; empty without any."""
    said = []
    for axis in axes:
        published, run = points.axis(axis), points.measured(axis)
        if len(run) < len(published):
            name = " and ".join(words.key(points.paper, key) for key in words.varying(published))
            said.append(f"{len(run)} of {len(published)} published values of {name} were run")
    return "; ".join(said)


def below_pixels(points: Points) -> str:
    """``Raw pixels are better than every encoder``, if a measure says so; else empty."""
    pixels: dict[Measure, list[float]] = {}
    encoders: dict[Measure, list[float]] = {}
    for one in points.controls:
        if one.coordinates["variant"] == "pixels":
            pixels.setdefault(one.measure, []).append(one.mean)
    for one in points.every:
        if math.isfinite(one.mean):
            encoders.setdefault(one.measure, []).append(one.mean)
    for measure, levels in pixels.items():
        found = encoders.get(measure, [])
        if found and (measure.better == "higher" and max(found) < min(levels)):
            return "Raw pixels are better than every encoder"
        if found and (measure.better == "lower" and min(found) > max(levels)):
            return "Raw pixels are better than every encoder"
    return ""


def lost(cells: Iterable[Point]) -> str:
    """``diverged or undefined``: why runs of some cells have no value; empty where every run has one."""
    return " or ".join(dict.fromkeys(chain.from_iterable(cell.lost for cell in cells)))


def blank(axis: Axes, cells: Iterable[Point]) -> None:
    """Mark a panel without any number as diverged or undefined, or as not run."""
    said = lost(cells) or words.NOT_RUN
    axis.text(0.5, 0.5, said, transform=axis.transAxes, ha="center", va="center", color=style.GREY)
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)


def _take_as_words(figure: Figure) -> None:
    """Have text between dollar signs that is no formula drawn as it is: a name of a document's own may hold any."""
    for axis in figure.findobj(Axis):
        axis.get_ticklabels(which="both")  # it names its ticks when it is asked for them
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if not all(map(_is_drawable, text.get_text().split("\n"))):
            text.set_parse_math(False)


def _is_drawable(line: str) -> bool:
    """Whether a line of text is no formula, or one that matplotlib can parse."""
    try:
        if is_math_text(line):
            _FORMULAS.parse(line)
    except ValueError:
        return False
    return True


def _tidied(tag: str, names: dict[str, str]) -> str:
    """A tag of an svg with short numbers, with names by their order in place of hashes, and with the page's fonts.

    The characters of a formula keep the font that they were set in, because each has its place.
    """
    tag = _HASHED.sub(lambda name: names.setdefault(name[0], f"{name[1]}{len(names)}"), tag)
    tag = _LONG.sub(lambda number: f"{float(number[0]) + 0.0:.3f}", tag)
    fonts = f"'{style.FONT}', sans-serif" if tag.startswith("<tspan") else style.PAGE_FONTS
    return tag.replace(f"'{style.FONT}'", fonts)


def save(figure: Figure, outputs: Sequence[Path], numbers: str) -> None:
    """Write a figure's files, the same each time (without date or release): svg, png, and its numbers as csv.

    The layout's solver adds numbers in an order that depends on memory addresses, so its last bits differ between two
    runs. They move edges by less than a pixel, which changes pixels of the png. So the figure is laid out once, and the
    position of everything is rounded and kept. Matplotlib prints more digits than can be seen, and names clipping areas
    by a hash of all digits: in the svg, numbers are rounded to a thousandth of a point, and areas numbered in order.
    """
    figure.set_dpi(style.PNG_DPI)
    _take_as_words(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(_PLACES))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(_PLACES)))
    names: dict[str, str] = {}
    for path in outputs:
        if path.suffix == ".svg":
            buffer = io.StringIO()
            figure.savefig(
                buffer, format="svg", dpi=style.PNG_DPI, metadata={"Date": None, "Creator": None}
            )
            write_text(path, _TAG.sub(lambda tag: _tidied(tag[0], names), buffer.getvalue()))
        elif path.suffix == ".csv":
            write_text(path, numbers)
        else:
            with replacing(path) as temporary:
                figure.savefig(
                    temporary, format="png", dpi=style.PNG_DPI, metadata={"Software": None}
                )
