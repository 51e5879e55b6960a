"""Dots below each other, with their intervals: means, or their differences from a baseline, the largest first."""

import math
from collections.abc import Iterator

from matplotlib.figure import Figure

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.report import figures, intervals, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points
from hypersphere.report.intervals import Mark, Row, Section

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")

COLOUR = style.COLOURS[0]

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What dots, rings and intervals are, and which cells have no effect to draw."""
    if not points.artifact.baseline:
        text = f"Dots: {noted.measured(points)}, mean over independent pretrainings{_interval(points)}."
        return noted.of(points, text, noted.published(points, "Rings repeat"))
    text = (
        f"Differences from the baseline in {noted.measured(points)}, mean over independent pretrainings, with "
        f"{words.confidence(points.config)} intervals adjusted for all comparisons of the figure (Holm). "
        "Filled: the interval excludes zero. Without an interval: a single run, or one wider than the measure's range."
    )
    silent = [name for name, cell in _every(points) if not cell.is_baseline and math.isnan(_effect(cell))]
    return noted.of(points, text, f"Not measured: {', '.join(silent)}." if silent else "")


def _interval(points: Points) -> str:
    several = any(cell.count("n") > 1 for cell in points.every)
    return f", with its {words.confidence(points.config)} t interval" if several else ""


def _places(points: Points) -> Iterator[tuple[str, dict[str, Scalar]]]:
    """The sections: a point of ``rows`` and of ``panels``, with its name."""
    keys = [key for name in ("panels", "rows") for key in words.varying(points.axis(name))]
    for row in points.measured("rows", "panels", "x"):
        for panel in points.measured("panels", "rows", "x"):
            yield points.called({**panel, **row}, keys), {**panel, **row}


def _cells(points: Points, place: Coordinates) -> Iterator[tuple[str, Point]]:
    return ((points.named(x, "x"), points.at(place, x)) for x in points.axis("x"))


def _every(points: Points) -> Iterator[tuple[str, Point]]:
    for title, place in _places(points):
        yield from ((f"{title}, {name}" if title else name, cell) for name, cell in _cells(points, place))


def _effect(cell: Point) -> float:
    return float(cell.effect.get("effect", math.nan))


def draw(points: Points) -> Figure:
    """Effects, with a line at zero, or means: a section for each point of ``rows`` and of ``panels``."""
    of_effects = points.artifact.baseline is not None
    subtitle = f"{noted.measures(points)}: mean over pretrainings{_interval(points)}"
    if of_effects:
        subtitle = f"{noted.measures(points)}: difference from the baseline"
        baselines = [f"{name}: {cell.ours}" for name, cell in _every(points) if cell.is_baseline]
        subtitle += f", {baselines[0]}" if len(baselines) == 1 else ""
    rows = _effects if of_effects else _means
    sections = [Section(title, rows(points, place)) for title, place in _places(points)]
    frame = figures.Frame(points.artifact.title, subtitle, noted.small(points))
    label = points.every[0].label + (", difference" if of_effects else "")
    return intervals.drawn(frame, sections, label, zero=of_effects)


def _effects(points: Points, place: Coordinates) -> list[Row]:
    known = [(name, cell) for name, cell in _cells(points, place) if math.isfinite(_effect(cell))]
    rows = []
    for name, cell in sorted(known, key=lambda one: -_effect(one[1])):
        low, high = cell.interval
        mark = Mark(_effect(cell), COLOUR, hollow=not (low > 0 or high < 0))
        rows.append(Row(name, f"n = {cell.count('n')}", [mark], COLOUR, (low, high)))
    return rows


def _means(points: Points, place: Coordinates) -> list[Row]:
    """Only what was run. A mean over seeds has a ring around it where the document prints one."""
    rows = []
    for x in points.measured("x", "panels", "rows"):
        cell = points.at(place, x)
        marks = [Mark(cell.published, "black", hollow=True, size=6.5), Mark(cell.mean, COLOUR)]
        said = cell.ours if math.isnan(cell.mean) else cell.mean_text
        rows.append(Row(points.named(x, "x"), said, marks, COLOUR, (cell.number("low"), cell.number("high"))))
    return rows
