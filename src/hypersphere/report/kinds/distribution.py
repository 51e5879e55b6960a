"""Distributions of a probe's values over single images or pairs: the share at or below each value."""

from collections import defaultdict

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.report import notes as noted
from hypersphere.report import panels, style
from hypersphere.report.artifact import Points
from hypersphere.wording import count_of

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
    quantiles = points.table("distribution")["quantile"]
    levels = count_of(quantiles.nunique(), "quantile")
    measured = noted.measures_in_full(points)
    text = f"Lines: the share at or below each value of {measured}, of {_subjects(points)}"
    return noted.of(points, f"{text}: {levels} of each run, a line for each seed.")


def _subjects(points: Points) -> str:
    """What has a value each."""
    of_pairs = any("pairs" in cell.coordinates for cell in points.every)
    return "pairs" if of_pairs else "single images"


def draw(points: Points) -> Figure:
    """A panel for each combination of a point of ``panels`` and one of ``rows``, with lines for each point of ``x``."""
    columns = len(points.measured_points("panels"))
    most = max(2, min(3, columns))
    rows = panels.arrange(points.combinations("rows", "panels"), most)
    legend, looks = {}, []
    for at, x in enumerate(points.measured_points("x")):
        look = {
            "color": style.nth(style.COLOURS, at),
            "linestyle": style.nth(style.DASHES, at),
        }
        looks.append(look)
        name = points.name_of(x, "x")
        legend[name] = Line2D([], [], **look)
    subjects = _subjects(points)
    subtitle = f"Share of {subjects} at or below each value of: {noted.measures(points)}"
    height = PANEL * len(rows) + 0.51
    inches = panels.width(rows) - 0.5
    figure, _, drawn = panels.drawing(points, rows, subtitle, height, inches, legend)
    of_cell = points.by_cell("distribution")
    by_measure = defaultdict(list)
    for panel in drawn:
        axis = panel.axis
        cells = points.array("x", at=panel.point)
        for cell, look in zip(cells, looks, strict=True):
            if cell.text in of_cell:
                for _, run in of_cell[cell.text].groupby("seed"):
                    share = 100 * run["quantile"]
                    axis.plot(run["value"], share, **look)
        if not axis.lines:
            panels.blank(axis, cells)
            continue
        by_measure[cells[0].measure].append(axis)
        if panel.at_left is None:
            axis.set_ylabel(f"{subjects} (%)")
        if panel.below is None:
            axis.set_xlabel(cells[0].label)
    for measure, axes in by_measure.items():  # one quantity has one kind of axis
        ends = np.ravel([axis.dataLim.intervalx for axis in axes])
        if panels.logarithmic(ends) and not measure.bounded:
            for axis in axes:
                axis.set_xscale("log")
                style.log_ticks(axis.xaxis)
    return figure
