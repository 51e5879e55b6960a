"""A table: points down, points across, a mean over seeds in each cell."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from hypersphere.config import coordinates
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
    rows = points.measured_points("rows")
    groups = words.together(words.varying(rows))
    corner = []
    for first, *_ in groups:
        name = words.key(points.paper, first)
        if "." not in first:
            name = name[:1].upper() + name[1:]
        corner.append(name)
    cells = points.array("rows", "columns")
    has_claim = np.vectorize(lambda cell: cell.claim is not None)
    published = has_claim(cells).any(axis=0).tolist()
    lines = []
    controls: dict[str, dict[str, Line]] = {kind: {} for kind in words.CONTROLS}
    for row, of_row in zip(rows, cells, strict=True):
        labels = [points.name_by(row, keys) for keys in groups]
        texts = _texts(of_row, published)
        lines.append(Line(tuple(labels), texts))
        for kind, drawn in controls.items():
            of_kind = [points.control(kind, cell) for cell in of_row]
            same = " ".join(control.text for control in of_kind)
            if same in drawn or not any(control.summary for control in of_kind):
                continue
            own = of_kind[0].coordinates.keys() - {"method", "variant"}
            lacking = [at for at, keys in enumerate(groups) if own.isdisjoint(keys)]
            names = _names_of_control(words.CONTROLS[kind], labels, lacking)
            texts = _texts(of_kind, published)
            drawn[same] = Line(names, texts, control=True)
    for drawn in controls.values():
        lines += drawn.values()
    head = _head(points, cells.T, published)
    return Grid(head, tuple(corner), tuple(lines))


def _names_of_control(
    control: str, labels: Sequence[str], lacking: Sequence[int]
) -> tuple[str, ...]:
    """The labels of a control's line, by those of a line that it belongs to.

    A control has the line's dataset and readings (``first digit``), but no method of its own: in columns of labels that
    it is ``lacking`` stands its name.
    """
    names = list(labels)
    if not lacking:
        names[0] = f"{control}, {names[0]}"
    for at in lacking:
        names[at] = ""
    if len(lacking) == 1:
        names[lacking[0]] = control
    elif lacking:
        first, second, *_ = lacking
        names[first], names[second] = "control", control
    return tuple(names)


def _texts(line: Sequence[Point], published: Sequence[bool]) -> tuple[Text, ...]:
    """Our numbers, each with the printed one beside it if the document prints any number of the column."""
    texts: list[Text] = []
    for cell, is_published in zip(line, published, strict=True):
        floored = FLOORED if cell.summary.get("floor") else ""
        texts.append(Text(cell.ours + floored, cell.difference))
        if is_published:
            texts.append(Text(cell.printed, _printed_difference(cell)))
    return tuple(texts)


def _printed_difference(cell: Point) -> str:
    """The printed number minus its baseline's; empty without both."""
    if cell.claim is None or cell.printed_baseline is None:
        return ""
    ours, baseline = cell.claim.reported, cell.printed_baseline.reported
    if ours is None or baseline is None:
        return ""
    return words.with_sign(ours - baseline, cell.measure.decimals)


def _head(
    points: Points, columns: Iterable[Sequence[Point]], published: Sequence[bool]
) -> tuple[tuple[Head, ...], ...]:
    """A row of headings for each key that varies, and a last one for ``ours`` and ``published``.

    Below the latter stands, as ``on CIFAR-10``, what the published numbers are of, if that is not what was measured.
    """
    rows: list[tuple[Head, ...]] = []
    axis = points.measured_points("columns")
    spans = [1 + is_published for is_published in published]
    outer: list[tuple[str, ...]] = [()] * len(axis)
    for keys in words.together(words.varying(axis)):
        names = [points.name_by(point, keys) for point in axis]
        outer = [(*above, name) for above, name in zip(outer, names, strict=True)]
        columns_below = zip(outer, spans, strict=True)
        heads = []
        for path, same in groupby(columns_below, key=itemgetter(0)):
            span = sum(span for _, span in same)
            heads.append(Head(path[-1], span=span))
        rows.append(tuple(heads))
    last_row: list[Head] = []
    for column, is_published in zip(columns, published, strict=True):
        last_row.append(Head("ours"))
        if is_published:
            other_data = _on_other_data(points, column)
            last_row.append(Head("published", other_data))
    return (*rows, tuple(last_row))


def _on_other_data(points: Points, column: Sequence[Point]) -> str:
    """``on CIFAR-10``: what a column's published numbers are of; empty if that is what was measured."""
    if not any(cell.stands_in for cell in column):
        return ""
    paper = points.paper
    names = {words.point(paper, cell.coordinates, words.DATA) for cell in column}
    if len(names) > 1:
        return "on the named data"
    return f"on {names.pop().removeprefix('→ ')}"


def notes(points: Points) -> tuple[str, ...]:
    cells = points.every
    cell = noted.measures_in_full(points)
    if not any("epoch" in one.coordinates for one in cells):
        cell += " at the last epoch"
    spread = "one pretraining each (n = 1, in parentheses)"
    if noted.several(points):
        spread = (
            "mean ± standard deviation over independent pretrainings (their number in parentheses)"
        )
    text = f"Cells: {cell}, {spread}"
    marks = ""
    if any("low power" in one.difference for one in cells):
        marks = "Low power: too few degrees of freedom."
    baseline = points.artifact.baseline
    if baseline is not None:
        cell_of_baseline = coordinates.in_order(baseline)
        other = words.point(points.paper, cell_of_baseline, baseline)
        text += f"; below it, the difference from {other}, all else equal"
        if any("[" in one.difference for one in cells):
            confidence = words.confidence(points.config)
            text += f", with its {confidence} interval after Holm's correction"
        text += "; so for published numbers"
        if not all(one.has_intervals for one in cells):
            marks = "No interval of a difference is shown at this scale."
    floors = dict.fromkeys(one.summary.get("floor") for one in cells)
    controls = " or ".join(words.CONTROLS[floor] for floor in floors if floor)
    if controls:
        dagger = FLOORED.strip()
        marks += f" {dagger} not shown to be above the {controls}."
    published = noted.published_source(points, "The published column repeats", beside_others=True)
    return noted.of(points, f"{text}.", marks, published)
