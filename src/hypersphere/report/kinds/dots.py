"""Dots below each other, with their intervals: means, or their differences from a baseline, the largest first."""

import math

from matplotlib.figure import Figure

from hypersphere.report import figures, intervals, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points
from hypersphere.report.intervals import Estimate, Estimates, Mark

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"

COLOUR = style.COLOURS[0]

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    """What dots, rings and intervals are, and which cells have no effect to draw."""
    if not points.artifact.baseline:
        text = f"Dots: {noted.measured(points)}, {noted.over(points)}{_interval(points)}."
        return noted.of(points, text, noted.published(points, "Rings repeat"))
    text = f"Differences from the baseline in {noted.measured(points)}, {noted.over(points)}"
    if noted.several(points):
        text += (
            f", with {words.confidence(points.config)} intervals adjusted for all comparisons of the figure (Holm). "
            "Filled: the interval excludes zero. Without an interval: a single run, or one wider than the measure's "
            "range"
        )
    silent = [
        name for name, cell in _named(points) if not cell.is_baseline and math.isnan(cell.gain)
    ]
    return noted.of(points, f"{text}.", f"Not measured: {', '.join(silent)}." if silent else "")


def _interval(points: Points) -> str:
    return (
        f", with its {words.confidence(points.config)} t interval" if noted.several(points) else ""
    )


def _sections(points: Points) -> dict[str, list[tuple[str, Point]]]:
    """Names and cells for each point of ``rows`` and of ``panels``, by its name. Of means, only those that were run."""
    keys = (*words.varying(points.axis("panels")), *words.varying(points.axis("rows")))
    lines = points.axis("x") if points.artifact.baseline else points.measured("x")
    found = {}
    for row in points.measured("rows"):
        for panel in points.measured("panels"):
            cells = [(points.named(x, "x"), points.at(panel, row, x)) for x in lines]
            found[points.called({**panel, **row}, keys)] = cells
    return found


def _named(points: Points) -> list[tuple[str, Point]]:
    """Every cell with its name in full."""
    found = []
    for title, cells in _sections(points).items():
        found += [(f"{title}, {name}" if title else name, cell) for name, cell in cells]
    return found


def draw(points: Points) -> Figure:
    """Effects, with a line at zero, or means: a section for each point of ``rows`` and of ``panels``."""
    of_effects = points.artifact.baseline is not None
    subtitle, label = (
        f"{noted.measures(points)}: {noted.over(points, 'pretrainings')}{_interval(points)}",
        points.every[0].label,
    )
    if of_effects:
        subtitle, label = (
            f"{noted.measures(points)}: difference from the baseline",
            f"{label}, difference",
        )
        baselines = [f"{name}: {cell.ours}" for name, cell in _named(points) if cell.is_baseline]
        subtitle += f", {baselines[0]}" if len(baselines) == 1 else ""
    sections = []
    for title, cells in _sections(points).items():
        if of_effects:
            cells = sorted(
                (one for one in cells if math.isfinite(one[1].gain)), key=lambda one: -one[1].gain
            )
        rows = []
        for name, cell in cells:
            if of_effects:
                said, ends = f"n = {cell.count('n')}", cell.interval
                marks = [Mark(cell.gain, COLOUR, hollow=not (ends[0] > 0 or ends[1] < 0))]
            else:  # with a ring around the mean where the document prints one
                said = cell.ours if math.isnan(cell.mean) else cell.mean_text
                ends = cell.ends
                marks = [
                    Mark(cell.published, "black", hollow=True, size=6.5),
                    Mark(cell.mean, COLOUR),
                ]
            rows.append(Estimate(name, said, marks, COLOUR, ends))
        sections.append(Estimates(title, rows))
    frame = figures.Frame(points.artifact.title, subtitle, noted.small(points))
    return intervals.draw(frame, sections, label, zero=of_effects)
