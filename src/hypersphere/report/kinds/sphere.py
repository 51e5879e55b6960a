"""Points on the unit sphere in space: its two hemispheres side by side, for each point of ``rows`` and ``columns``."""

import math
import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from hypersphere.report import drawn, labels, notes, style, words, writer
from hypersphere.report.points import SINGLE, Point, Points
from hypersphere.report.shown import Context, Shown

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "figures"
IMAGES = ("points.csv",)
FORMATS = ("svg", "png", "csv")

COLUMNS = ("seed", "run", "image", "class", "x", "y", "z")
FIELDS = (*SINGLE, *COLUMNS, "scale")
BESIDE, ABOVE, LEGEND = 0.9, 0.45, 0.35
"""Inches: the names of rows, the headings of columns, and the classes."""
BESIDE_LETTERS = 12
"""Characters of a row's name in a line."""
GAP = 0.12
"""Between the two hemispheres, in radii."""
MOST_CLASSES = 10
"""With more classes, their colours repeat and no legend is drawn."""


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    drawn.write(
        context, lambda: draw(points), writer.as_csv(FIELDS, points.single(points.tables.single_points, COLUMNS))
    )


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    return drawn.shown(points, _notes(points))


def _notes(points: Points) -> tuple[str, ...]:
    text = (
        "Dots: single test images of one pretraining, on both hemispheres (left z ≥ 0, right z < 0, both seen from "
        "outside), in Lambert's projection, which keeps areas. Colours: classes. A rotation of the sphere means "
        f"nothing. In each panel: {notes.measured(points)}, over all test images of all seeds; 0: one direction, 1: "
        "directions that cancel out."
    )
    return notes.of(points, text)


def draw(points: Points) -> Figure:
    """A pair of hemispheres for each row and column."""
    rows, columns = points.axis("rows"), points.axis("columns")
    wide = (drawn.WIDTH - BESIDE) / len(columns)
    high = wide / (2 + GAP / 2) + ABOVE
    subtitle = f"Single test images on both hemispheres. Above each pair of discs: {notes.measures(points)}"
    figure, part = drawn.of_points(points, subtitle, high * len(rows) + LEGEND)
    axes = part.subplots(len(rows), len(columns), squeeze=False)
    paper = points.context.paper
    across, down = ([labels.point(paper, point, labels.varying(axis)) for point in axis] for axis in (columns, rows))
    classes: set[int] = set()
    for place, row in enumerate(rows):
        for at, column in enumerate(columns):
            cell = points.at(row, column)
            classes |= _panel(axes[place][at], points, cell)
            number = words.number(cell.mean, cell.measure.decimals)
            title = f"{across[at]}\n{number}" if place == 0 else number
            axes[place][at].set_title(title, fontsize=8)
        axes[place][0].set_ylabel(
            textwrap.fill(down[place], BESIDE_LETTERS), rotation=0, ha="right", va="center", labelpad=8
        )
    if 1 < len(classes) <= MOST_CLASSES:
        handles = [
            Line2D([], [], color=colour(label), marker="o", linestyle="none", label=str(label))
            for label in sorted(classes)
        ]
        part.legend(handles=handles, loc="outside lower center", ncols=len(handles), title="class", handletextpad=0.1)
    return figure


def colour(label: int) -> str:
    """The colour of a class."""
    return PALETTE[label % len(PALETTE)]


PALETTE = (*style.COLOURS, "#F0E442", "#882255", "#999933")
"""Ten colours that colour-blind readers can tell apart as far as ten can be."""


def _panel(axis: Axes, points: Points, cell: Point) -> set[int]:
    """Draw one cell, and return the classes in it."""
    table = points.tables.single_points
    table = table[table["coordinates"] == cell.text]
    centres = (-1 - GAP / 2, 1 + GAP / 2)
    for centre in centres:
        axis.add_patch(Circle((centre, 0), 1, facecolor="#F6F6F6", edgecolor=style.GREY, linewidth=0.7))
    axis.set(xlim=(-2.15, 2.15), ylim=(-1.05, 1.05), aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)
    for side in axis.spines.values():
        side.set_visible(False)
    if table.empty:
        axis.text(0, 0, words.NOT_RUN, ha="center", va="center", color=style.GREY, fontsize=7)
        return set()
    rows = table[["x", "y", "z", "class"]].to_dict("records")
    flat = [(hemisphere(row["x"], row["y"], row["z"]), centres[row["z"] < 0]) for row in rows]
    kinds = [int(row["class"]) for row in rows]
    axis.scatter(
        [x + centre for (x, _), centre in flat],
        [y for (_, y), _ in flat],
        s=4,
        c=[colour(label) for label in kinds],
        linewidths=0,
        alpha=0.8,
    )
    return set(kinds)


def hemisphere(x: float, y: float, z: float) -> tuple[float, float]:
    """Lambert's azimuthal equal-area projection of a point's own hemisphere onto a disc of radius 1.

    The back is seen from behind, so that its x is mirrored. Equal areas of the sphere are equal areas of the discs.
    """
    factor = 1 / math.sqrt(1 + abs(z))
    return math.copysign(1, z) * x * factor, y * factor
