"""Grids of pictures that a probe chose or made: rows, columns and captions are the probe's, panels are cells."""

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config import coordinates, registry
from hypersphere.config.coordinates import Coordinates
from hypersphere.report import drawn, labels, notes, panels, writer
from hypersphere.report.points import SINGLE, Points
from hypersphere.report.shown import Context, Shown
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False}
FOLDER = "figures"
IMAGES = ("pictures.csv", "pictures.png")
FORMATS = ("svg", "png", "csv")

COLUMNS = ("seed", "run", "row", "column", "caption")
FIELDS = (*SINGLE, *COLUMNS, "scale")
SMALLEST, LARGEST, BETWEEN = 0.27, 0.62, 0.03
"""Inches: the width of a picture, and the gap between two."""
LINE, LETTER, SMALL_LETTER, WIDEST = 0.115, 0.062, 0.056, 0.95
"""Inches: the height of a caption, the width of a letter in labels and in captions, and the widest label of a row."""


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    rows = points.single(points.tables.pictures, COLUMNS)
    drawn.write(context, lambda: draw(points), writer.as_csv(FIELDS, rows))


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    return drawn.shown(points, _notes(points))


def _notes(points: Points) -> tuple[str, ...]:
    table = points.tables.pictures
    seeds = ", ".join(f"{seed:g}" for seed in sorted(set(table["seed"])))
    of = f" of seed {seeds}" if seeds else ""
    return notes.of(points, f"Shown: {counted(len(table), 'picture')}{of}, {_what(points)}.")


def _what(points: Points) -> str:
    """What the pictures are: in the words of the probe (``PICTURES``), or plain images with their numbers."""
    paper, plan = points.context.paper, points.context.results.plan
    named = dict.fromkeys(paper.protocol(points.artifact, cell.coordinates) for cell in points.every)
    probes = [plan.protocols[paper.paper][name].probe for name in named]
    said = [registry.read_constant("probes", probe.name, "PICTURES", "") for probe in probes if probe]
    if any(said):
        return "; ".join(dict.fromkeys(filter(None, said)))
    measures = dict.fromkeys(labels.measure(str(cell.coordinates["measure"])) for cell in points.every)
    numbers = f"; numbers below: {', '.join(measures)}" if _numeric(points.tables.pictures["caption"]) else ""
    return f"as the encoder sees images{numbers}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _numeric(texts: pd.Series) -> bool:
    return bool(len(texts)) and bool(pd.to_numeric(texts, errors="coerce").notna().all())


def _of(points: Points, cell: Coordinates) -> pd.DataFrame:
    """The pictures of a cell."""
    table = points.tables.pictures
    return table[table["coordinates"] == coordinates.text(cell)]


def draw(points: Points) -> Figure:
    """A grid of pictures for each combination of a point of ``panels`` and a point of ``rows``."""
    every = [{**panel, **row} for row in points.axis("rows") for panel in points.axis("panels")]
    with_pictures = [point for point in every if len(_of(points, points.at(point).coordinates))]
    grids = [_Grid(_of(points, points.at(point).coordinates)) for point in with_pictures]
    wide = max([grid.least for grid in grids], default=drawn.WIDTH)
    most = max(1, int(drawn.WIDTH / wide))
    beside = len(points.axis("panels"))
    combinations = with_pictures or every[:1]
    placed = panels.arrange(combinations, min(beside if 1 < beside <= most else most, len(combinations)))
    down, across = panels.size(placed)
    inches = drawn.WIDTH / across - 0.15
    heights = [0.5] * down
    for panel, grid in zip(placed, grids, strict=False):
        heights[panel.row] = max(heights[panel.row], grid.size(inches)[1] + 0.3 + (0.2 if grid.named else 0))
    figure, part = drawn.of_points(points, _sentence(_what(points)), sum(heights))
    axes = part.subplots(down, across, squeeze=False, gridspec_kw={"height_ratios": heights})
    for panel in placed:
        axis = axes[panel.row][panel.column]
        axis.set_title(panels.title(points, panel.point, placed, inches), loc="left")
        if not grids:
            panels.blank(axis)
            axis.set_xticks([])
    for panel, grid in zip(placed, grids, strict=False):
        grid.draw(axes[panel.row][panel.column], points.tables.stack, inches)
    panels.hide_unused(axes, placed)
    return figure


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
            axis.text(
                left + (step - BETWEEN) / 2, place[2] + 0.01, picture["caption"], ha="center", va="top", fontsize=6.5
            )
        axis.set(xlim=(0, wide), ylim=(high, 0), aspect="equal", anchor="NW")
        middle = (line - self.caption) / 2
        self._ticks(axis, [line * at + middle for at in range(len(self.rows))], step)

    def _ticks(self, axis: Axes, places: Sequence[float], step: float) -> None:
        letters = int(WIDEST / LETTER)
        axis.set_yticks(places, ["\n".join(textwrap.wrap(row, letters)) for row in self.rows], fontsize=7.5)
        centres = [step * (at + 0.5) - BETWEEN / 2 for at in range(len(self.columns))]
        axis.set_xticks(centres if self.named else [], self.columns if self.named else [], fontsize=7.5)
        axis.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=2)
        axis.grid(visible=False)
        for side in axis.spines.values():
            side.set_visible(False)
