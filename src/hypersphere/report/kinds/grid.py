"""A heat map: one coordinate in rows, one in columns, and a mean over seeds in each square."""

import math
from itertools import chain
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config.coordinates import Coordinates
from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points

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


numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What squares are, the range of each control (``untrained encoder 84.5 to 90.5``), and what is in parentheses."""
    text = f"Squares: {noted.measured(points)}, {noted.over(points)}. All panels share one colour scale."
    kinds: dict[str, list[Point]] = {}
    for control in points.controls:
        kinds.setdefault(words.CONTROLS[str(control.coordinates["variant"])], []).append(control)
    controls = []
    for name, own in kinds.items():
        lowest, highest = (end(own, key=lambda one: one.mean).mean_text for end in (min, max))
        controls.append(f"{name} {lowest}" + (f" to {highest}" if highest != lowest else ""))
    printed = noted.published(points, "In parentheses: the numbers of")
    return noted.of(points, text, f"Controls: {'; '.join(controls)}." if controls else "", printed)


def draw(points: Points) -> Figure:
    """A heat map for each panel, with as many in a row as leave room for the numbers."""
    wide, high = len(points.measured("columns")), len(points.measured("rows"))
    combinations = points.measured("panels")
    most = max(1, min(len(combinations), int(figures.WIDTH / (SQUARE * wide + BESIDE)), 3))
    placed, (down, across) = figures.arrange(combinations, most)
    inches = figures.WIDTH / across
    printed = (
        ". In parentheses: the published number"
        if any(cell.beside for cell in points.every)
        else ""
    )
    text = f"{noted.measures(points)}: {noted.over(points, 'pretrainings')}{printed}"
    said = (text, figures.unrun(points, "rows", "columns"), figures.below_pixels(points))
    subtitle = ". ".join(filter(None, said))
    figure, part, panels = figures.drawing(
        points, placed, subtitle, down * (HIGH * high + 0.9) + 0.4, inches - 0.6
    )
    means = [cell.mean for cell in points.every if math.isfinite(cell.mean)] or [0.0]
    wider = (
        max(0.0, SPAN - (max(means) - min(means))) / 2
        if points.every[0].measure.unit == "%"
        else 0.0
    )
    limits = (min(means) - wider, max(means) + wider)
    for (down, right), axis in panels.items():
        _panel(axis, points, placed[down, right], inches - BESIDE, limits)
        if right:
            axis.set_yticklabels([])
            axis.set_ylabel("")
    meshes = [axis.collections[0] for axis in panels.values() if axis.collections]
    if meshes:
        bar = part.colorbar(meshes[0], ax=list(panels.values()), pad=0.02, aspect=22)
        bar.set_label(points.every[0].label)
        bar.ax.grid(visible=False)
    return figure


def _text(cell: Point) -> str:
    """Our number, and the printed one below it."""
    return cell.mean_text + (f"\n({cell.printed})" if cell.beside else "")


def _panel(
    axis: Axes, points: Points, panel: Coordinates, inches: float, limits: tuple[float, float]
) -> None:
    cells = list[list[Point]]()
    for row in points.measured("rows"):
        cells.append([points.at(panel, row, column) for column in points.measured("columns")])
    every = list(chain.from_iterable(cells))
    if all(math.isnan(cell.mean) for cell in every):
        figures.blank(axis, every)
        return
    size = max(6.5, min(8.0, 15 * inches / len(cells[0])))
    squares = pd.DataFrame(cells)
    means, texts = squares.map(lambda cell: cell.mean), squares.map(_text)
    # here, because pages read this file too, and seaborn takes seconds to import
    import seaborn as sns
    from seaborn.utils import relative_luminance

    look = {
        "cmap": COLOURS,
        "vmin": limits[0],
        "vmax": limits[1],
        "linewidths": 0.6,
        "linecolor": "white",
    }
    sns.heatmap(means, ax=axis, annot=texts, fmt="", cbar=False, annot_kws={"size": size}, **look)
    mesh = axis.collections[0]
    # black or white, whichever has more contrast by WCAG 2 (seaborn's own rule differs)
    for text in axis.texts:
        right, down = text.get_position()
        colour = mesh.get_facecolor()[int(down) * len(cells[0]) + int(right)]
        text.set_color("black" if relative_luminance(colour) > EQUAL_CONTRAST else "white")
    axis.set_facecolor("#EFEFEF")
    axis.grid(visible=False)
    grey: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "color": style.GREY,
        "linespacing": 1.0,
        "fontsize": 6.5,
    }
    for down, line in enumerate(cells):
        for right, cell in enumerate(line):
            if math.isnan(cell.mean):
                axis.text(right + 0.5, down + 0.5, cell.ours.replace(" ", "\n"), **grey)
    _, names, label = figures.ticks(points, "columns")
    figures.name_ticks(axis, names, inches, 0.5)
    axis.set_xlabel(figures.folded(label, inches))
    _, names, label = figures.ticks(points, "rows")
    axis.set_yticks([at + 0.5 for at in range(len(cells))], names, rotation=0)
    level: dict[str, Any] = {"rotation": 0, "va": "center", "ha": "right"}
    axis.set_ylabel(figures.folded(label, HIGH * len(cells)), **(level if len(label) < 3 else {}))
    axis.tick_params(length=0)
