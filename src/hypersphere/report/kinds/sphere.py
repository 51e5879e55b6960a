"""Points on the unit sphere in space: its two hemispheres side by side, for each point of ``rows`` and ``columns``."""

import math
import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points
from hypersphere.report.results import records

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "figures"
IMAGES = ("points.csv",)
FORMATS = ("svg", "png", "csv")

BESIDE, ABOVE, LEGEND = 0.9, 0.45, 0.35
"""Inches: the names of rows, the headings of columns, and the classes."""
BESIDE_LETTERS = 12
"""Characters of a row's name in a line."""
GAP = 0.12
"""Between the two hemispheres, in radii."""
PALETTE = (*style.COLOURS, "#F0E442", "#882255", "#999933")
"""Ten colours that colour-blind readers can tell apart as far as ten can be. With more classes, they repeat, and no
legend is drawn."""


def numbers(points: Points) -> str:
    """Every image with its place on the sphere."""
    return points.single("points", ("seed", "run", "image", "class", "x", "y", "z"))


def notes(points: Points) -> tuple[str, ...]:
    """What dots and discs are."""
    text = (
        "Dots: single test images of one pretraining, on both hemispheres (left z ≥ 0, right z < 0, both seen from "
        "outside), in Lambert's projection, which keeps areas. Colours: classes. A rotation of the sphere means "
        f"nothing. In each panel: {noted.measured(points)}, over all test images of all seeds; 0: one direction, 1: "
        "directions that cancel out."
    )
    return noted.of(points, text)


def draw(points: Points) -> Figure:
    """A pair of hemispheres for each row and column."""
    rows, columns = points.axis("rows"), points.axis("columns")
    high = (figures.WIDTH - BESIDE) / len(columns) / (2 + GAP / 2) + ABOVE
    subtitle = f"Single test images on both hemispheres. Above each pair of discs: {noted.measures(points)}"
    figure, part = figures.of_points(points, subtitle, high * len(rows) + LEGEND)
    axes = part.subplots(len(rows), len(columns), squeeze=False)
    classes: set[int] = set()
    for down, row in enumerate(rows):
        for right, column in enumerate(columns):
            cell, axis = points.at(row, column), axes[down][right]
            classes |= _panel(axis, points, cell)
            above = [points.named(column, "columns")] if down == 0 else []
            axis.set_title("\n".join([*above, cell.mean_text]), fontsize=8)
        name = textwrap.fill(points.named(row, "rows"), BESIDE_LETTERS)
        axes[down][0].set_ylabel(name, rotation=0, ha="right", va="center", labelpad=8)
    if 1 < len(classes) <= len(PALETTE):
        dot: dict[str, Any] = {"marker": "o", "linestyle": "none"}
        handles = [Line2D([], [], color=colour(label), label=str(label), **dot) for label in sorted(classes)]
        part.legend(handles=handles, loc="outside lower center", ncols=len(handles), title="class", handletextpad=0.1)
    return figure


def colour(label: int) -> str:
    """The colour of a class."""
    return PALETTE[label % len(PALETTE)]


def _panel(axis: Axes, points: Points, cell: Point) -> set[int]:
    """Draw one cell, and return the classes in it."""
    table = points.table("points")
    rows = records(table[table["coordinates"] == cell.text])
    centres = (-1 - GAP / 2, 1 + GAP / 2)
    for centre in centres:
        axis.add_patch(Circle((centre, 0), 1, facecolor="#F6F6F6", edgecolor=style.GREY, linewidth=0.7))
    axis.set(xlim=(-2.15, 2.15), ylim=(-1.05, 1.05), aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    if not rows:
        axis.text(0, 0, words.NOT_RUN, ha="center", va="center", color=style.GREY, fontsize=7)
        return set()
    flat = [(hemisphere(row["x"], row["y"], row["z"]), centres[row["z"] < 0]) for row in rows]
    across, up = [x + centre for (x, _), centre in flat], [y for (_, y), _ in flat]
    classes = [int(row["class"]) for row in rows]
    axis.scatter(across, up, s=4, c=list(map(colour, classes)), linewidths=0, alpha=0.8)
    return set(classes)


def hemisphere(x: float, y: float, z: float) -> tuple[float, float]:
    """Lambert's azimuthal equal-area projection of a point's own hemisphere onto a disc of radius 1.

    The back is seen from behind, so that its x is mirrored. Equal areas of the sphere are equal areas of the discs.
    """
    factor = 1 / math.sqrt(1 + abs(z))
    return math.copysign(1, z) * x * factor, y * factor
