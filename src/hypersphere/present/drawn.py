"""The frame of all figures (heading and small print), and files that have the same bytes each time."""

import io
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure, SubFigure
from matplotlib.transforms import Bbox

from hypersphere.files import replacing, write_text
from hypersphere.present import notes, style
from hypersphere.present.points import Points
from hypersphere.present.shown import Context, Shown

WIDTH = 7.2
"""Inches: the text width of a page."""
SMALL_PER_INCH, TITLE_PER_INCH = 20, 13
"""Characters of the small print and of a heading that fit an inch."""
_HASHED = re.compile(r"\b([a-zA-Z])[0-9a-f]{10}\b")
"""Names that matplotlib gives to the parts of a drawing."""
_LONG = re.compile(r"scale\([^)]*\)|-?\d+\.\d{4,}(?![\w.])")
"""Coordinates, and the scales of glyphs. Scales are not rounded."""
_PLACES = 4
"""Decimals of a position, in shares of the figure: at 7.2 inches and 200 dpi, 1e-4 is a seventh of a pixel."""


def framed(heading: str, small: Sequence[str], width: float, height: float) -> tuple[Figure, SubFigure]:
    """A figure with a heading above and small print below, and the part between them, ``width`` by ``height`` inches.

    The part is a subfigure, so that a legend outside of the axes covers neither.
    """
    below = [line for text in small for line in textwrap.wrap(text, int(SMALL_PER_INCH * (width - 0.2)))]
    title = textwrap.wrap(heading, int(TITLE_PER_INCH * (width - 0.2)))
    top, bottom = 0.12 + 0.17 * len(title), 0.1 + 0.128 * len(below)
    full_height = height + top + bottom
    figure = Figure(figsize=(width, full_height), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    part = figure.add_subfigure(grid[1, 0])
    figure.text(
        0.1 / width, 1 - 0.06 / full_height, "\n".join(title), fontsize=9.5, fontweight="bold", ha="left", va="top"
    )
    figure.text(
        0.1 / width, 0.05 / full_height, "\n".join(below), fontsize=6.8, color="#444444", va="bottom", linespacing=1.3
    )
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
