"""A table: points down, points across, a mean over seeds in each cell."""

from collections.abc import Sequence
from itertools import groupby

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates
from hypersphere.report import notes as noted
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Point, Points, Text

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "tables"

FLOORED = " †"
"""Marks a cell that is not above one of its controls."""

numbers = Points.means


def draw(points: Points) -> Grid:
    """Headings, rows, and below them a line for each control, and for each dataset or reading in which rows differ."""
    rows, columns = points.measured("rows"), points.measured("columns")
    keys = words.together(words.varying(rows))  # of each column of labels
    names = [words.key(points.paper, first) for first, *_ in keys]
    corner = [
        name if "." in first else name[:1].upper() + name[1:]
        for name, (first, *_) in zip(names, keys, strict=True)
    ]
    labels, cells = list[list[str]](), list[list[Point]]()
    for row in rows:
        labels.append([points.called(row, each) for each in keys])
        cells.append([points.at(row, column) for column in columns])
    printed = [any(map(_has_claim, column)) for column in zip(*cells, strict=True)]
    lines = [
        Line(tuple(label), _texts(line, printed)) for label, line in zip(labels, cells, strict=True)
    ]
    controls: dict[tuple[str, ...], Line] = {}
    for kind, name in words.CONTROLS.items():
        for label, line in zip(labels, cells, strict=True):
            of_line = [points.control(kind, cell) for cell in line]
            if not any(one.summary for one in of_line):
                continue
            # A control has the row's dataset and readings (``first digit``), but no method of its own: in columns of
            # labels that it lacks stands its name.
            own, said = set(of_line[0].coordinates) - {"method", "variant"}, list(label)
            free = [at for at, each in enumerate(keys) if not set(each) & own]
            if not free:
                said[0] = f"{name}, {said[0]}"
            instead = [name] if len(free) == 1 else ["control", name, *[""] * len(free)]
            for at, text in zip(free, instead, strict=False):
                said[at] = text
            line_of_control = Line(tuple(said), _texts(of_line, printed), control=True)
            controls.setdefault(tuple(one.text for one in of_line), line_of_control)
    return Grid(_head(points, columns, cells, printed), tuple(corner), (*lines, *controls.values()))


def _has_claim(cell: Point) -> bool:
    return cell.claim is not None


def _texts(line: Sequence[Point], printed: Sequence[bool]) -> tuple[Text, ...]:
    """Our numbers, each with the printed one beside it if the document prints any number of the column."""
    cells: list[Text] = []
    for point, published in zip(line, printed, strict=True):
        cells.append(
            Text(point.ours + (FLOORED if point.summary.get("floor") else ""), point.difference)
        )
        if published:
            both = [
                one.reported
                for one in (point.claim, point.printed_baseline)
                if one and one.reported is not None
            ]
            difference = (
                words.signed(both[0] - both[1], point.measure.decimals) if len(both) == 2 else ""
            )
            cells.append(Text(point.printed, difference))
    return tuple(cells)


def _head(
    points: Points,
    columns: Sequence[Coordinates],
    cells: Sequence[Sequence[Point]],
    printed: Sequence[bool],
) -> tuple[tuple[Head, ...], ...]:
    """A row of headings for each key that varies, and a last one for ``ours`` and ``published``.

    Below the latter stands, as ``on CIFAR-10``, what the published numbers are of, if that is not what was measured.
    """
    rows: list[tuple[Head, ...]] = []
    outer: list[tuple[str, ...]] = [() for _ in columns]
    for keys in words.together(words.varying(columns)):
        outer = [
            (*above, points.called(column, keys))
            for above, column in zip(outer, columns, strict=True)
        ]
        heads = list[Head]()
        for path, same in groupby(zip(outer, printed, strict=True), key=lambda pair: pair[0]):
            heads.append(Head(path[-1], "", sum(1 + published for _, published in same)))
        rows.append(tuple(heads))
    last_row: list[Head] = []
    for column, published in zip(zip(*cells, strict=True), printed, strict=True):
        last_row.append(Head("ours"))
        if published:
            names = {
                words.point(points.paper, cell.coordinates, words.DATA).removeprefix("→ ")
                for cell in column
            }
            on = f"on {names.pop() if len(names) == 1 else 'the named data'}"
            last_row.append(Head("published", on if any(cell.stands_in for cell in column) else ""))
    return (*rows, tuple(last_row))


def notes(points: Points) -> tuple[str, ...]:
    ends = "" if any("epoch" in cell.coordinates for cell in points.every) else " at the last epoch"
    spread = "one pretraining each (n = 1, in parentheses)"
    if noted.several(points):
        spread = (
            "mean ± standard deviation over independent pretrainings (their number in parentheses)"
        )
    cells = f"Cells: {noted.measured(points)}{ends}, {spread}"
    if (baseline := points.artifact.baseline) is not None:
        other = words.point(points.paper, coordinates.ordered(baseline), baseline)
        shown = any("[" in cell.difference for cell in points.every)
        interval = (
            f", with its {words.confidence(points.config)} interval after Holm's correction"
            if shown
            else ""
        )
        cells += f"; below it, the difference from {other}, all else equal{interval}; so for published numbers"
    weak = any("low power" in cell.difference for cell in points.every)
    floors = dict.fromkeys(filter(None, (point.summary.get("floor") for point in points.every)))
    low_power = "Low power: too few degrees of freedom." if weak else ""
    if (
        any(not cell.has_intervals for cell in points.every)
        and points.artifact.baseline is not None
    ):
        low_power = "No interval of a difference is shown at this scale."
    if floors:
        controls = " or ".join(words.CONTROLS[floor] for floor in floors)
        low_power += f" {FLOORED.strip()} not shown to be above the {controls}."
    printed = noted.published(points, "The published column repeats", beside_others=True)
    return noted.of(points, f"{cells}.", low_power, printed)
