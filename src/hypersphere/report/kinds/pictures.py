"""Grids of pictures that a probe chose or made: rows, columns and captions are the probe's, panels are cells."""

import textwrap
from itertools import product
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

SMALLEST, LARGEST, BETWEEN = 0.27, 0.62, 0.03
"""Inches: the width of a picture, and the gap between two."""
LINE, LETTER, SMALL_LETTER, WIDEST = 0.115, 0.062, 0.056, 0.95
"""Inches: the height of a caption, the width of a letter in labels and in captions, and the widest label of a row."""


def numbers(points: Points) -> str:
    """The place and the caption of every picture."""
    return points.single("pictures", ("seed", "run", "row", "column", "caption"))


def notes(points: Points) -> tuple[str, ...]:
    table = points.table("pictures")
    seeds = ", ".join(f"{seed:g}" for seed in sorted(set(table["seed"])))
    of = f" of seed {seeds}" if seeds else ""
    return noted.of(points, f"Shown: {counted(len(table), 'picture')}{of}, {_what(points)}.")


def _what(points: Points) -> str:
    """What the pictures are: in the words of the probe (``PICTURES``), or plain images with their numbers."""
    protocols = points.results.plan.protocols[points.paper.paper]
    named = dict.fromkeys(
        points.paper.protocol(points.artifact, cell.coordinates) for cell in points.every
    )
    probes = [protocols[name].probe for name in named]
    said = [
        registry.read_constant("probes", probe.name, "PICTURES", "") for probe in probes if probe
    ]
    numbered = (
        f"; numbers below: {noted.measures(points)}"
        if _numeric(points.table("pictures")["caption"])
        else ""
    )
    return "; ".join(dict.fromkeys(filter(None, said))) or f"as the encoder sees images{numbered}"


def _numeric(texts: pd.Series) -> bool:
    return bool(len(texts)) and bool(pd.to_numeric(texts, errors="coerce").notna().all())


def draw(points: Points) -> Figure:
    """A grid of pictures for each combination of a point of ``panels`` and a point of ``rows``."""
    every = [{**panel, **row} for row, panel in product(points.axis("rows"), points.axis("panels"))]
    of_cell = dict(iter(points.table("pictures").groupby("coordinates")))
    combinations = [point for point in every if points.at(point).text in of_cell] or every[:1]
    grids = [_Grid(of_cell[points.at(point).text]) for point in combinations if of_cell]
    most = max(1, int(figures.WIDTH / max([grid.least for grid in grids], default=figures.WIDTH)))
    beside = len(points.axis("panels"))
    placed, (down, across) = figures.arrange(
        combinations, min(beside if 1 < beside <= most else most, len(combinations))
    )
    inches = figures.WIDTH / across - 0.15
    heights = [0.5] * down
    for (row, _), grid in zip(placed, grids, strict=False):
        high = len(grid.rows) * grid.step(inches)[1] + 0.3 + (0.2 if grid.named else 0)
        heights[row] = max(heights[row], high)
    what = _what(points)
    subtitle = what[:1].upper() + what[1:]
    figure, _, panels = figures.drawing(
        points, placed, subtitle, sum(heights), inches, height_ratios=heights
    )
    if not grids:
        figures.blank(panels[0, 0], points.every)
        return figure
    stack = png.read(points.checked("pictures.png"))
    for grid, axis in zip(grids, panels.values(), strict=True):
        grid.draw(axis, stack, inches)
    return figure


class _Grid:
    """The pictures of one cell in rows and columns, each in the order of its first picture."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.rows, self.columns = (
            list(dict.fromkeys(map(str, table[of]))) for of in ("row", "column")
        )
        self.named = any(self.columns) and not _numeric(pd.Series(self.columns))
        """Whether columns have a heading; numbers only count."""
        self.beside = min(WIDEST, LETTER * max(map(len, self.rows)) + 0.1)
        letters = max(map(len, table["caption"]))
        self.caption = LINE if letters else 0.0
        self.least = self.beside + max(SMALLEST, SMALL_LETTER * letters + BETWEEN) * len(
            self.columns
        )
        """Inches: the smallest width at which pictures are seen and captions do not meet."""

    def step(self, inches: float) -> tuple[float, float]:
        """Inches from a picture to the next one, to the right and down, in a panel of that width."""
        right = min(LARGEST, (inches - self.beside) / len(self.columns))
        shape = float((self.table["height"] / self.table["width"]).max())
        return right, (right - BETWEEN) * shape + BETWEEN + self.caption

    def draw(self, axis: Axes, stack: Any, inches: float) -> None:
        """Draw every picture in its place; the axes count inches, downwards."""
        right, down = self.step(inches)
        for picture in self.table.to_dict("records"):
            left, top = (
                self.columns.index(picture["column"]) * right,
                self.rows.index(picture["row"]) * down,
            )
            first, height, width = (int(picture[name]) for name in ("top", "height", "width"))
            bottom = top + (right - BETWEEN) * height / width
            pixels, place = (
                stack[first : first + height, :width],
                (left, left + right - BETWEEN, bottom, top),
            )
            axis.imshow(pixels, extent=place, interpolation="nearest")
            look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 6.5}
            axis.text(left + (right - BETWEEN) / 2, bottom + 0.01, picture["caption"], **look)
        limits = {"xlim": (0, right * len(self.columns)), "ylim": (down * len(self.rows), 0)}
        axis.set(**limits, aspect="equal", anchor="NW")
        centres = [right * (at + 0.5) - BETWEEN / 2 for at in range(len(self.columns))]
        middles = [down * at + (down - self.caption) / 2 for at in range(len(self.rows))]
        axis.set_yticks(
            middles, [textwrap.fill(row, int(WIDEST / LETTER)) for row in self.rows], fontsize=7.5
        )
        axis.set_xticks(
            centres if self.named else [], self.columns if self.named else [], fontsize=7.5
        )
        axis.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=2)
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
