"""Grids of pictures that a probe chose or made: rows, columns and captions are the probe's, panels are cells."""

import textwrap
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config import registry
from hypersphere.provenance import pictures as png
from hypersphere.report import figures
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False}
FOLDER = "figures"
IMAGES = ("pictures.csv", "pictures.png")
FORMATS = ("svg", "png", "csv")

SMALLEST, LARGEST, BETWEEN = 0.27, 0.62, 0.03
"""Inches: the width of a picture, and the gap between two."""
LINE, LETTER, SMALL_LETTER, WIDEST = 0.115, 0.062, 0.056, 0.95
"""Inches: the height of a caption, the width of a letter in labels and in captions, and the widest label of a row."""


def numbers(points: Points) -> str:
    """The place and the caption of every picture."""
    return points.single("pictures", ("seed", "run", "row", "column", "caption"))


def notes(points: Points) -> tuple[str, ...]:
    """What the pictures are."""
    table = points.table("pictures")
    seeds = ", ".join(f"{seed:g}" for seed in sorted(set(table["seed"])))
    of = f" of seed {seeds}" if seeds else ""
    return noted.of(points, f"Shown: {counted(len(table), 'picture')}{of}, {_what(points)}.")


def _what(points: Points) -> str:
    """What the pictures are: in the words of the probe (``PICTURES``), or plain images with their numbers."""
    paper, plan = points.paper, points.results.plan
    named = dict.fromkeys(paper.protocol(points.artifact, cell.coordinates) for cell in points.every)
    probes = [plan.protocols[paper.paper][name].probe for name in named]
    said = [registry.read_constant("probes", probe.name, "PICTURES", "") for probe in probes if probe]
    if any(said):
        return "; ".join(dict.fromkeys(filter(None, said)))
    numeric = _numeric(points.table("pictures")["caption"])
    return "as the encoder sees images" + (f"; numbers below: {noted.measures(points)}" if numeric else "")


def _numeric(texts: pd.Series) -> bool:
    return bool(len(texts)) and bool(pd.to_numeric(texts, errors="coerce").notna().all())


def draw(points: Points) -> Figure:
    """A grid of pictures for each combination of a point of ``panels`` and a point of ``rows``."""
    every = [{**panel, **row} for row in points.axis("rows") for panel in points.axis("panels")]
    of_cell = dict(iter(points.table("pictures").groupby("coordinates")))
    combinations = [point for point in every if points.at(point).text in of_cell] or every[:1]
    grids = [_Grid(of_cell[points.at(point).text]) for point in combinations if of_cell]
    most = max(1, int(figures.WIDTH / max([grid.least for grid in grids], default=figures.WIDTH)))
    beside = len(points.axis("panels"))
    placed = figures.arrange(combinations, min(beside if 1 < beside <= most else most, len(combinations)))
    down, across = figures.size(placed)
    inches = figures.WIDTH / across - 0.15
    heights = [0.5] * down
    for panel, grid in zip(placed, grids, strict=False):
        heights[panel.row] = max(heights[panel.row], grid.size(inches)[1] + 0.3 + (0.2 if grid.named else 0))
    what = _what(points)
    subtitle = what[:1].upper() + what[1:]
    made = figures.drawing(points, placed, subtitle, sum(heights), inches, height_ratios=heights)
    if not grids:
        figures.blank(made.panels[0][1], points.every)
        return made.figure
    stack = png.read(points.checked("pictures.png"))
    for grid, (_, axis) in zip(grids, made.panels, strict=True):
        grid.draw(axis, stack, inches)
    return made.figure


class _Grid:
    """The pictures of one cell in rows and columns, each in the order of its first picture."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.rows: list[str] = list(dict.fromkeys(table["row"]))
        self.columns: list[str] = list(dict.fromkeys(table["column"]))
        self.named = any(self.columns) and not _numeric(pd.Series(self.columns))
        """Whether columns have a heading; numbers only count."""
        self.beside = min(WIDEST, LETTER * max(map(len, self.rows)) + 0.1)
        self.shape = float((table["height"] / table["width"]).max())
        self.caption = LINE if any(table["caption"]) else 0.0
        letters = max(map(len, table["caption"]))
        self.least = self.beside + max(SMALLEST, SMALL_LETTER * letters + BETWEEN) * len(self.columns)
        """Inches: the smallest width at which pictures are seen and captions do not meet."""

    def size(self, inches: float) -> tuple[float, float, float]:
        """Inches: the width of the grid, its height, and the width of a picture, in a panel of that width."""
        width = min(LARGEST, (inches - self.beside) / len(self.columns))
        high = (width - BETWEEN) * self.shape + BETWEEN + self.caption
        return width * len(self.columns), high * len(self.rows), width

    def draw(self, axis: Axes, stack: Any, inches: float) -> None:
        """Draw every picture in its place; the axes count inches, downwards."""
        wide, high, step = self.size(inches)
        line = high / len(self.rows)
        for picture in self.table.to_dict("records"):
            left, top = self.columns.index(picture["column"]) * step, self.rows.index(picture["row"]) * line
            first, height, width = (int(picture[name]) for name in ("top", "height", "width"))
            place = (left, left + step - BETWEEN, top + (step - BETWEEN) * height / width, top)
            axis.imshow(stack[first : first + height, :width], extent=place, interpolation="nearest")
            middle = left + (step - BETWEEN) / 2
            axis.text(middle, place[2] + 0.01, picture["caption"], ha="center", va="top", fontsize=6.5)
        axis.set(xlim=(0, wide), ylim=(high, 0), aspect="equal", anchor="NW")
        centres = [step * (at + 0.5) - BETWEEN / 2 for at in range(len(self.columns))]
        middles = [line * at + (line - self.caption) / 2 for at in range(len(self.rows))]
        rows = [textwrap.fill(row, int(WIDEST / LETTER)) for row in self.rows]
        axis.set_yticks(middles, rows, fontsize=7.5)
        axis.set_xticks(centres if self.named else [], self.columns if self.named else [], fontsize=7.5)
        axis.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=2)
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
