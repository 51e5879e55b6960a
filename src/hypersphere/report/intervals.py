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

LINE, AROUND, SAID = 0.19, 0.75, 33
"""Inches of a row and of all that surrounds the rows; letters in a line of what is said of a row beside the axis."""


class Layout(NamedTuple):
    """How wide a drawing is, and where the names of its rows stand."""

    width: float
    """Inches."""
    letters: int
    """In a line of a row's name."""
    bold: int
    """Letters in a line of a title."""
    signs: int
    """Of the legend, beside each other."""
    above: bool
    """Whether a name stands above its row, with what is said of it, and not at the left of the axis."""

    def lines(self, row: "Estimate") -> list[str]:
        """A row's name in lines."""
        if not self.above:
            return textwrap.wrap(row.name, self.letters)
        together = row.said.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        return textwrap.wrap(f"{row.name}: {together}", self.letters)

    def room(self, row: "Estimate") -> float:
        """What a row needs, in heights of a line: a longer name has more, and so has more that is said of it."""
        lines = len(self.lines(row))
        if self.above:
            return 0.65 * lines + 1.05
        return 0.65 * max(lines, len(textwrap.wrap(row.said, SAID))) + 0.35

    def middle(self, row: "Estimate") -> float:
        """Where the row's points are, below its upper end."""
        return self.room(row) - 0.55 if self.above else self.room(row) / 2


PAGE = Layout(figures.WIDTH, 56, 100, 6, above=False)
PHONE = Layout(3.6, 58, 48, 3, above=True)
"""Of a narrow window, in which the letters of ``PAGE`` could not be read."""
NARROW = "_narrow"
"""At the end of the file's name of what is drawn for a phone."""


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
    said: str
    """At the right of the axis."""
    marks: Sequence[Mark]
    colour: str
    """Of the intervals."""
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
    with style.applied():
        figures.save(drawn(PAGE), [folder / f"{name}.svg", folder / f"{name}.png"], "")
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
    titles = {section.title: textwrap.wrap(section.title, layout.bold) for section in sections}
    height = 0.0
    for section in sections:
        height += len(titles[section.title]) + sum(map(layout.room, section.rows))
    height = height or 1.0
    lines_of_signs = math.ceil(len(legend) / layout.signs) if legend else 1
    figure, part = figures.framed(
        frame, layout.width, AROUND + LINE * (height + lines_of_signs - 1)
    )
    axis = part.subplots()
    from_the_left = blended_transform_factory(part.transSubfigure, axis.transData)
    beside: dict[str, Any] = {
        "xycoords": axis.get_yaxis_transform(),
        "va": "center",
        "annotation_clip": False,
    }
    at, named = 0.0, dict[float, str]()
    for section in sections:
        for line in titles[section.title]:
            look: dict[str, Any] = {"va": "center", "fontweight": "bold", "fontsize": 8.5}
            axis.text(0.012, at + 0.5, line, transform=from_the_left, **look).set_in_layout(False)
            at += 1
        top = at
        for row in section.rows:
            middle, name = at + layout.middle(row), "\n".join(layout.lines(row))
            _draw_row(axis, row, middle, farthest)
            if layout.above:
                small: dict[str, Any] = {"va": "top", "fontsize": 8, "linespacing": 1.05}
                small["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
                axis.text(0.03, at + 0.1, name, transform=from_the_left, **small).set_in_layout(
                    False
                )
            else:
                said = textwrap.fill(row.said, SAID)
                axis.annotate(
                    said, (1.02, middle), **beside, fontsize=8, color="#444444", linespacing=1.0
                )
                named[middle] = name
            at += layout.room(row)
        if section.margin:
            axis.fill_between(
                [-section.margin, section.margin], top, at, color="#F0EAF4", linewidth=0, zorder=0
            )
        if zero:
            # not through the titles
            axis.vlines(0, top, at, color=style.GREY, linewidth=1, zorder=1)
    axis.set_yticks(list(named), list(named.values()), fontsize=8.2, linespacing=1.0)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(height, 0)
    if math.isfinite(farthest):
        axis.set_xlim(-farthest, farthest)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel(label)
    axis.grid(visible=False, axis="y")
    if legend:
        handles = [Line2D([], [], label=name, **_look(mark)) for name, mark in legend.items()]
        spaced: dict[str, Any] = {"handletextpad": 0.3, "columnspacing": 1.4}
        part.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(layout.signs, len(legend)),
            **spaced,
        )
    return figure


def _draw_row(axis: Axes, row: Estimate, middle: float, farthest: float) -> None:
    """The intervals and points of a row, and arrows for what lies beyond ``farthest``."""
    of_row: dict[str, Any] = {"color": row.colour, "alpha": row.alpha, "solid_capstyle": "butt"}
    for ends, width in ((row.thin, 0.9), (row.thick, 2.6)):
        axis.plot(
            np.clip(ends, -farthest, farthest), [middle] * 2, linewidth=width, zorder=2, **of_row
        )
    for mark in row.marks:
        axis.plot(
            np.clip(mark.value, -farthest, farthest), middle, zorder=3, clip_on=False, **_look(mark)
        )
    of_intervals = [Mark(end, row.colour, alpha=row.alpha) for end in (*row.thin, *row.thick)]
    for mark in [*of_intervals, *row.marks]:
        if abs(mark.value) > farthest:
            arrow = mark._replace(marker="<" if mark.value < 0 else ">", hollow=False, size=5)
            axis.plot(
                math.copysign(farthest, mark.value), middle, zorder=4, clip_on=False, **_look(arrow)
            )


def _look(mark: Mark) -> dict[str, Any]:
    inside, edge, width = (
        ("white", mark.colour, 0.9) if mark.hollow else (mark.colour, "white", 0.4)
    )
    face = {"markerfacecolor": inside, "markeredgecolor": edge, "markeredgewidth": width}
    look = {
        "color": mark.colour,
        "marker": mark.marker,
        "markersize": mark.size,
        "alpha": mark.alpha,
    }
    return {**look, **face, "linestyle": ""}
