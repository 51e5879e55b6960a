"""A heat map: one coordinate in rows, one in columns, and a mean over seeds in each square."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from hypersphere.config.coordinates import Coordinates
from hypersphere.report import drawn, labels, notes, panels, style, words, writer
from hypersphere.report.points import FIELDS, Point, Points
from hypersphere.report.shown import Context, Shown

OF = "runs"
AXES = {"panels": False, "rows": True, "columns": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

SQUARE, BESIDE, HIGH = 0.5, 1.35, 0.34
"""Inches: the smallest width of a square, the width of labels and colour bar, and the height of a square."""
MOST_CONTROLS = 12
"""With more controls, the notes give their range alone."""
EQUAL_CONTRAST = 0.179
"""The relative luminance that has equal contrast with black and white (WCAG 2)."""
COLOURS = "cividis"
"""Perceptually uniform, and the same to colour-blind readers."""


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    drawn.write(context, lambda: draw(points), writer.as_csv(FIELDS, points.rows()))


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    return drawn.shown(points, _notes(points))


def _notes(points: Points) -> tuple[str, ...]:
    text = f"Squares: {notes.measured(points)}, mean over independent pretrainings. Every panel has a colour scale."
    controls = "; ".join(_controls(points))
    printed = notes.published(points, "In parentheses: the numbers of")
    return notes.of(points, " ".join(filter(None, (text, f"Controls: {controls}." if controls else "", printed))))


def _controls(points: Points) -> list[str]:
    """Each control; if there are many, the range of each kind: ``untrained encoder 84.5 to 90.5``."""
    if len(points.controls) <= MOST_CONTROLS:
        return list(dict.fromkeys(_control(points, control) for control in points.controls))
    kinds = dict.fromkeys(str(control.coordinates["variant"]) for control in points.controls)
    said = []
    for kind in kinds:
        own = [control for control in points.controls if control.coordinates["variant"] == kind]
        low, high = (
            words.number(pick(control.mean for control in own), own[0].measure.decimals) for pick in (min, max)
        )
        said.append(f"{words.CONTROLS[kind]} {low} to {high}")
    return said


def _control(points: Points, control: Point) -> str:
    """``raw pixels 41.2 (CIFAR-10)``."""
    name = words.CONTROLS[str(control.coordinates["variant"])]
    rest = {key: value for key, value in control.coordinates.items() if key not in ("method", "variant")}
    keys = [key for key in rest if any(another.coordinates.get(key) != rest[key] for another in points.controls)]
    where = labels.point(points.context.paper, rest, keys)
    return f"{name} {words.number(control.mean, control.measure.decimals)}{f' ({where})' if where else ''}"


def draw(points: Points) -> Figure:
    """A heat map for each panel, with as many in a row as leave room for the numbers."""
    wide, high = len(points.axis("columns")), len(points.axis("rows"))
    combinations = panels.measured(points, "panels", ("rows", "columns"))
    placed = panels.arrange(
        combinations, max(1, min(len(combinations), int(drawn.WIDTH / (SQUARE * wide + BESIDE)), 3))
    )
    down, across = panels.size(placed)
    inches = drawn.WIDTH / across
    height = down * (HIGH * high + 0.9) + 0.4
    printed = ". In parentheses: the published number" if any(cell.beside for cell in points.every) else ""
    figure, part = drawn.of_points(points, f"{notes.measures(points)}: mean over pretrainings{printed}", height)
    axes = part.subplots(down, across, squeeze=False)
    for panel in placed:
        axis = axes[panel.row][panel.column]
        _panel(part, axis, points, panel.point, inches)
        if panel.point:
            axis.set_title(panels.title(points, panel.point, placed, inches - 0.6), loc="left")
    panels.hide_unused(axes, placed)
    return figure


def _panel(part: SubFigure, axis: Axes, points: Points, panel: Coordinates, inches: float) -> None:
    cells = [[points.at(panel, row, column) for column in points.axis("columns")] for row in points.axis("rows")]
    size = max(6.5, min(8.0, 15 * (inches - BESIDE) / len(cells[0])))
    if all(math.isnan(cell.mean) for line in cells for cell in line):
        panels.blank(axis)
        axis.set_xticks([])
        return
    means, texts = (_frame([[read(cell) for cell in line] for line in cells]) for read in (_mean, _text))
    look = {"cmap": COLOURS, "linewidths": 0.6, "linecolor": "white", "annot_kws": {"size": size}}
    bar = {"label": labels.measure(str(cells[0][0].coordinates["measure"])), "aspect": 18, "pad": 0.02}
    import seaborn as sns  # here, because pages read this file too, and seaborn takes seconds to import

    sns.heatmap(means, ax=axis, annot=texts, fmt="", cbar_kws=bar, **look)
    _contrast(axis)
    axis.set_facecolor("#EFEFEF")
    axis.grid(visible=False)
    for down, line in enumerate(cells):
        for right, cell in enumerate(line):
            if math.isnan(cell.mean):
                place: dict[str, Any] = {"ha": "center", "va": "center", "color": style.GREY, "linespacing": 1.0}
                axis.text(right + 0.5, down + 0.5, cell.ours.replace(" ", "\n"), fontsize=6.5, **place)
    panels.name_ticks(axis, panels.names(points, "columns"), inches - BESIDE, 0.5)
    axis.set_yticks([at + 0.5 for at in range(len(cells))], panels.names(points, "rows"), rotation=0)
    axis.tick_params(length=0)
    axis.set_xlabel(panels.axis_label(points, "columns"))
    name = panels.axis_label(points, "rows")
    level: dict[str, Any] = {"rotation": 0, "va": "center", "ha": "right"}
    axis.set_ylabel(name, **(level if len(name) < 3 else {}))


def _contrast(axis: Axes) -> None:
    """Black or white numbers, whichever has more contrast by WCAG 2 (seaborn's own rule differs)."""
    from seaborn.utils import relative_luminance

    mesh = axis.collections[0]
    wide = round(axis.get_xlim()[1])
    for text in axis.texts:
        right, down = text.get_position()
        colour = mesh.get_facecolor()[int(down) * wide + int(right)]
        text.set_color("black" if relative_luminance(colour) > EQUAL_CONTRAST else "white")


def _frame(values: Sequence[Sequence[float | str]]) -> pd.DataFrame:
    return pd.DataFrame([list(line) for line in values])


def _mean(cell: Point) -> float:
    return cell.mean


def _text(cell: Point) -> str:
    """``83.2``, and below it the printed number: ``(81.9)``."""
    printed = f"\n({cell.printed})" if cell.beside else ""
    return words.number(cell.mean, cell.measure.decimals) + printed
