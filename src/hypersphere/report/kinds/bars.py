"""Bars of means, side by side, with their intervals over seeds."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.report import drawn, labels, notes, panels, style, words, writer
from hypersphere.report.points import FIELDS, Point, Points
from hypersphere.report.shown import Context, Shown

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

PANEL = 1.7
"""Inches: the height of a panel."""
BAR, BESIDE = 0.5, 0.6
"""Inches: the smallest width of a bar with its margin, and the width of the labels beside a panel."""


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
    return drawn.shown(points, _notes(points))


def _notes(points: Points) -> tuple[str, ...]:
    text = f"Bars: {notes.measured(points)}, mean over independent pretrainings{_interval(points)}."
    return notes.of(points, " ".join(filter(None, (text, notes.published(points, "Hollow markers repeat")))))


def _interval(points: Points) -> str:
    several = any(cell.count("n") > 1 for cell in points.every)
    return f", with its {words.confidence(points.context.results.config)} t interval" if several else ""


def draw(points: Points) -> Figure:
    """A panel of bars for each combination of a point of ``panels`` and a point of ``rows``."""
    placed, down, across, inches, slant = panels.in_rows(points, drawn.WIDTH, BAR, BESIDE)
    subtitle = f"{notes.measures(points)}: mean over pretrainings{_interval(points)}"
    figure, part = drawn.of_points(points, subtitle, PANEL * down + (1.1 if slant else 0.5))
    axes = part.subplots(down, across, squeeze=False)
    for panel in placed:
        axis = axes[panel.row][panel.column]
        cells = [points.at(panel.point, x) for x in points.axis("x")]
        _panel(axis, cells)
        panels.name_ticks(axis, panels.names(points, "x"), inches - BESIDE)
        axis.set_title(panels.title(points, panel.point, placed, inches - 0.4), loc="left")
        axis.set_ylabel(labels.measure(str(cells[0].coordinates["measure"])) if panel.measured else "")
        axis.tick_params(axis="x", labelbottom=panel.lowest or not slant)
    panels.hide_unused(axes, placed)
    part.align_ylabels(list(axes[:, 0]))
    return figure


def _panel(axis: Axes, cells: Sequence[Point]) -> None:
    colours = [style.COLOURS[at % len(style.COLOURS)] for at in range(len(cells))]
    axis.bar(range(len(cells)), [_or_zero(cell.mean) for cell in cells], width=0.7, color=colours, alpha=0.85)
    for at, cell in enumerate(cells):
        low, high = cell.number("low"), cell.number("high")
        if math.isfinite(low) and math.isfinite(high):
            axis.errorbar(at, cell.mean, [[cell.mean - low], [high - cell.mean]], color="black", capsize=3, linewidth=1)
        if math.isfinite(cell.published):
            axis.plot(at, cell.published, "o", markerfacecolor="none", markeredgecolor="black", markersize=6)
        text = cell.ours.replace(" ", "\n") if math.isnan(cell.mean) else words.number(cell.mean, cell.measure.decimals)
        top = max(_or_zero(cell.mean), _or_zero(high))
        axis.annotate(
            text, (at, top), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=7, color=style.GREY
        )
    axis.grid(visible=False, axis="x")
    axis.margins(y=0.16)
    axis.set_xlim(-0.6, len(cells) - 0.4)


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
