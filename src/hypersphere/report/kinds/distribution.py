"""Distributions of a probe's values over single images, side by side."""

from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
IMAGES = ("distribution.csv",)
FORMATS = ("svg", "png", "csv")

PIECES = figures.Pieces(height=2.0, width=0.42, beside=0.7)


def numbers(points: Points) -> str:
    """Every quantile of every run."""
    return points.single("distribution", ("seed", "run", "quantile", "value"))


def notes(points: Points) -> tuple[str, ...]:
    """What violins are."""
    levels = points.table("distribution")["quantile"].nunique()
    text = (
        f"Violins: {noted.measured(points)}, of {_of(points)}: {counted(levels, 'quantile')} of each run, all "
        "seeds together, between the smallest and the largest value; dashed: quartiles."
    )
    return noted.of(points, text)


def _of(points: Points) -> str:
    return "pairs" if any("pairs" in cell.coordinates for cell in points.every) else "single images"


def draw(points: Points) -> Figure:
    """Panels of violins."""
    subtitle = f"{noted.measures(points)} of {_of(points)}. Dashed: quartiles"
    return figures.in_pieces(points, subtitle, PIECES, partial(_panel, points))


def _panel(points: Points, axis: Axes, cells: list[Point]) -> bool:
    table = points.table("distribution")
    places = {cell.text: at for at, cell in enumerate(cells)}
    rows = table[table["coordinates"].isin(list(places))]
    if rows.empty:
        return False
    spread = figures.logarithmic(list(rows["value"])) and not cells[0].measure.bounded
    import seaborn as sns  # here, because pages read this file too, and seaborn takes seconds to import

    sns.violinplot(
        x=rows["coordinates"].map(places),
        y=rows["value"],
        hue=rows["coordinates"].map(places),
        order=list(places.values()),
        palette=dict(zip(places.values(), sns.color_palette(style.COLOURS, len(cells)), strict=True)),
        legend=False,
        cut=0,
        inner="quart",
        density_norm="width",
        log_scale=(False, spread),
        linewidth=0.8,
        ax=axis,
    )
    if spread:
        figures.log_ticks(axis)
    look: dict[str, Any] = {"transform": axis.get_xaxis_transform(), "ha": "center", "va": "center", "fontsize": 6.5}
    for name in [name for name in places if name not in set(rows["coordinates"])]:
        axis.text(places[name], 0.5, words.NOT_RUN.replace(" ", "\n"), color=style.GREY, **look)
    return True
