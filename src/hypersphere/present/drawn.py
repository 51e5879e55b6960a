"""What all figures share: a frame of heading and small print, and files that are the same bytes each time."""

import io
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure, SubFigure

from hypersphere.files import replacing, write_text
from hypersphere.present import notes, style
from hypersphere.present.points import Points
from hypersphere.present.shown import Shown

WIDTH = 7.2
"""Inches: the text width of a page."""
SMALL_PER_INCH, TITLE_PER_INCH = 20, 13
"""Characters of the small print and of a heading that fit an inch."""
_HASHED = re.compile(r"\b([a-zA-Z])[0-9a-f]{10}\b")
"""How matplotlib names the parts of a drawing."""
_LONG = re.compile(r"scale\([^)]*\)|-?\d+\.\d{4,}(?![\w.])")
"""Coordinates, and the scales that glyphs are drawn at, which stay."""


def framed(heading: str, small: Sequence[str], width: float, height: float) -> tuple[Figure, SubFigure]:
    """A figure with a heading above and small print below, and the part between them, ``width`` by ``height`` inches.

    The part is one of its own, so that a legend outside of the axes keeps clear of both.
    """
    below = [line for text in small for line in textwrap.wrap(text, int(SMALL_PER_INCH * (width - 0.2)))]
    title = textwrap.wrap(heading, int(TITLE_PER_INCH * (width - 0.2)))
    top, bottom = 0.12 + 0.17 * len(title), 0.1 + 0.128 * len(below)
    whole = height + top + bottom
    figure = Figure(figsize=(width, whole), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    part = figure.add_subfigure(grid[1, 0])
    figure.text(0.1 / width, 1 - 0.06 / whole, "\n".join(title), fontsize=9.5, fontweight="bold", ha="left", va="top")
    figure.text(
        0.1 / width, 0.05 / whole, "\n".join(below), fontsize=6.8, color="#444444", va="bottom", linespacing=1.3
    )
    return figure, part


def as_svg(figure: Figure) -> str:
    """The drawing as text, the same each time.

    The last bits of a layout depend on where its parts lie in memory. Matplotlib prints more of them than can be seen,
    and names clipping areas by a hash of all of them: numbers are rounded to a thousandth of a point, and these areas
    numbered as they come.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=style.PNG_DPI, metadata=style.SVG_METADATA)
    names: dict[str, str] = {}
    named = _HASHED.sub(lambda found: names.setdefault(found[0], f"{found[1]}{len(names)}"), buffer.getvalue())
    return _LONG.sub(lambda found: found[0] if found[0].startswith("scale") else f"{float(found[0]) + 0.0:.3f}", named)


def write(points: Points, draw: Callable[[Points], Figure], numbers: str) -> None:
    """Draw an artifact made from runs, and write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``."""
    context = points.context
    outputs = context.results.plan.outputs(context.paper.paper, context.name)
    with style.applied():
        save(draw(points), outputs, numbers)


def shown(points: Points, below: tuple[str, ...]) -> Shown:
    """Heading and caption of such a figure; ``below`` is what its small print says."""
    return Shown(points.context.name, notes.heading(points), below, alt=" ".join(below), inches=WIDTH)


def save(figure: Figure, outputs: Sequence[Path], numbers: str) -> None:
    """Write a figure's files: the drawing as svg and png, and as csv the numbers that it was drawn from."""
    for path in outputs:
        if path.suffix == ".svg":
            write_text(path, as_svg(figure))
        elif path.suffix == ".csv":
            write_text(path, numbers)
        else:
            with replacing(path) as temporary:
                figure.savefig(temporary, format="png", dpi=style.PNG_DPI, metadata=style.PNG_METADATA)
