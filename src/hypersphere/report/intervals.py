"""Points below each other with their intervals: the drawing of both forests, and of an artifact's means or effects."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from hypersphere.report import figures, style

LINE, AROUND = 0.19, 0.75
"""Inches of a row and of all that surrounds the rows."""
BESIDE = 33
"""Letters in a line of what stands beside a row."""
TITLE: dict[str, Any] = {"va": "center", "fontweight": "bold", "fontsize": 8.5}
"""The look of a section's title."""
NAME_ABOVE: dict[str, Any] = {
    "va": "top",
    "fontsize": 8,
    "linespacing": 1.05,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.5},
}
"""The look of a name above its row, which covers the line at zero."""
MARGIN = "#F0EAF4"
"""The colour of a margin."""


class Layout(NamedTuple):
    """How wide a drawing is, and where the names of its rows stand."""

    width: float
    """Inches."""
    letters: int
    """The number of letters in a line of a row's name."""
    bold: int
    """The number of letters in a line of a title."""
    signs: int
    """The number of the legend's signs that stand beside each other."""
    above: bool
    """Whether a name stands above its row, with what stands beside it, and not at the left of the axis."""

    def name(self, row: "Estimate") -> list[str]:
        """A row's name in lines."""
        if not self.above:
            return textwrap.wrap(row.name, self.letters)
        beside = row.beside.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        return textwrap.wrap(f"{row.name}: {beside}", self.letters)

    def title(self, section: "Estimates") -> list[str]:
        """A section's title in lines."""
        return textwrap.wrap(section.title, self.bold)

    def room(self, row: "Estimate") -> float:
        """What a row needs, in heights of a line: a longer name has more, and so has more that stands beside it."""
        lines = len(self.name(row))
        if self.above:
            return 0.65 * lines + 1.05
        return 0.65 * max(lines, len(textwrap.wrap(row.beside, BESIDE))) + 0.35

    def middle(self, row: "Estimate") -> float:
        """Where the row's points are, below its upper end."""
        return self.room(row) - 0.55 if self.above else self.room(row) / 2


PAGE = Layout(figures.WIDTH, 56, 100, 6, above=False)
PHONE = Layout(3.6, 58, 48, 3, above=True)
"""The layout for a narrow window, where the letters of ``PAGE`` could not be read."""
NARROW = "_narrow"
"""The end of the name of a file that is drawn for a phone."""


class Mark(NamedTuple):
    """A point of a row, and how it looks."""

    value: float
    colour: str
    marker: str = "o"
    hollow: bool = False
    size: float = 5.5
    alpha: float = 1.0


class Estimate(NamedTuple):
    """One line of the drawing: its points, on top of one or two intervals."""

    name: str
    beside: str
    """What stands at the right of the axis."""
    marks: Sequence[Mark]
    colour: str
    """The colour of the intervals."""
    thick: tuple[float, float]
    """Its ends; nan where there is no interval."""
    thin: tuple[float, float] = (math.nan, math.nan)
    alpha: float = 1.0


class Estimates(NamedTuple):
    """Rows under a title, if it has one, and a shaded margin on both sides of zero."""

    title: str
    rows: Sequence[Estimate]
    margin: float = 0.0


def save(folder: Path, name: str, drawn: Callable[[Layout], Figure]) -> None:
    """Write a drawing as svg and png, and as png for a narrow window."""
    with style.house_style():
        wide = [folder / f"{name}.svg", folder / f"{name}.png"]
        figures.save(drawn(PAGE), wide, "")
        figures.save(drawn(PHONE), [folder / f"{name}{NARROW}.png"], "")


