"""A heat map: one coordinate in rows, one in columns, and a mean over seeds in each square."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config.coordinates import Coordinates
from hypersphere.report import figures, panels, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points, means

OF = "runs"
AXES = {"panels": False, "rows": True, "columns": True}
FOLDER = "figures"

SQUARE, BESIDE, HIGH = 0.44, 1.35, 0.34
"""Inches: the smallest width of a square, the width of labels and colour bar, and the height of a square."""
SPAN = 20.0
"""Percent: the least that a colour scale spans, so that a difference of a few points does not look dramatic."""
EQUAL_CONTRAST = 0.179
"""The relative luminance that has equal contrast with black and white (WCAG 2)."""
COLOURS = "cividis"
"""Perceptually uniform, and the same to colour-blind readers."""
LOST: dict[str, Any] = {
    "ha": "center",
    "va": "center",
    "color": style.GREY,
    "linespacing": 1.0,
    "fontsize": 6.5,
}
"""The look of what stands in a square without a number."""


numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What squares are, the range of each control (``untrained encoder 84.5 to 90.5``), and what is in parentheses."""
    squares = f"{noted.measures_in_full(points)}, {noted.over(points)}"
    text = f"Squares: {squares}. All panels share one colour scale."
    by_kind = defaultdict(list)
    for control in points.controls:
        by_kind[str(control.coordinates["variant"])].append(control)
    controls = []
    for kind, own in by_kind.items():
        own.sort(key=lambda control: control.mean)
        ends = dict.fromkeys((own[0].mean_text, own[-1].mean_text))
        levels = " to ".join(ends)
        controls.append(f"{words.CONTROLS[kind]} {levels}")
    printed = noted.published_source(points, "In parentheses: the numbers of")
    listed = f"Controls: {'; '.join(controls)}." if controls else ""
    return noted.of(points, text, listed, printed)


def draw(points: Points) -> Figure:
    """A heat map for each panel, with as many in a row as leave room for the numbers."""
    wide = len(points.measured_points("columns"))
    high = len(points.measured_points("rows"))
    combinations = points.measured_points("panels")
    with_room = int(figures.WIDTH / (SQUARE * wide + BESIDE))
    most = max(1, min(len(combinations), with_room, 3))
    rows = panels.arrange(combinations, most)
    inches = panels.width(rows)
    height = len(rows) * (HIGH * high + 0.9) + 0.4
    pretrainings = noted.over(points, "pretrainings")
    text = f"{noted.measures(points)}: {pretrainings}"
    if any(cell.beside for cell in points.every):
        text += ". In parentheses: the published number"
    subtitle = panels.subtitle(points, text, "rows", "columns")
    figure, part, drawn = panels.drawing(points, rows, subtitle, height, inches - 0.6)
    limits = _limits(points)
    for panel in drawn:
        _draw_squares(panel.axis, points, panel.point, inches - BESIDE, limits)
        if panel.at_left is not None:
            panel.axis.set_yticklabels([])
            panel.axis.set_ylabel("")
    axes = [panel.axis for panel in drawn]
    meshes = [axis.collections[0] for axis in axes if axis.collections]
    if meshes:
        bar = part.colorbar(meshes[0], ax=axes, pad=0.02, aspect=22)
        bar.set_label(points.every[0].label)
        bar.ax.grid(visible=False)
    return figure


def _limits(points: Points) -> tuple[float, float]:
    """The ends of the colour scale."""
    finite = [cell.mean for cell in points.every if math.isfinite(cell.mean)]
    low = min(finite, default=0.0)
    high = max(finite, default=0.0)
    wider = 0.0
    if points.every[0].measure.unit == "%":
        wider = max(0.0, SPAN - (high - low)) / 2
    return low - wider, high + wider


def _draw_squares(
    axis: Axes, points: Points, panel: Coordinates, inches: float, limits: tuple[float, float]
) -> None:
    squares = points.array("rows", "columns", at=panel)
    numbers = means(squares)
    if np.isnan(numbers).all():
        panels.blank(axis, squares.flat)
        return
    # here, because pages read this file too, and seaborn takes seconds to import
    import seaborn as sns
    from seaborn.utils import relative_luminance

    high, wide = squares.shape
    sns.heatmap(
        numbers,
        vmin=limits[0],
        vmax=limits[1],
        cmap=COLOURS,
        cbar=False,
        linewidths=0.6,
        linecolor="white",
        annot=np.vectorize(_text)(squares),
        annot_kws={"size": max(6.5, min(8.0, 15 * inches / wide))},
        fmt="",
        ax=axis,
    )
    # black or white, whichever has more contrast by WCAG 2 (seaborn's own rule differs)
    colours = np.asarray(axis.collections[0].get_facecolor())
    of_numbers = colours[np.isfinite(numbers).flat]
    for text, colour in zip(axis.texts, of_numbers, strict=True):
        text.set_color("black" if relative_luminance(colour) > EQUAL_CONTRAST else "white")
    axis.set_facecolor("#EFEFEF")
    axis.grid(visible=False)
    for down, right in np.argwhere(np.isnan(numbers)):
        reason = squares[down, right].ours.replace(" ", "\n")
        axis.text(right + 0.5, down + 0.5, reason, **LOST)
    columns = panels.ticks(points, "columns")
    rows = panels.ticks(points, "rows")
    panels.name_ticks(axis, columns.names, inches, 0.5)
    axis.set_xlabel(panels.fold(columns.label, inches))
    axis.set_yticks(np.arange(high) + 0.5, rows.names, rotation=0)
    label = axis.set_ylabel(panels.fold(rows.label, HIGH * high))
    if len(rows.label) < 3:
        label.set(rotation=0, va="center", ha="right")
    axis.tick_params(length=0)


def _text(cell: Point) -> str:
    """Our number, and the printed one below it."""
    printed = f"\n({cell.printed})" if cell.beside else ""
    return cell.mean_text + printed
