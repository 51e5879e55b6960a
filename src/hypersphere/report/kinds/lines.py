"""Lines: a measure against a coordinate, with a panel for each point of ``panels`` (and each measure)."""

import math
from collections.abc import Sequence
from itertools import chain, pairwise, product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from hypersphere.config.coordinates import Coordinates, normal
from hypersphere.config.measures import Measure
from hypersphere.report import figures, style, words
from hypersphere.report import notes as noted
from hypersphere.report.artifact import Point, Points

OF = "runs"
AXES = {"panels": False, "lines": True, "x": True}
FOLDER = "figures"

PANEL = 2.1
"""Inches: the height of a panel."""
LOG_RANGE = 8.0
"""An axis without unit and bounds is logarithmic if its largest mean is at least so many times its smallest."""
BAND_FROM = 3
"""With at least so many seeds the interval is a band; with fewer, or on a logarithmic axis, each seed has a line."""
MOST = 6
"""Lines of a panel that one can tell apart."""
BESIDE, DIGIT, GAP = 0.65, 0.075, 0.09
"""Inches: what stands beside the axis of a panel, a digit of a tick's label, and the least gap between two labels."""
LEVELS: dict[str, Any] = {"pixels": (0, (4, 2)), "untrained": (0, (1, 1.5))}
"""Controls that are drawn as horizontal lines, and their dashes."""
PUBLISHED: dict[str, Any] = {
    "linestyle": "none",
    "markerfacecolor": "none",
    "markersize": 6.0,
    "markeredgewidth": 1.2,
}

Look = dict[str, Any]
"""Colour, marker and dashes of a line."""

numbers = Points.means


def notes(points: Points) -> tuple[str, ...]:
    levels = (
        f"; horizontal lines: {' and '.join(_levels(points).values())}" if _levels(points) else ""
    )
    text = f"Shown: {noted.measured(points)}. Lines: {noted.over(points)}{_spread(points)}{levels}."
    return noted.of(points, text, noted.published(points, "Hollow markers repeat"))


def _spread(points: Points) -> str:
    """What is drawn of the spread over seeds: bands, or single runs."""
    several = [cell for cell in points.every if cell.count("n") > 1]
    bands = (
        f"; bands: {words.confidence(points.config)} t intervals"
        if any(map(_banded, several))
        else ""
    )
    return bands + ("; thin lines: single runs" if not all(map(_banded, several)) else "")


def _banded(cell: Point) -> bool:
    """Whether a cell has a band; any other of several seeds has a thin line for each.

    On a logarithmic axis, which a measure without unit and bounds may have, t intervals would fall off the floor.
    """
    return cell.count("n") >= BAND_FROM and bool(cell.measure.unit or cell.measure.bounded)


def _levels(points: Points) -> dict[str, str]:
    """The drawn controls and their names."""
    measured = {str(control.coordinates["variant"]) for control in points.controls}
    return {kind: words.CONTROLS[kind] for kind in LEVELS if kind in measured}


def draw(points: Points) -> Figure:
    """Panels, with heading, legend and notes outside of them. Panels of one measure on one dataset share an axis y."""
    if not _has_a_line(points):
        return _only_a_sentence(points)
    of_panels, of_lines = _axes(points)
    placed, (down, across) = figures.arrange(
        points.measured(of_panels), 3 if of_panels == "panels" else 4
    )
    inches = figures.WIDTH / across
    places, names, label = figures.ticks(points, "x")
    slant = not places and figures.wrapped(names, inches)[1]
    height = PANEL * down + (1.0 if slant else 0.4)
    lines = points.measured(of_lines)
    looks = _looks(lines)
    legend = _handles(points, of_panels, of_lines, looks)
    figure, _, panels = figures.drawing(
        points, placed, _subtitle(points), height, inches - BESIDE, legend, (of_panels,)
    )
    alike: dict[tuple[Any, ...], list[Axes]] = {}
    for (row, column), axis in panels.items():
        panel = placed[row, column]
        cells = list[list[Point]]()
        for line in lines:
            cells.append([points.at(panel, line, x) for x in points.measured("x")])
        every = list(chain.from_iterable(cells))
        if all(math.isnan(cell.mean) for cell in every):
            figures.blank(axis, every)
        else:
            _panel(axis, points, cells, looks, _across(axis, points, inches))
        alike.setdefault(tuple(panel.get(key) for key in ("measure", *words.DATA)), []).append(axis)
        beside = placed.get((row, column - 1))
        if beside is None or beside.get("measure") != panel.get("measure"):
            axis.set_ylabel(every[0].label)
        if (row + 1, column) not in placed:
            axis.set_xlabel(figures.folded(label, inches - BESIDE))
        elif slant:
            axis.tick_params(axis="x", labelbottom=False)
    for axes in alike.values():
        drawn = [axis for axis in axes if axis.lines]
        ends = list(chain.from_iterable(axis.get_ylim() for axis in drawn))
        for axis in drawn if len({axis.get_yscale() for axis in axes}) == 1 else []:
            axis.set_ylim(min(ends), max(ends))
    return figure


