"""Dots below each other, with their intervals: means, or their differences from a baseline, the largest first."""

import math
from collections.abc import Sequence
from itertools import starmap

from matplotlib.figure import Figure

from hypersphere.report import intervals, panels, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points
from hypersphere.report.intervals import Estimate, Estimates, Mark

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"

COLOUR = style.COLOURS[0]
HOLM = (
    "adjusted for all comparisons of the figure (Holm). Filled: the interval excludes zero. Without an interval: a "
    "single run, or one wider than the measure's range"
)

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What dots, rings and intervals are, and which cells have no effect to draw."""
    measured = noted.measures_in_full(points)
    shown = f"{measured}, {noted.over(points)}"
    if not points.artifact.baseline:
        text = f"Dots: {shown}{_interval(points)}."
        return noted.of(points, text, noted.published_source(points, "Rings repeat"))
    text = f"Differences from the baseline in {shown}"
    if noted.several(points):
        confidence = words.confidence(points.config)
        text += f", with {confidence} intervals {HOLM}"
    silent = []
    for name, cell in _in_full(points):
        if math.isnan(cell.gain) and not cell.is_baseline:
            silent.append(name)
    unmeasured = f"Not measured: {', '.join(silent)}." if silent else ""
    return noted.of(points, f"{text}.", unmeasured)


def _interval(points: Points) -> str:
    """What is drawn of the spread over seeds."""
    if not noted.several(points):
        return ""
    return f", with its {words.confidence(points.config)} t interval"


def _sections(points: Points) -> dict[str, list[tuple[str, Point]]]:
    """Names and cells for each point of ``rows`` and of ``panels``, by its name. Of means, only those that were run."""
    keys = panels.keys(points, ("panels", "rows"))
    lines = points.axis("x") if points.artifact.baseline else points.measured_points("x")
    names = [points.name_of(x, "x") for x in lines]
    sections = {}
    for point in points.combinations("rows", "panels"):
        title = points.name_by(point, keys)
        cells = [points.at(point, x) for x in lines]
        sections[title] = list(zip(names, cells, strict=True))
    return sections


def _in_full(points: Points) -> list[tuple[str, Point]]:
    """Every cell with its name in full."""
    cells = []
    for title, of_section in _sections(points).items():
        for name, cell in of_section:
            in_full = f"{title}, {name}" if title else name
            cells.append((in_full, cell))
    return cells


def draw(points: Points) -> Figure:
    """Effects, with a line at zero, or means: a section for each point of ``rows`` and of ``panels``."""
    of_effects = points.artifact.baseline is not None
    subtitle = noted.measures(points)
    label = points.every[0].label
    if of_effects:
        label += ", difference"
        subtitle += ": difference from the baseline"
        cells = _in_full(points)
        baselines = [f"{name}: {cell.ours}" for name, cell in cells if cell.is_baseline]
        if len(baselines) == 1:
            subtitle += f", {baselines[0]}"
    else:
        pretrainings = noted.over(points, "pretrainings")
        subtitle += f": {pretrainings}{_interval(points)}"
    sections = []
    for title, named in _sections(points).items():
        rows = _effects(named) if of_effects else list(starmap(_mean, named))
        sections.append(Estimates(title, rows))
    frame = panels.frame(points, subtitle)
    return intervals.draw(frame, sections, label, zero=of_effects)


def _effects(cells: Sequence[tuple[str, Point]]) -> list[Estimate]:
    """Differences from the baseline, the largest first; those with an interval that excludes zero are filled."""
    known = [(name, cell) for name, cell in cells if math.isfinite(cell.gain)]
    known.sort(key=lambda named: -named[1].gain)
    rows = []
    for name, cell in known:
        low, high = cell.interval
        excludes_zero = low > 0 or high < 0
        mark = Mark(cell.gain, COLOUR, hollow=not excludes_zero)
        runs = f"n = {cell.count('n')}"
        rows.append(Estimate(name, runs, [mark], COLOUR, cell.interval))
    return rows


def _mean(name: str, cell: Point) -> Estimate:
    """A mean, with a ring around it where the document prints one."""
    number = cell.ours if math.isnan(cell.mean) else cell.mean_text
    ring = Mark(cell.published, "black", hollow=True, size=6.5)
    marks = [ring, Mark(cell.mean, COLOUR)]
    return Estimate(name, number, marks, COLOUR, cell.ends)
