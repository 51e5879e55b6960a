"""The frame of all figures (title, subtitle, small line), and files that have the same bytes each time."""

import io
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure, SubFigure
from matplotlib.transforms import Bbox

from hypersphere.files import replacing, write_text
from hypersphere.report import notes, style
from hypersphere.report.points import Points
from hypersphere.report.shown import Context, Shown

WIDTH = 7.2
"""Inches: the text width of a page."""
SMALL_PER_INCH, SUBTITLE_PER_INCH, TITLE_PER_INCH = 21, 16.5, 12.5
"""Characters of the small line, of a subtitle and of a title that fit an inch."""
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
    """Round the corners of a box that is given in shares of its figure."""
    (x0, y0), (x1, y1) = box.p0, box.p1
    box.p0, box.p1 = (round(x0, _PLACES), round(y0, _PLACES)), (round(x1, _PLACES), round(y1, _PLACES))


def write(context: Context, draw: Callable[[], Figure], numbers: str) -> None:
    """Draw an artifact and write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``."""
    outputs = context.results.plan.outputs(context.paper.paper, context.name)
    with style.applied():
        save(draw(), outputs, numbers)


def of_points(points: Points, subtitle: str, height: float) -> tuple[Figure, SubFigure]:
    """The frame of a figure made from runs: its subject as title, and its conditions as the small line."""
    frame = Frame(points.artifact.title, subtitle, notes.small(points))
    return framed(frame, WIDTH, height)


def shown(points: Points, below: tuple[str, ...]) -> Shown:
    """Heading and caption of a figure made from runs; ``below`` is its small print."""
    return Shown(points.context.name, notes.heading(points), below, alt=" ".join(below), inches=WIDTH)


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
