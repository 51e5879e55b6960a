"""Grids of pictures that a probe chose or made: rows, columns and captions are the probe's, panels are cells."""

import textwrap
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config import registry
from hypersphere.provenance import pictures as png
from hypersphere.report import figures, panels
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False}
FOLDER = "figures"
IMAGES = ("pictures.csv", "pictures.png")

SMALLEST, LARGEST, BETWEEN = 0.27, 0.62, 0.03
"""Inches: the width of a picture, and the gap between two."""
LINE, LETTER, SMALL_LETTER, WIDEST = 0.115, 0.062, 0.056, 0.95
"""Inches: the height of a caption, the width of a letter in labels and in captions, and the widest label of a row."""
LOWEST = 0.5
"""Inches: the least height of a row of panels."""


def numbers(points: Points) -> str:
    """The place and the caption of every picture."""
    return points.single("pictures", ("seed", "run", "row", "column", "caption"))


def notes(points: Points) -> tuple[str, ...]:
    table = points.table("pictures")
    seeds = ", ".join(f"{seed:g}" for seed in sorted(set(table["seed"])))
    of_seeds = f" of seed {seeds}" if seeds else ""
    text = f"Shown: {counted(len(table), 'picture')}{of_seeds}, {_subject(points)}."
    return noted.of(points, text)


def _subject(points: Points) -> str:
    """What the pictures are: in the words of the probe (``PICTURES``), or plain images with their numbers."""
    protocols = points.results.plan.protocols[points.paper.paper]
    subjects = []
    for cell in points.every:
        probe = protocols[points.paper.protocol(points.artifact, cell.coordinates)].probe
        if probe:
            subjects.append(registry.read_constant("probes", probe.name, "PICTURES", ""))
    if any(subjects):
        return "; ".join(filter(None, dict.fromkeys(subjects)))
    numbered = _are_numbers(points.table("pictures")["caption"])
    below = f"; numbers below: {noted.measures(points)}" if numbered else ""
    return f"as the encoder sees images{below}"


def _are_numbers(texts: pd.Series) -> bool:
    return len(texts) > 0 and bool(pd.to_numeric(texts, errors="coerce").notna().all())


def draw(points: Points) -> Figure:
    """A grid of pictures for each combination of a point of ``panels`` and a point of ``rows``."""
    beside = points.axis("panels")
    every = [{**panel, **row} for row, panel in product(points.axis("rows"), beside)]
    grids = {cell: _Grid(table) for cell, table in points.by_cell("pictures").items()}
    combinations = [point for point in every if points.at(point).text in grids] or every[:1]
    most = int(figures.WIDTH / max((grid.least for grid in grids.values()), default=figures.WIDTH))
    most = len(beside) if 1 < len(beside) <= most else max(1, most)
    rows = panels.arranged(combinations, min(most, len(combinations)))
    inches = panels.width(rows) - 0.15
    heights = [LOWEST] * len(rows)
    for at, row in enumerate(rows if grids else ()):
        of_row = [grids[points.at(point).text].height(inches) for point in row]
        heights[at] = max(LOWEST, *of_row)
    subject = _subject(points)
    subtitle = subject[:1].upper() + subject[1:]
    figure, _, drawn = panels.drawing(
        points, rows, subtitle, sum(heights), inches, height_ratios=heights
    )
    if not grids:
        panels.blank(drawn[0].axis, points.every)
        return figure
    stack = png.read(points.checked("pictures.png"))
    for panel in drawn:
        grids[points.at(panel.point).text].draw(panel.axis, stack, inches)
    return figure


class _Grid:
    """The pictures of one cell in rows and columns, each in the order of its first picture."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.rows = list(table["row"].astype(str).unique())
        self.columns = list(table["column"].astype(str).unique())
        self.named = any(self.columns) and not _are_numbers(pd.Series(self.columns))
        """Whether columns have a heading; numbers only count."""
        letters = table["caption"].str.len().max()
        self.caption = LINE if letters else 0.0
        self.beside = min(WIDEST, LETTER * max(map(len, self.rows)) + 0.1)
        widest = max(SMALLEST, SMALL_LETTER * letters + BETWEEN)
        self.least = self.beside + widest * len(self.columns)
        """Inches: the smallest width at which pictures are seen and captions do not meet."""

    def step(self, inches: float) -> tuple[float, float]:
        """Inches from a picture to the next one, to the right and down, in a panel of that width."""
        right = min(LARGEST, (inches - self.beside) / len(self.columns))
        shape = float((self.table["height"] / self.table["width"]).max())
        return right, (right - BETWEEN) * shape + BETWEEN + self.caption

    def height(self, inches: float) -> float:
        """Inches: the height of a panel of that width, with its headings."""
        _, down = self.step(inches)
        return len(self.rows) * down + 0.3 + (0.2 if self.named else 0)

    def draw(self, axis: Axes, stack: np.ndarray[Any, Any], inches: float) -> None:
        """Draw every picture in its place; the axes count inches, downwards."""
        right, down = self.step(inches)
        wide = right - BETWEEN
        for picture in self.table.astype({"top": int, "height": int, "width": int}).itertuples():
            left = self.columns.index(picture.column) * right
            top = self.rows.index(picture.row) * down
            bottom = top + wide * picture.height / picture.width
            pixels = stack[picture.top : picture.top + picture.height, : picture.width]
            axis.imshow(pixels, extent=(left, left + wide, bottom, top), interpolation="nearest")
            look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 6.5}
            axis.text(left + wide / 2, bottom + 0.01, picture.caption, **look)
        axis.set(xlim=(0, right * len(self.columns)), ylim=(down * len(self.rows), 0))
        axis.set(aspect="equal", anchor="NW")
        names = [textwrap.fill(row, int(WIDEST / LETTER)) for row in self.rows]
        middles = np.arange(len(self.rows)) * down + (down - self.caption) / 2
        axis.set_yticks(middles, names, fontsize=7.5)
        axis.set_xticks([])
        if self.named:
            centres = (np.arange(len(self.columns)) + 0.5) * right - BETWEEN / 2
            axis.set_xticks(centres, self.columns, fontsize=7.5)
        axis.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=2)
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
