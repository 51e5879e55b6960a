"""Distributions of a probe's values over single images or pairs: the share at or below each value."""

from itertools import chain, product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.config.measures import Measure
from hypersphere.report import figures, style
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
IMAGES = ("distribution.csv",)

PANEL = 2.0
"""Inches: the height of a panel."""


def numbers(points: Points) -> str:
    """Every quantile of every run."""
    return points.single("distribution", ("seed", "run", "quantile", "value"))


def notes(points: Points) -> tuple[str, ...]:
    levels = points.table("distribution")["quantile"].nunique()
    text = f"Lines: the share at or below each value of {noted.measured(points)}, of {_of(points)}"
    return noted.of(
        points, f"{text}: {counted(levels, 'quantile')} of each run, a line for each seed."
    )


def _of(points: Points) -> str:
    return "pairs" if any("pairs" in cell.coordinates for cell in points.every) else "single images"


def draw(points: Points) -> Figure:
    """A panel for each combination of a point of ``panels`` and one of ``rows``, with lines for each point of ``x``."""
    rows, columns = points.measured("rows"), points.measured("panels")
    lines = points.measured("x")
    combinations = [{**column, **row} for row, column in product(rows, columns)]
    placed, (down, across) = figures.arrange(combinations, max(2, min(3, len(columns))))
    subtitle = f"Share of {_of(points)} at or below each value of: {noted.measures(points)}"
    of_cell = dict(iter(points.table("distribution").groupby("coordinates")))
    looks: list[dict[str, Any]] = [
        {"color": style.COLOURS[at % len(style.COLOURS)], "linestyle": style.DASHES[at % 4]}
        for at in range(len(lines))
    ]
    legend = {
        points.named(x, "x"): Line2D([], [], **look) for x, look in zip(lines, looks, strict=True)
    }
    height, inches = PANEL * down + 0.51, figures.WIDTH / across - 0.5
    figure, _, panels = figures.drawing(points, placed, subtitle, height, inches, legend)
    along: dict[Measure, dict[Axes, list[float]]] = {}
    """The values along the axis of each panel, by their measure."""
    for (row, column), axis in panels.items():
        cells = [points.at(placed[row, column], x) for x in lines]
        drawn = [
            (of_cell[cell.text], look)
            for cell, look in zip(cells, looks, strict=True)
            if cell.text in of_cell
        ]
        for table, look in drawn:
            for _, run in table.groupby("seed"):
                axis.plot(run["value"], 100 * run["quantile"], **look)
        if not drawn:
            figures.blank(axis, cells)
            continue
        values = list(chain.from_iterable(table["value"] for table, _ in drawn))
        along.setdefault(cells[0].measure, {})[axis] = values
        axis.set_ylabel(f"{_of(points)} (%)" if column == 0 else "")
        axis.set_xlabel(cells[0].label if (row + 1, column) not in placed else "")
    for measure, of_axes in along.items():  # one quantity has one kind of axis
        spread = (
            figures.logarithmic(list(chain.from_iterable(of_axes.values()))) and not measure.bounded
        )
        for axis in of_axes if spread else ():
            axis.set_xscale("log")
            figures.log_ticks(axis.xaxis)
    return figure
