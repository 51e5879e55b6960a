"""Grids of pictures that a probe chose or made: rows, columns and captions are the probe's, panels are cells."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config import registry
from hypersphere.provenance import pictures as png
from hypersphere.report import figures, panels, style
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Points
from hypersphere.wording import count_of

OF = "runs"
AXES = {"panels": False, "rows": False}
FOLDER = "figures"
IMAGES = ("pictures.csv", "pictures.png")

SMALLEST, LARGEST, BETWEEN = 0.27, 0.62, 0.03
"""Inches: the width of a picture, and the gap between two."""
LINE, LETTER, SMALL_LETTER, WIDEST = 0.115, 0.062, 0.056, 0.95
"""Inches: the height of a caption, the width of a letter in labels and in captions, and the widest label of a row."""
AROUND = 0.15
"""Inches: what stands at both sides of a panel."""
LOWEST = 0.5
"""Inches: the height of a panel without pictures."""


def numbers(points: Points) -> str:
    """The place and the caption of every picture."""
    return points.single("pictures", ("seed", "run", "row", "column", "caption"))


def notes(points: Points) -> tuple[str, ...]:
    table = points.table("pictures")
    shown = count_of(len(table), "picture")
    seeds = sorted(set(table["seed"]))
    if seeds:
        listed = ", ".join(f"{seed:g}" for seed in seeds)
        shown += f" of seed {listed}"
    return noted.of(points, f"Shown: {shown}, {_subject(points)}.")


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
    numbers = pd.to_numeric(texts, errors="coerce")
    return len(texts) > 0 and bool(numbers.notna().all())


def draw(points: Points) -> Figure:
    """A grid of pictures for each combination of a point of ``panels`` and a point of ``rows``."""
    subject = _subject(points)
    subtitle = subject[:1].upper() + subject[1:]
    beside = points.axis("panels")
    every = points.combinations("rows", "panels")
    tables = points.by_cell("pictures")
    grids = {cell: _Grid(table) for cell, table in tables.items()}
    if not grids:
        inches = figures.WIDTH - AROUND
        figure, _, (panel,) = panels.drawing(points, [every[:1]], subtitle, LOWEST, inches)
        panels.blank(panel.axis, points.every)
        return figure
    shown = [point for point in every if points.at(point).text in grids]
    least = max(grid.least for grid in grids.values())
    most = int(figures.WIDTH / least) or 1
    if 1 < len(beside) < most:
        most = len(beside)
    rows = panels.arrange(shown, most)
    inches = panels.width(rows) - AROUND
    heights = []
    for row in rows:
        cells = [points.at(point).text for point in row]
        height = max(grids[cell].height(inches) for cell in cells)
        heights.append(height)
    figure, _, drawn = panels.drawing(
        points,
        rows,
        subtitle,
        sum(heights),
        inches,
        height_ratios=heights,
    )
    stack = png.read(points.checked_file("pictures.png"))
    for panel in drawn:
        cell = points.at(panel.point)
        grids[cell.text].draw(panel.axis, stack, inches)
    return figure


class _Grid:
    """The pictures of one cell in rows and columns, each in the order of its first picture."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table.astype({"top": int, "height": int, "width": int})
        self.rows = list(table["row"].unique())
        self.columns = list(table["column"].unique())
        self.named = any(self.columns) and not _are_numbers(table["column"])
        """Whether columns have a heading; numbers only count."""
        letters = table["caption"].str.len().max()
        self.caption = LINE if letters else 0.0
        longest = max(map(len, self.rows))
        self.beside = min(WIDEST, LETTER * longest + 0.1)
        step = max(SMALLEST, SMALL_LETTER * letters + BETWEEN)
        self.least = self.beside + step * len(self.columns)
        """Inches: the smallest width at which pictures are seen and captions do not meet."""

    def step(self, inches: float) -> tuple[float, float]:
        """Inches from a picture to the next one, to the right and down, in a panel of that width."""
        right = min(LARGEST, (inches - self.beside) / len(self.columns))
        shapes = self.table["height"] / self.table["width"]
        down = (right - BETWEEN) * float(shapes.max()) + BETWEEN + self.caption
        return right, down

    def height(self, inches: float) -> float:
        """Inches: the height of a panel of that width, with its headings."""
        _, down = self.step(inches)
        headings = 0.2 if self.named else 0
        return len(self.rows) * down + 0.3 + headings

    def draw(self, axis: Axes, stack: np.ndarray[Any, Any], inches: float) -> None:
        """Draw every picture in its place; the axes count inches, downwards."""
        right, down = self.step(inches)
        wide = right - BETWEEN
        pictures: list[Any] = list(self.table.itertuples())
        for picture in pictures:
            left = self.columns.index(picture.column) * right
            top = self.rows.index(picture.row) * down
            bottom = top + wide * picture.height / picture.width
            end = picture.top + picture.height
            axis.imshow(
                stack[picture.top : end, : picture.width],
                extent=(left, left + wide, bottom, top),
                interpolation="nearest",
            )
            axis.text(
                left + wide / 2,
                bottom + 0.01,
                picture.caption,
                ha="center",
                va="top",
                fontsize=6.5,
            )
        axis.set_xlim(0, right * len(self.columns))
        axis.set_ylim(down * len(self.rows), 0)
        axis.set(aspect="equal", anchor="NW")
        most = int(WIDEST / LETTER)
        names = [textwrap.fill(row, most) for row in self.rows]
        middle = (down - self.caption) / 2
        middles = np.arange(len(names)) * down + middle
        axis.set_yticks(middles, names, fontsize=7.5)
        axis.set_xticks([])
        if self.named:
            steps = np.arange(len(self.columns)) + 0.5
            centres = steps * right - BETWEEN / 2
            axis.set_xticks(centres, self.columns, fontsize=7.5)
        axis.tick_params(
            length=0,
            top=False,
            labeltop=True,
            labelbottom=False,
            pad=2,
        )
        style.bare(axis)