def _axes(points: Points) -> tuple[str, str]:
    """The axis with a point for each panel, and that with one for each line.

    Of more than ``MOST`` lines each gets a panel of its own, with a line for each of what would be the panels.
    """
    panels, lines, every = (points.measured(axis) for axis in ("panels", "lines", "x"))
    most = max(
        sum(any(points.at(panel, line, x).was_run for x in every) for line in lines)
        for panel in panels
    )
    swapped = most > MOST >= len(panels) and "measure" not in words.varying(panels)
    return ("lines", "panels") if swapped else ("panels", "lines")


def _looks(lines: Sequence[Coordinates]) -> list[Look]:
    """The look of each line: colour, marker and dashes, so that no line is known by its colour alone."""
    first = [tuple(line.get(key) for key in words.varying(lines)[:1]) for line in lines]
    groups = list(dict.fromkeys(first))
    by_group = 1 < len(groups) < len(lines)
    looks = []
    # dashes are by the first key that varies (the method), or else each line's own
    for at in range(len(lines)):
        dashes = groups.index(first[at]) if by_group else at
        marker = style.MARKERS[(at + at // len(style.COLOURS)) % len(style.MARKERS)]
        look = {"color": style.COLOURS[at % len(style.COLOURS)], "marker": marker}
        looks.append({**look, "linestyle": style.DASHES[dashes % len(style.DASHES)]})
    return looks


def _subtitle(points: Points) -> str:
    """What is drawn, which values are not, and whether raw pixels are above every encoder."""
    text = f"{noted.measures(points)}. Lines: {noted.over(points, 'pretrainings')}{_spread(points)}"
    return ". ".join(filter(None, (text, figures.unrun(points, "x"), figures.below_pixels(points))))


def _has_a_line(points: Points) -> bool:
    """Whether any line has two values."""
    for panel, line in product(points.measured("panels"), points.measured("lines")):
        means = [points.at(panel, line, x).mean for x in points.measured("x")]
        if sum(map(math.isfinite, means)) > 1:
            return True
    return False


def _only_a_sentence(points: Points) -> Figure:
    """In place of curves of one dot: the title, and that the numbers are in the table beside the figure."""
    said = f"Not drawn: no line has two values at this scale. The numbers are in {points.name}.csv"
    return figures.framed(
        figures.Frame(points.artifact.title, said, noted.small(points)), figures.WIDTH, 0.1
    )[0]


def _handles(
    points: Points, of_panels: str, of_lines: str, looks: Sequence[Look]
) -> dict[str, Line2D]:
    """Entries of the legend: every line, the controls, and the published numbers."""
    lines, last, entries = points.measured(of_lines), points.measured("x")[-1], {}
    _, names, _ = figures.ticks(points, "x")
    for line, look in zip(lines, looks, strict=True):
        ends = [points.at(panel, line, last) for panel in points.axis(of_panels)]
        lost = figures.lost(ends)
        nothing = lost and all(math.isnan(end.mean) for end in ends)
        if not line:  # each panel has one line, which its heading names
            continue
        name = points.called(line, words.varying(lines))
        entries[name + (f" ({lost} at {names[-1]})" if nothing else "")] = Line2D([], [], **look)
    for kind, name in _levels(points).items():
        entries[name] = Line2D([], [], color=style.GREY, linestyle=LEVELS[kind], linewidth=1.1)
    if any(math.isfinite(cell.published) for cell in points.every):
        entries["published"] = Line2D([], [], marker="o", markeredgecolor=style.GREY, **PUBLISHED)
    return entries


def _panel(
    axis: Axes, points: Points, cells: list[list[Point]], looks: list[Look], x: list[float]
) -> None:
    """Draw the cells of each line, and its controls below them."""
    for kind in LEVELS:
        _controls(axis, points, kind, cells, looks, x)
    for row, look in zip(cells, looks, strict=True):
        _line(axis, points, row, look, x)
    of_lines = tuple(axis.dataLim.intervaly)  # which the bands widen
    for row, look in zip(cells, looks, strict=True):
        _band(axis, row, look, x)
    _set_y(axis, cells[0][0].measure, of_lines, axis.dataLim.intervaly)


def _controls(
    axis: Axes,
    points: Points,
    kind: str,
    cells: list[list[Point]],
    looks: list[Look],
    x: list[float],
) -> None:
    """A control of each line; lines that share one have it once, in grey if it belongs to all."""
    series = {}
    for row, look in zip(reversed(cells), reversed(looks), strict=True):
        controls = [points.control(kind, cell) for cell in row]
        series[tuple(one.text for one in controls)] = (controls, look["color"])
    for names, (controls, own) in series.items():
        colour = style.GREY if len(series) == 1 else own
        level: Look = {"color": colour, "linestyle": LEVELS[kind], "linewidth": 1.1, "zorder": 1.5}
        measured = [(at, one.mean) for at, one in zip(x, controls, strict=True) if one.summary]
        if len(set(names)) > 1:
            axis.plot(*_columns(measured, 2), **level)
        elif measured:  # one number
            axis.axhline(measured[0][1], **level)


def _line(axis: Axes, points: Points, row: list[Point], look: Look, x: list[float]) -> None:
    """Means, single runs if they have no band, and published numbers."""
    placed = sorted(zip(x, row, strict=True), key=lambda one: one[0])
    means = [(at, cell.mean) for at, cell in placed if not math.isnan(cell.mean)]
    axis.plot(*_columns(means, 2), markevery=max(1, len(means) // 8), zorder=3, **look)
    if any(cell.count("n") > 1 and not _banded(cell) for cell in row):
        places = {cell.text: at for at, cell in placed if not math.isnan(cell.mean)}
        table = points.table("measurements").dropna(subset="value")
        table = table.assign(x=table["coordinates"].map(places)).dropna(subset="x")
        for _, run in table.sort_values("x").groupby("seed"):
            axis.plot(
                run["x"], run["value"], color=look["color"], linewidth=0.6, alpha=0.7, zorder=2
            )
    published = [(at, cell.published) for at, cell in placed if math.isfinite(cell.published)]
    hollow = PUBLISHED | {"marker": look["marker"], "markeredgecolor": look["color"]}
    axis.plot(*_columns(published, 2), **hollow, zorder=4)


def _band(axis: Axes, row: list[Point], look: Look, x: list[float]) -> None:
    """The intervals of a line's means."""
    ends = [(at, *cell.ends) for at, cell in zip(x, row, strict=True) if _banded(cell)]
    axis.fill_between(*_columns(sorted(ends), 3), color=look["color"], alpha=0.18, linewidth=0)


def _columns(rows: Sequence[Sequence[float]], number: int) -> Any:
    """The columns of rows of that many numbers, of which there may be none."""
    return np.reshape(rows, (-1, number)).T


def _set_y(
    axis: Axes, measure: Measure, of_lines: Sequence[float], of_all: Sequence[float]
) -> None:
    """The axis y: logarithmic if the lines spread far. Wide bands are cut off, because they hide the lines."""
    (low, high), (lowest, highest) = of_lines, of_all
    if low > 0 and high / low >= LOG_RANGE and not (measure.unit or measure.bounded):
        axis.set_yscale("log")
        figures.log_ticks(axis.yaxis)
        axis.set_ylim(low / 1.3, high * 1.3)
    else:
        room, margin = 0.5 * (high - low) or 1.0, 0.06 * (high - low) or 0.5
        axis.set_ylim(max(lowest, low - room) - margin, min(highest, high + room) + margin)


def _across(axis: Axes, points: Points, inches: float) -> list[float]:
    """The axis x, the same in every panel: names, or numbers, each with a tick if it has room; all places."""
    x, names, _ = figures.ticks(points, "x")
    if not x:
        figures.name_ticks(axis, names, inches)
        axis.set_xlim(-0.4, len(names) - 0.6)
        return list(map(float, range(len(names))))
    even = len(x) > 2 and len(set(np.diff(x).round(9))) == 1
    spread = figures.logarithmic(x) and not even
    ordered = np.sort(x)
    at = np.log(ordered) if spread else ordered
    span = at[-1] - at[0]
    ends = np.array([at[0], at[-1]]) + (0.04 * span or 0.5) * np.array([-1, 1])
    if spread:
        axis.set_xscale("log")
    axis.set_xlim(*np.exp(ends) if spread else ends)
    if len(x) <= 12:
        shares = (at - at[0]) / (span or 1.0)
        axis.set_xticks(
            ordered[_with_room(shares, list(map(words.short, ordered)), inches - BESIDE)]
        )
    else:
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: words.short(normal(value))))
    axis.xaxis.set_minor_locator(NullLocator())
    return x


def _with_room(shares: Sequence[float], labels: Sequence[str], inches: float) -> list[int]:
    """Which ticks of an axis get a label, so that none touches another: all, every second, or fewer."""
    halves = [DIGIT * len(label) / 2 for label in labels]
    places = [share * inches for share in shares]
    for step in range(1, len(shares)):
        ticks = list(range(0, len(shares), step))
        gaps = []
        for left, right in pairwise(ticks):
            gaps.append(places[right] - halves[right] - places[left] - halves[left])
        if min(gaps) >= GAP:
            return ticks
    return [0]
