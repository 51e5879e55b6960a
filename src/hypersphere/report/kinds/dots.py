"""Dots at means, below each other, with their intervals over seeds."""

import math
from typing import Any

from matplotlib.figure import Figure

from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

LINE, AROUND = 0.24, 0.75
"""Inches: the height of a dot's line, and of what stands above and below a panel."""

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What dots and rings are."""
    text = f"Dots: {noted.measured(points)}, mean over independent pretrainings{_interval(points)}."
    return noted.of(points, text, noted.published(points, "Rings repeat"))


def _interval(points: Points) -> str:
    several = any(cell.count("n") > 1 for cell in points.every)
    return f", with its {words.confidence(points.config)} t interval" if several else ""


def draw(points: Points) -> Figure:
    """A panel for each combination of a point of ``panels`` and one of ``rows``; all have one axis."""
    rows, columns = points.measured("rows", "panels", "x"), points.measured("panels", "rows", "x")
    combinations = [{**column, **row} for row in rows for column in columns]
    placed = figures.arrange(combinations, len(columns) if 1 < len(columns) <= 3 else min(2, len(combinations)))
    down, across = figures.size(placed)
    xs = points.measured("x", "panels", "rows")
    subtitle = f"{noted.measures(points)}: mean over pretrainings{_interval(points)}"
    made = figures.drawing(points, placed, subtitle, down * (AROUND + LINE * len(xs)), figures.WIDTH / across - 0.8)
    for panel, axis in made.panels:
        cells = [points.at(panel.point, x) for x in xs]
        for at, cell in enumerate(cells):
            low, high = cell.number("low"), cell.number("high")
            interval = [[cell.mean - low], [high - cell.mean]] if math.isfinite(low) else None
            axis.errorbar(cell.mean, at, xerr=interval, fmt="o", color=style.COLOURS[0], linewidth=1.5)
            axis.plot(cell.published, at, "o", markerfacecolor="none", markeredgecolor="black", markersize=6.5)
            beside = cell.ours if math.isnan(cell.mean) else f" {cell.mean_text}"
            where: dict[str, Any] = {"xycoords": axis.get_yaxis_transform(), "va": "center", "annotation_clip": False}
            axis.annotate(beside, (1.01, at), **where, fontsize=7.5, color=style.GREY)
        names = [points.named(x, "x") for x in xs] if panel.column == 0 else [""] * len(xs)
        axis.set_yticks(range(len(xs)), names)
        axis.set_ylim(len(xs) - 0.5, -0.5)
        axis.set_xlabel(cells[0].label if panel.lowest else "")
        axis.grid(visible=False, axis="y")
    axes = [axis for _, axis in made.panels]
    limits = [axis.get_xlim() for axis in axes]
    for axis in axes:
        axis.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    return made.figure
