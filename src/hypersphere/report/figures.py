"""What all figures share: the frame, the panels with their axes, and files that have the same bytes each time."""

import io
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.files import replacing, write_text
from hypersphere.report import notes, style, words
from hypersphere.report.artifact import Point, Points

WIDTH = 7.2
"""Inches: the text width of a page."""
SMALL_PER_INCH, SUBTITLE_PER_INCH, TITLE_PER_INCH = 21, 16.5, 12.5
"""Characters of the small line, of a subtitle and of a title that fit an inch."""
DECADE = 10.0
"""An axis is logarithmic if its largest number is more than so many times its smallest."""
PER_INCH = 15.5
"""Characters of a tick's label per inch."""
_HASHED = re.compile(r"\b([a-zA-Z])[0-9a-f]{10}\b")
"""Names that matplotlib gives to the parts of a drawing."""
_LONG = re.compile(r"scale\([^)]*\)|-?\d+\.\d{4,}(?![\w.])")
"""Coordinates, and the scales of glyphs. Scales are not rounded."""
_PLACES = 4
"""Decimals of a position, in shares of the figure: at 7.2 inches and 200 dpi, 1e-4 is a seventh of a pixel."""


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
        textwrap.wrap(text, int(per_inch * (width - 0.2)))
        for text, per_inch in zip(frame, (TITLE_PER_INCH, SUBTITLE_PER_INCH, SMALL_PER_INCH), strict=True)
    )
    top, bottom = 0.1 + 0.19 * len(title) + 0.155 * len(subtitle), 0.08 + 0.12 * len(below)
    full_height = height + top + bottom
    figure = Figure(figsize=(width, full_height), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    part = figure.add_subfigure(grid[1, 0])
    left = 0.1 / width
    look: dict[str, Any] = {"ha": "left", "va": "top", "linespacing": 1.1}
    figure.text(left, 1 - 0.05 / full_height, "\n".join(title), fontsize=12, fontweight="bold", **look)
    under = 1 - (0.07 + 0.19 * len(title)) / full_height
    figure.text(left, under, "\n".join(subtitle), fontsize=9.5, color="#444444", **look)
    look = {"va": "bottom", "fontsize": 7.2, "color": "#666666", "linespacing": 1.15}
    figure.text(left, 0.04 / full_height, "\n".join(below), **look)
    return figure, part


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
    with_numbers = [
        point
        for point in points.axis(axis)
        if any(not math.isnan(points.at(point, other).mean) for other in combinations)
    ]
    return with_numbers or points.axis(axis)


def size(placed: Sequence[Panel]) -> tuple[int, int]:
    """The number of rows and columns of panels."""
    return 1 + max(one.row for one in placed), 1 + max(one.column for one in placed)


class Drawing(NamedTuple):
    """A figure made from runs: the part inside its frame, and its panels with their axes."""

    figure: Figure
    part: SubFigure
    panels: list[tuple[Panel, Axes]]

    def align(self) -> Figure:
        """The figure, with the labels of its first column of panels below each other."""
        self.part.align_ylabels([axis for panel, axis in self.panels if panel.column == 0])
        return self.figure


def of_points(points: Points, subtitle: str, height: float) -> tuple[Figure, SubFigure]:
    """The frame of a figure made from runs: its subject as title, and its conditions as the small line."""
    return framed(Frame(points.artifact.title, subtitle, notes.small(points)), WIDTH, height)


def drawing(
    points: Points, placed: Sequence[Panel], subtitle: str, height: float, inches: float, **grid: Any
) -> Drawing:
    """Axes for every panel under its heading, of which ``inches`` have room; places without a panel stay empty."""
    figure, part = of_points(points, subtitle, height)
    axes = part.subplots(*size(placed), squeeze=False, gridspec_kw=grid)
    for axis in axes.flat:
        axis.set_visible(False)
    panels = [(panel, axes[panel.row][panel.column]) for panel in placed]
    keys = [key for key in words.varying([panel.point for panel in placed]) if key != "measure"]
    for panel, axis in panels:
        axis.set_visible(True)
        if panel.titled:  # by what tells it from the others (without the measure), and whether it was not run
            given = {key: panel.point[key] for key in keys if key in panel.point}
            said = words.point(points.paper, given, given), words.not_run(points.config, points.paper, given)
            lines = [line for part in said for line in textwrap.wrap(part, max(12, int(13.5 * inches)))]
            axis.set_title("\n".join(lines), loc="left")
    return Drawing(figure, part, panels)


class Pieces(NamedTuple):
    """The size of panels that show a piece (a bar, a violin) for every point of ``x``, in inches."""

    height: float
    width: float
    """The smallest width of a piece with its margin."""
    beside: float
    """The width of the labels beside a panel."""


def in_pieces(points: Points, subtitle: str, pieces: Pieces, draw: Callable[[Axes, list[Point]], bool]) -> Figure:
    """A panel of pieces for each combination of a point of ``panels`` and a point of ``rows``.

    ``draw`` draws the pieces of a panel's cells, and returns whether there is any.
    """
    rows, columns = measured(points, "rows", ("panels", "x")), measured(points, "panels", ("rows", "x"))
    combinations = [{**column, **row} for row in rows for column in columns]
    most = max(1, min(3, int(WIDTH / (pieces.width * len(points.axis("x")) + pieces.beside))))
    wide = len(columns) if len(rows) > 1 and len(columns) <= most else most
    placed = arrange(combinations, min(wide, len(combinations)))
    down, across = size(placed)
    inches, labels = WIDTH / across, names(points, "x")
    slant = slanted(labels, inches - pieces.beside)
    height = pieces.height * down + (1.1 if slant else 0.5)
    made = drawing(points, placed, subtitle, height, inches - 0.4)
    for panel, axis in made.panels:
        cells = [points.at(panel.point, x) for x in points.axis("x")]
        if draw(axis, cells):
            name_ticks(axis, labels, inches - pieces.beside)
            axis.set_xlim(-0.6, len(cells) - 0.4)
        else:
            blank(axis)
        axis.set_ylabel(cells[0].label if panel.measured else "")
        axis.set_xlabel(axis_label(points, "x") if panel.lowest else "")
        axis.tick_params(axis="x", labelbottom=panel.lowest or not slant)
    return made.align()


def logarithmic(values: Sequence[float]) -> bool:
    """Whether numbers are positive and spread over more than a decade."""
    return min(values) > 0 and max(values) / min(values) > DECADE


def log_ticks(axis: Axes) -> None:
    """Ticks at 1, 2 and 5 of each decade of a logarithmic axis y."""
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _wrapped(names: Sequence[str], inches: float) -> tuple[list[list[str]], int]:
    """The names below an axis of that width in lines, and how many characters of a line fit below each place."""
    room = max(1, int(PER_INCH * inches / max(1, len(names))) - 1)
    return [textwrap.wrap(name, room, break_long_words=False) for name in names], room


def slanted(names: Sequence[str], inches: float) -> bool:
    """Whether names below an axis of that width must slant, which takes height."""
    wrapped, room = _wrapped(names, inches)
    return any(len(lines) > 3 or max(map(len, lines), default=0) > room for lines in wrapped)


def name_ticks(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Label the places ``first``, ``first + 1``, … of a horizontal axis; slanted if labels would overlap."""
    slant = slanted(names, inches)
    lines = [textwrap.wrap(name, 30) for name in names] if slant else _wrapped(names, inches)[0]
    axis.set_xticks([first + at for at in range(len(names))], list(map("\n".join, lines)))
    axis.tick_params(axis="x", rotation=35 if slant else 0)
    for label in axis.get_xticklabels():
        label.set(ha="right" if slant else "center", rotation_mode="anchor" if slant else "default")
        label.set_linespacing(1.0)


def numbers(points: Points, axis: str) -> list[float]:
    """The places on an axis of numbers; none for an axis of names."""
    keys = words.varying(points.axis(axis))
    values = [point[keys[0]] for point in points.axis(axis)] if len(keys) == 1 else []
    known = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return known if len(known) == len(values) else []


def names(points: Points, axis: str) -> list[str]:
    """The name of each point of an axis, and whether it was not run; the caption lists the stand-ins for datasets.

    A number stands alone, because the axis says what it is.
    """
    if found := numbers(points, axis):
        return list(map(words.short, found))
    return [name_of(points, point, words.varying(points.axis(axis))) for point in points.axis(axis)]


def name_of(points: Points, point: Coordinates, keys: Iterable[str]) -> str:
    """``CIFAR-10``, ``Photos (not run at this scale)``: a point's keys."""
    chosen = {name: point[name] for name in keys if name in point}
    note = words.not_run(points.config, points.paper, chosen)
    return words.point(points.paper, chosen, chosen) + (f" ({note})" if note else "")


def axis_label(points: Points, axis: str) -> str:
    """The label of an axis of numbers: ``epoch``; empty for an axis of names."""
    return words.key(points.paper, words.varying(points.axis(axis))[0]) if numbers(points, axis) else ""


def blank(axis: Axes) -> None:
    """Mark a panel without any number as not run."""
    axis.text(0.5, 0.5, words.NOT_RUN, transform=axis.transAxes, ha="center", va="center", color=style.GREY)
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)


def as_svg(figure: Figure) -> str:
    """The drawing as text, the same each time.

    Matplotlib prints more digits than can be seen, and names clipping areas by a hash of all digits. Here numbers are
    rounded to a thousandth of a point, and clipping areas are numbered in order.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=style.PNG_DPI, metadata=style.SVG_METADATA)
    names: dict[str, str] = {}
    numbered = _HASHED.sub(lambda name: names.setdefault(name[0], f"{name[1]}{len(names)}"), buffer.getvalue())
    return _LONG.sub(lambda text: text[0] if text[0].startswith("scale") else f"{float(text[0]) + 0.0:.3f}", numbered)


def freeze(figure: Figure) -> None:
    """Lay the figure out once, round the position of everything, and keep it there.

    The layout's solver adds numbers in an order that depends on memory addresses, so its last bits differ between two
    runs. They move edges by less than a pixel, which changes pixels of the png.
    """
    figure.set_dpi(style.PNG_DPI)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        _round(part.bbox_relative)
    for axes in figure.axes:
        position = axes.get_position(original=True).frozen()
        _round(position)
        axes.set_position(position)


def _round(box: Bbox) -> None:
    (x0, y0), (x1, y1) = box.p0, box.p1
    box.p0, box.p1 = (round(x0, _PLACES), round(y0, _PLACES)), (round(x1, _PLACES), round(y1, _PLACES))


def save(figure: Figure, outputs: Sequence[Path], numbers: str) -> None:
    """Write a figure's files: the drawing as svg and png, and as csv the numbers that it was drawn from."""
    freeze(figure)
    for path in outputs:
        if path.suffix == ".svg":
            write_text(path, as_svg(figure))
        elif path.suffix == ".csv":
            write_text(path, numbers)
        else:
            with replacing(path) as temporary:
                figure.savefig(temporary, format="png", dpi=style.PNG_DPI, metadata=style.PNG_METADATA)
