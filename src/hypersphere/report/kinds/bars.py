"""Bars of means, side by side, with their intervals over seeds."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

PIECES = figures.Pieces(height=1.7, width=0.5, beside=0.6)

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What bars and markers are."""
    text = f"Bars: {noted.measured(points)}, mean over independent pretrainings{_interval(points)}."
    return noted.of(points, text, noted.published(points, "Hollow markers repeat"))


def _interval(points: Points) -> str:
    several = any(cell.count("n") > 1 for cell in points.every)
    return f", with its {words.confidence(points.config)} t interval" if several else ""


def draw(points: Points) -> Figure:
    """Panels of bars."""
    subtitle = f"{noted.measures(points)}: mean over pretrainings{_interval(points)}"
    return figures.in_pieces(points, subtitle, PIECES, _panel)


def _panel(axis: Axes, cells: list[Point]) -> bool:
    colours = [style.COLOURS[at % len(style.COLOURS)] for at in range(len(cells))]
    axis.bar(range(len(cells)), [_or_zero(cell.mean) for cell in cells], width=0.7, color=colours, alpha=0.85)
    for at, cell in enumerate(cells):
        low, high = cell.number("low"), cell.number("high")
        if math.isfinite(low) and math.isfinite(high):
            axis.errorbar(at, cell.mean, [[cell.mean - low], [high - cell.mean]], color="black", capsize=3, linewidth=1)
        if math.isfinite(cell.published):
            axis.plot(at, cell.published, "o", markerfacecolor="none", markeredgecolor="black", markersize=6)
        text = cell.ours.replace(" ", "\n") if math.isnan(cell.mean) else cell.mean_text
        place = (at, max(_or_zero(cell.mean), _or_zero(high)))
        above: dict[str, Any] = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        axis.annotate(text, place, **above, fontsize=7, color=style.GREY)
    axis.grid(visible=False, axis="x")
    axis.margins(y=0.16)
    return True


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
