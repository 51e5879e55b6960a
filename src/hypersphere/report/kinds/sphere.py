"""Points on the unit sphere in space, as a map about their own middle, for each point of ``rows`` and ``columns``."""

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from hypersphere.report import figures, panels, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "figures"
IMAGES = ("points.csv",)

BESIDE, ABOVE, LEGEND, LARGEST = 0.9, 0.45, 0.35, 2.0
"""Inches: the names of rows, the headings of columns, the classes, and the widest map."""
BESIDE_LETTERS = 12
"""Characters of a row's name in a line."""
HEMISPHERE, RADIUS = math.sqrt(2), 2.0
"""On the map: the radius of the half of the sphere that is nearer to the middle, and of the whole sphere."""
PALETTE = (*style.COLOURS, "#F0E442", "#882255", "#999933")
"""Ten colours that colour-blind readers can tell apart as far as ten can be. With more classes, they repeat, and no
legend is drawn."""


def numbers(points: Points) -> str:
    """Every image with its place on the sphere."""
    return points.single("points", ("seed", "run", "image", "class", "x", "y", "z"))


def notes(points: Points) -> tuple[str, ...]:
    images = "all test images"
    if noted.several(points):
        images += " of all seeds"
    measured = noted.measures_in_full(points)
    text = (
        "Dots: single test images of one pretraining, on a map of the whole sphere about their mean direction, in "
        "Lambert's projection, which keeps areas; inside the inner circle: the nearer half of the sphere. Colours: "
        f"classes. A rotation of the sphere means nothing. Above each map: {measured}, over {images}; "
        "0: one direction, 1: directions that cancel out."
    )
    return noted.of(points, text)


def draw(points: Points) -> Figure:
    rows, columns = points.axis("rows"), points.axis("columns")
    subtitle = (
        "Single test images on a map of the sphere about their mean direction; inner circle: the nearer half. "
        f"Numbers: {noted.measures(points)}"
    )
    high = min(LARGEST, (figures.WIDTH - BESIDE) / len(columns)) + ABOVE
    height = high * len(rows) + LEGEND
    figure, part = figures.figure_in_frame(panels.frame(points, subtitle), figures.WIDTH, height)
    axes = part.subplots(len(rows), len(columns), squeeze=False)
    dots = points.by_cell("points")
    for (down, right), axis in np.ndenumerate(axes):
        cell = points.at(rows[down], columns[right])
        _draw_map(axis, dots.get(cell.text))
        title = cell.mean_text
        if down == 0:
            title = f"{points.name_of(columns[right], 'columns')}\n{title}"
        axis.set_title(title, fontsize=8)
        if right == 0:
            name = points.name_of(rows[down], "rows")
            axis.set_ylabel(
                textwrap.fill(name, BESIDE_LETTERS),
                rotation=0,
                ha="right",
                va="center",
                labelpad=8,
            )
    classes = sorted(points.table("points")["class"].astype(int).unique())
    handles = []
    for label in classes:
        dot = Line2D(
            [],
            [],
            color=style.nth(PALETTE, label),
            label=str(label),
            marker="o",
            linestyle="none",
        )
        handles.append(dot)
    if 1 < len(classes) <= len(PALETTE):
        part.legend(
            handles=handles,
            loc="outside lower center",
            ncols=len(handles),
            title="class",
            handletextpad=0.1,
        )
    return figure


def _draw_map(axis: Axes, dots: pd.DataFrame | None) -> None:
    """Circles round the half of the sphere and the whole of it, with dots in them if there are any."""
    for radius, line in ((RADIUS, "-"), (HEMISPHERE, ":")):
        circle = Circle(
            (0, 0),
            radius,
            fill=False,
            edgecolor=style.GREY,
            linewidth=0.7,
            linestyle=line,
        )
        axis.add_patch(circle)
    edge = 1.03 * RADIUS
    axis.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xticks=[], yticks=[])
    style.bare(axis)
    if dots is None:
        axis.text(0, 0, words.NOT_RUN, ha="center", va="center", color=style.GREY, fontsize=7)
        return
    x, y = about_their_middle(dots[["x", "y", "z"]].to_numpy()).T
    colours = [style.nth(PALETTE, int(label)) for label in dots["class"]]
    axis.scatter(x, y, s=4, c=colours, linewidths=0, alpha=0.8)


def about_their_middle(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Lambert's azimuthal equal-area map of unit vectors [points, 3], with their mean direction in its middle.

    Equal areas of the sphere are equal areas of the map, whose radius is 2. The angle to the middle keeps its bearing.
    """
    middle = points.mean(axis=0)
    length = np.linalg.norm(middle)
    middle = middle / length if length > 0 else np.array([0.0, 0.0, 1.0])
    least = np.abs(middle).argmin()
    first = np.cross(middle, np.eye(3)[least])
    first /= np.linalg.norm(first)
    second = np.cross(middle, first)
    ahead = points @ middle
    flat: np.ndarray[Any, Any] = points @ np.stack([first, second], axis=1)
    return flat * np.sqrt(2 / np.maximum(1 + ahead, 1e-12))[:, None]
