"""Effects over a baseline, the largest first: a point for each, and its interval where there are several runs."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.report import drawn, labels, notes, style, words, writer
from hypersphere.report.points import FIELDS, Point, Points
from hypersphere.report.shown import Context, Shown

OF = "runs"
AXES = {"rows": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

LINE, AROUND = 0.2, 0.6
"""Inches: the height of an effect's line, and of the axis below."""


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    drawn.write(context, lambda: draw(points), writer.as_csv(FIELDS, points.rows()))


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    level = words.confidence(points.context.results.config)
    text = (
        f"Differences from the baseline in {notes.measured(points)}, mean over independent pretrainings, with "
        f"{level} intervals adjusted for all comparisons of the figure (Holm). Filled: the interval excludes zero. "
        "Without an interval: a single run."
    )
    return drawn.shown(points, notes.of(points, f"{text} {_without(points)}".strip()))


def _without(points: Points) -> str:
    """Which points have no effect to draw."""
    silent = [_label(points, point) for point in points.every if not point.is_baseline and not _known(point)]
    return f"Not measured: {', '.join(silent)}." if silent else ""


def _known(point: Point) -> bool:
    return math.isfinite(float(point.effect.get("effect", math.nan)))


def _label(points: Points, point: Point) -> str:
    row = next(row for row in points.axis("rows") if row.items() <= dict(point.coordinates).items())
    return labels.point(points.context.paper, row, labels.varying(points.axis("rows")))


def ordered(points: Points) -> list[Point]:
    """The points with an effect, the largest first."""
    known = [point for point in points.every if not point.is_baseline and _known(point)]
    return sorted(known, key=lambda point: -float(point.effect["effect"]))


def draw(points: Points) -> Figure:
    """One panel; the vertical line at zero is the baseline."""
    found = ordered(points)
    baselines = [point for point in points.every if point.is_baseline]
    subtitle = f"{notes.measures(points)}: difference from the baseline"
    if len(baselines) == 1:
        subtitle += f", {_label(points, baselines[0])}: {baselines[0].ours}"
    figure, part = drawn.of_points(points, subtitle, AROUND + LINE * max(len(found), 1))
    axis = part.subplots()
    for at, point in enumerate(found):
        _draw(axis, at, point)
    axis.axvline(0, color=style.GREY, linewidth=1)
    axis.set_yticks(range(len(found)), [f"{_label(points, point)} ({point.count('n')})" for point in found])
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xlabel(f"{labels.measure(str(points.every[0].coordinates['measure']))}, difference; in parentheses, runs")
    axis.grid(visible=False, axis="y")
    return figure


def _draw(axis: Axes, at: int, point: Point) -> None:
    effect, low, high = (float(point.effect[name]) for name in ("effect", "low_holm", "high_holm"))
    clear, alone = low > 0 or high < 0, math.isnan(low)
    axis.errorbar(
        effect,
        at,
        xerr=None if alone else [[effect - low], [high - effect]],
        marker=style.MARKERS[0],
        color=style.COLOURS[0],
        markeredgecolor=style.COLOURS[0],
        markerfacecolor=style.COLOURS[0] if clear else "white",
        linewidth=1.5,
    )