def draw(
    frame: figures.Frame,
    sections: Sequence[Estimates],
    label: str,
    *,
    zero: bool = True,
    farthest: float = math.inf,
    legend: Mapping[str, Mark] | None = None,
    layout: Layout = PAGE,
) -> Figure:
    """The sections on one axis, with a line at ``zero``. At ``farthest`` it ends: arrows stand for what lies beyond."""
    height = 0.0
    for section in sections:
        rooms = map(layout.room, section.rows)
        height += len(layout.title(section)) + sum(rooms)
    height = height or 1.0
    legend = legend or {}
    handles = [Line2D([], [], label=name, **_look(mark)) for name, mark in legend.items()]
    lines_of_signs = math.ceil(len(handles) / layout.signs) or 1
    inches = AROUND + LINE * (height + lines_of_signs - 1)
    figure, part = figures.figure_in_frame(frame, layout.width, inches)
    axis = part.subplots()
    names: dict[float, str] = {}
    at = 0.0
    for section in sections:
        for line in layout.title(section):
            _write_at_left(axis, 0.012, at + 0.5, line, TITLE)
            at += 1
        top = at
        for row in section.rows:
            middle = at + layout.middle(row)
            name = "\n".join(layout.name(row))
            _draw_row(axis, row, middle, farthest)
            if layout.above:
                _write_at_left(axis, 0.03, at + 0.1, name, NAME_ABOVE)
            else:
                names[middle] = name
                _write_beside(axis, middle, row.beside)
            at += layout.room(row)
        if section.margin:
            ends = [-section.margin, section.margin]
            axis.fill_between(ends, top, at, color=MARGIN, linewidth=0, zorder=0)
        if zero:
            # not through the titles
            axis.vlines(0, top, at, color=style.GREY, linewidth=1, zorder=1)
    axis.set_yticks(list(names), list(names.values()), fontsize=8.2, linespacing=1.0)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(height, 0)
    if math.isfinite(farthest):
        axis.set_xlim(-farthest, farthest)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel(label)
    axis.grid(visible=False, axis="y")
    if handles:
        part.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(layout.signs, len(handles)),
            handletextpad=0.3,
            columnspacing=1.4,
        )
    return figure


def _write_at_left(axis: Axes, x: float, y: float, text: str, look: dict[str, Any]) -> None:
    """Write at a share x of the drawing's width, in the height y of the axis; no room is made for it."""
    place = blended_transform_factory(axis.figure.transSubfigure, axis.transData)
    axis.text(x, y, text, transform=place, in_layout=False, **look)


def _write_beside(axis: Axes, y: float, text: str) -> None:
    """Write at the right of the axis."""
    axis.annotate(
        textwrap.fill(text, BESIDE),
        (1.02, y),
        xycoords=axis.get_yaxis_transform(),
        va="center",
        annotation_clip=False,
        fontsize=8,
        color="#444444",
        linespacing=1.0,
    )


def _draw_row(axis: Axes, row: Estimate, y: float, farthest: float) -> None:
    """The intervals and points of a row, and arrows for what lies beyond ``farthest``."""
    look: dict[str, Any] = {"color": row.colour, "alpha": row.alpha, "solid_capstyle": "butt"}
    for ends, width in ((row.thin, 0.9), (row.thick, 2.6)):
        shown = np.clip(ends, -farthest, farthest)
        axis.plot(shown, [y, y], linewidth=width, zorder=2, **look)
    for mark in row.marks:
        _draw_mark(axis, mark, y, farthest, 3)
    ends_of_lines = []
    for end in (*row.thin, *row.thick):
        ends_of_lines.append(Mark(end, row.colour, alpha=row.alpha))
    for mark in (*ends_of_lines, *row.marks):
        if abs(mark.value) > farthest:
            shape = "<" if mark.value < 0 else ">"
            arrow = mark._replace(marker=shape, hollow=False, size=5)
            _draw_mark(axis, arrow, y, farthest, 4)


def _draw_mark(axis: Axes, mark: Mark, y: float, farthest: float, zorder: int) -> None:
    shown = np.clip(mark.value, -farthest, farthest)
    axis.plot(shown, y, zorder=zorder, clip_on=False, **_look(mark))


def _look(mark: Mark) -> dict[str, Any]:
    """How matplotlib draws a mark."""
    inside, edge, width = mark.colour, "white", 0.4
    if mark.hollow:
        inside, edge, width = "white", mark.colour, 0.9
    return {
        "color": mark.colour,
        "marker": mark.marker,
        "markersize": mark.size,
        "alpha": mark.alpha,
        "markerfacecolor": inside,
        "markeredgecolor": edge,
        "markeredgewidth": width,
        "linestyle": "",
    }
