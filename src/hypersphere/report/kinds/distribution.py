"""Distributions of a probe's values over single images or pairs: the share at or below each value."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.report import figures, style
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
IMAGES = ("distribution.csv",)
FORMATS = ("svg", "png", "csv")

PANEL = 2.0
"""Inches: the height of a panel."""


def numbers(points: Points) -> str:
    """Every quantile of every run."""
    return points.single("distribution", ("seed", "run", "quantile", "value"))


def notes(points: Points) -> tuple[str, ...]:
    """What lines are."""
    levels = points.table("distribution")["quantile"].nunique()
    text = f"Lines: the share at or below each value of {noted.measured(points)}, of {_of(points)}"
    return noted.of(points, f"{text}: {counted(levels, 'quantile')} of each run, a line for each seed.")


def _of(points: Points) -> str:
    return "pairs" if any("pairs" in cell.coordinates for cell in points.every) else "single images"


def draw(points: Points) -> Figure:
    """A panel for each combination of a point of ``panels`` and one of ``rows``, with lines for each point of ``x``."""
    rows, columns = points.measured("rows", "panels", "x"), points.measured("panels", "rows", "x")
    placed = figures.arrange([{**column, **row} for row in rows for column in columns], max(2, min(3, len(columns))))
    down, across = figures.size(placed)
    subtitle = f"Share of {_of(points)} at or below each value of: {noted.measures(points)}"
    made = figures.drawing(points, placed, subtitle, PANEL * down + 0.7, figures.WIDTH / across - 0.4)
    of_cell = dict(iter(points.table("distribution").groupby("coordinates")))
    looks: dict[str, dict[str, Any]] = {
        points.named(x, "x"): {"color": style.COLOURS[at % len(style.COLOURS)], "linestyle": style.DASHES[at % 4]}
        for at, x in enumerate(points.measured("x", "panels", "rows"))
    }
    for panel, axis in made.panels:
        cells = [points.at(panel.point, x) for x in points.measured("x", "panels", "rows")]
        drawn = [(cell, look) for cell, look in zip(cells, looks.values(), strict=True) if cell.text in of_cell]
        for cell, look in drawn:
            for _, run in of_cell[cell.text].groupby("seed"):
                axis.plot(run["value"], 100 * run["quantile"], **look)
        if not drawn:
            figures.blank(axis, cells)
            continue
        values = [value for cell, _ in drawn for value in of_cell[cell.text]["value"]]
        if figures.logarithmic(values) and not cells[0].measure.bounded:
            axis.set_xscale("log")
            figures.log_ticks(axis.xaxis)
        axis.set_ylabel(f"{_of(points)} (%)" if panel.column == 0 else "")
        axis.set_xlabel(cells[0].label if panel.lowest else "")
    handles = [Line2D([], [], **look) for look in looks.values()]
    beside = figures.legend_columns(looks)
    made.part.legend(handles, list(looks), loc="outside upper left", ncols=beside, handlelength=2.6)
    return made.align()
