"""Distributions of a probe's values over single images, side by side."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hypersphere.report import drawn, labels, notes, panels, style, words, writer
from hypersphere.report.points import SINGLE, Point, Points
from hypersphere.report.shown import Context, Shown
from hypersphere.wording import counted

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
IMAGES = ("distribution.csv",)
FORMATS = ("svg", "png", "csv")

COLUMNS = ("seed", "run", "quantile", "value")
FIELDS = (*SINGLE, *COLUMNS, "scale")
PANEL = 2.0
"""Inches: the height of a panel."""
VIOLIN, BESIDE = 0.42, 0.7
"""Inches: the smallest width of a violin with its margin, and the width of the labels beside a panel."""


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    drawn.write(
        context, lambda: draw(points), writer.as_csv(FIELDS, points.single(points.tables.distribution, COLUMNS))
    )


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    return drawn.shown(points, _notes(points))


def _notes(points: Points) -> tuple[str, ...]:
    levels = points.tables.distribution["quantile"].nunique()
    text = (
        f"Violins: {notes.measured(points)}, of {_of(points)}: {counted(levels, 'quantile')} of each run, all "
        "seeds together, between the smallest and the largest value; dashed: quartiles."
    )
    return notes.of(points, text)


def _of(points: Points) -> str:
    return "pairs" if any("pairs" in cell.coordinates for cell in points.every) else "single images"


def draw(points: Points) -> Figure:
    """A row of violins for each combination of a point of ``panels`` and a point of ``rows``."""
    placed, down, across, inches, slant = panels.in_rows(points, drawn.WIDTH, VIOLIN, BESIDE)
    height = PANEL * down + (1.1 if slant else 0.5)
    subtitle = f"{notes.measures(points)} of {_of(points)}. Dashed: quartiles"
    figure, part = drawn.of_points(points, subtitle, height)
    axes = part.subplots(down, across, squeeze=False)
    for panel in placed:
        axis = axes[panel.row][panel.column]
        cells = [points.at(panel.point, x) for x in points.axis("x")]
        _panel(axis, points, cells, inches)
        axis.set_title(panels.title(points, panel.point, placed, inches - 0.4), loc="left")
        axis.set_ylabel(labels.measure(str(cells[0].coordinates["measure"])) if panel.measured else "")
        axis.set_xlabel(panels.axis_label(points, "x") if panel.lowest else "")
        axis.tick_params(axis="x", labelbottom=panel.lowest or not slant)
    panels.hide_unused(axes, placed)
    part.align_ylabels(list(axes[:, 0]))
    return figure


def _panel(axis: Axes, points: Points, cells: Sequence[Point], inches: float) -> None:
    table = points.tables.distribution
    places = {cell.text: at for at, cell in enumerate(cells)}
    rows = table[table["coordinates"].isin(list(places))]
    if rows.empty:
        panels.blank(axis)
        axis.set_xticks([])
        return
    values = rows["value"]
    spread = panels.logarithmic(list(values)) and not cells[0].measure.bounded
    import seaborn as sns  # here, because pages read this file too, and seaborn takes seconds to import

    colours = dict(zip(places.values(), sns.color_palette(style.COLOURS, len(cells)), strict=True))
    sns.violinplot(
        x=rows["coordinates"].map(places),
        y=values,
        hue=rows["coordinates"].map(places),
        order=list(places.values()),
        palette=colours,
        legend=False,
        cut=0,
        inner="quart",
        density_norm="width",
        log_scale=(False, spread),
        linewidth=0.8,
        ax=axis,
    )
    if spread:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
    panels.name_ticks(axis, panels.names(points, "x"), inches - BESIDE)
    drawn_cells = set(rows["coordinates"])
    for cell in cells:
        if cell.text not in drawn_cells:
            place: dict[str, Any] = {
                "transform": axis.get_xaxis_transform(),
                "ha": "center",
                "va": "center",
                "color": style.GREY,
            }
            axis.text(places[cell.text], 0.5, words.NOT_RUN.replace(" ", "\n"), fontsize=6.5, **place)
    axis.set_xlim(-0.6, len(cells) - 0.4)
