"""Effects over a baseline, the largest first: a point for each, and its interval where there are several runs."""

import math
from typing import Any

from matplotlib.figure import Figure

from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points

OF = "runs"
AXES = {"rows": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

LINE, AROUND = 0.2, 0.6
"""Inches: the height of an effect's line, and of the axis below."""
COLOUR = style.COLOURS[0]

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What points and intervals are, and which points have no effect to draw."""
    text = (
        f"Differences from the baseline in {noted.measured(points)}, mean over independent pretrainings, with "
        f"{words.confidence(points.config)} intervals adjusted for all comparisons of the figure (Holm). "
        "Filled: the interval excludes zero. Without an interval: a single run, or one wider than the measure's range."
    )
    silent = [_label(points, point) for point in points.every if not point.is_baseline and math.isnan(_effect(point))]
    return noted.of(points, text, f"Not measured: {', '.join(silent)}." if silent else "")


def _effect(point: Point) -> float:
    return float(point.effect.get("effect", math.nan))


def _label(points: Points, point: Point) -> str:
    row = next(row for row in points.axis("rows") if row.items() <= dict(point.coordinates).items())
    return points.named(row, "rows")


def draw(points: Points) -> Figure:
    """One panel; the vertical line at zero is the baseline."""
    known = [point for point in points.every if not point.is_baseline and math.isfinite(_effect(point))]
    found = sorted(known, key=lambda point: -_effect(point))
    baselines = [point for point in points.every if point.is_baseline]
    subtitle = f"{noted.measures(points)}: difference from the baseline"
    if len(baselines) == 1:
        subtitle += f", {_label(points, baselines[0])}: {baselines[0].ours}"
    figure, part = figures.of_points(points, subtitle, AROUND + LINE * max(len(found), 1))
    axis = part.subplots()
    look: dict[str, Any] = {"marker": style.MARKERS[0], "color": COLOUR, "markeredgecolor": COLOUR, "linewidth": 1.5}
    for at, point in enumerate(found):
        effect, (low, high) = _effect(point), point.interval
        interval = None if math.isnan(low) else [[effect - low], [high - effect]]
        inside = COLOUR if low > 0 or high < 0 else "white"
        axis.errorbar(effect, at, xerr=interval, markerfacecolor=inside, **look)
    axis.axvline(0, color=style.GREY, linewidth=1)
    axis.set_yticks(range(len(found)), [f"{_label(points, point)} ({point.count('n')})" for point in found])
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xlabel(f"{points.every[0].label}, difference; in parentheses, runs")
    axis.grid(visible=False, axis="y")
    return figure
