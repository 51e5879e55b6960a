"""What all figures share: the frame around a drawing, and files that have the same bytes each time."""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axis import Axis
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from hypersphere.files import replacing, write_text
from hypersphere.report import style

WIDTH = 7.2
"""Inches: the text width of a page."""
TITLE = FontProperties(family=style.FONT, size=12, weight="bold")
SUBTITLE = FontProperties(family=style.FONT, size=9.5)
SMALL = FontProperties(family=style.FONT, size=9)
"""The looks of a title, of a subtitle and of the small lines below."""
NARROWER = 0.96
"""A line by its outlines, as a share of the line on a grid of pixels."""
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


def figure_in_frame(frame: Frame, width: float, height: float) -> tuple[Figure, SubFigure]:
    """A figure with title and subtitle above and a small line below, and the part between them.

    The part, ``width`` by ``height`` inches, is a subfigure, so that a legend outside of the axes covers nothing.
    """
    room = width - 0.2
    title = _in_lines(frame.title, TITLE, room)
    subtitle = _in_lines(frame.subtitle, SUBTITLE, room)
    small = _in_lines(frame.small, SMALL, room)
    top = 0.1 + 0.19 * len(title) + 0.165 * len(subtitle)
    bottom = 0.1 + 0.155 * len(small)
    full_height = height + top + bottom
    layout = ConstrainedLayoutEngine(w_pad=ROUND_PANELS)
    figure = Figure(figsize=(width, full_height), layout=layout)
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    left = 0.1 / width
    figure.text(
        left,
        1 - 0.05 / full_height,
        "\n".join(title),
        va="top",
        fontproperties=TITLE,
        linespacing=1.1,
    )
    figure.text(
        left,
        1 - (0.07 + 0.19 * len(title)) / full_height,
        "\n".join(subtitle),
        va="top",
        fontproperties=SUBTITLE,
        color="#333333",
        linespacing=1.1,
    )
    figure.text(
        left,
        0.04 / full_height,
        "\n".join(small),
        va="bottom",
        fontproperties=SMALL,
        color="#555555",
        linespacing=1.15,
    )
    return figure, figure.add_subfigure(grid[1, 0])


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


def save(figure: Figure, outputs: Sequence[Path], numbers: str) -> None:
    """Write a figure's files, the same each time (without date or release): svg, png, and its numbers as csv."""
    figure.set_dpi(style.PNG_DPI)
    _take_as_words(figure)
    _fix_layout(figure)
    for path in outputs:
        if path.suffix == ".svg":
            write_text(path, _as_svg(figure))
        elif path.suffix == ".csv":
            write_text(path, numbers)
        else:
            with replacing(path) as temporary:
                named = {"Software": None}
                figure.savefig(temporary, format="png", dpi=style.PNG_DPI, metadata=named)


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


def _fix_layout(figure: Figure) -> None:
    """Lay a figure out once, and keep the position of everything, rounded.

    The layout's solver adds numbers in an order that depends on memory addresses, so its last bits differ between two
    runs. They move edges by less than a pixel, which changes pixels of the png.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(_PLACES))
    for axes in figure.axes:
        corners = axes.get_position(original=True).get_points()
        axes.set_position(Bbox(corners.round(_PLACES)))


def _as_svg(figure: Figure) -> str:
    """The text of the svg.

    Matplotlib prints more digits than can be seen, and names clipping areas by a hash of all digits: here numbers are
    rounded to a thousandth of a point, and areas numbered in order.
    """
    drawn = io.StringIO()
    unnamed = {"Date": None, "Creator": None}
    figure.savefig(drawn, format="svg", dpi=style.PNG_DPI, metadata=unnamed)
    names: dict[str, str] = {}
    return _TAG.sub(lambda tag: _tidy(tag[0], names), drawn.getvalue())


def _tidy(tag: str, names: dict[str, str]) -> str:
    """A tag of an svg with short numbers, with names by their order in place of hashes, and with the page's fonts.

    The characters of a formula keep the font that they were set in, because each has its place.
    """
    tag = _HASHED.sub(lambda name: names.setdefault(name[0], f"{name[1]}{len(names)}"), tag)
    tag = _LONG.sub(lambda number: f"{float(number[0]) + 0.0:.3f}", tag)
    fonts = f"'{style.FONT}', sans-serif" if tag.startswith("<tspan") else style.PAGE_FONTS
    return tag.replace(f"'{style.FONT}'", fonts)
