"""A table: points down, points across, a mean over seeds in each cell."""

from collections.abc import Iterable, Sequence
from itertools import groupby, product

from hypersphere.config import coordinates
from hypersphere.report import notes as noted
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Point, Points, Text

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "tables"

FLOORED = " †"
"""Marks a cell that is not above one of its controls."""

Groups = list[tuple[str, ...]]
"""The keys of each column of labels."""

numbers = Points.means


def draw(points: Points) -> Grid:
    """Headings, rows, and below them a line for each control, and for each dataset or reading in which rows differ."""
    rows = points.measured("rows")
    groups = words.together(words.varying(rows))
    corner = []
    for first, *_ in groups:
        name = words.key(points.paper, first)
        corner.append(name if "." in first else name[:1].upper() + name[1:])
    cells = points.array("rows", "columns")
    published = [any(cell.claim for cell in column) for column in cells.T]
    labels = list[list[str]]()
    for row in rows:
        labels.append([points.called(row, keys) for keys in groups])
    lines = []
    for label, line in zip(labels, cells, strict=True):
        lines.append(Line(tuple(label), _texts(line, published)))
    controls: dict[tuple[str, ...], Line] = {}
    for kind, (label, line) in product(words.CONTROLS, zip(labels, cells, strict=True)):
        of_kind = [points.control(kind, cell) for cell in line]
        if any(control.summary for control in of_kind):
            label = _control_label(label, words.CONTROLS[kind], groups, of_kind[0])
            drawn = Line(tuple(label), _texts(of_kind, published), control=True)
            controls.setdefault(tuple(control.text for control in of_kind), drawn)
    head = _head(points, cells.T, published)
    return Grid(head, tuple(corner), (*lines, *controls.values()))


def _control_label(label: Sequence[str], name: str, groups: Groups, control: Point) -> list[str]:
    """The labels of a control's line, by those of a line that it belongs to.

    A control has the line's dataset and readings (``first digit``), but no method of its own: in columns of labels that
    it lacks stands its name.
    """
    own = control.coordinates.keys() - {"method", "variant"}
    free = [at for at, keys in enumerate(groups) if own.isdisjoint(keys)]
    labels = list(label)
    if not free:
        labels[0] = f"{name}, {labels[0]}"
    names = [name] if len(free) == 1 else ["control", name]
    for at in free:
        labels[at] = names.pop(0) if names else ""
    return labels


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
    return words.signed(ours - baseline, cell.measure.decimals)


def _head(
    points: Points, columns: Iterable[Sequence[Point]], published: Sequence[bool]
) -> tuple[tuple[Head, ...], ...]:
    """A row of headings for each key that varies, and a last one for ``ours`` and ``published``.

    Below the latter stands, as ``on CIFAR-10``, what the published numbers are of, if that is not what was measured.
    """
    rows = list[tuple[Head, ...]]()
    axis = points.measured("columns")
    outer: list[tuple[str, ...]] = [()] * len(axis)
    for keys in words.together(words.varying(axis)):
        names = [points.called(point, keys) for point in axis]
        outer = [(*above, name) for above, name in zip(outer, names, strict=True)]
        heads = []
        for path, same in groupby(zip(outer, published, strict=True), key=lambda pair: pair[0]):
            heads.append(Head(path[-1], span=sum(1 + is_published for _, is_published in same)))
        rows.append(tuple(heads))
    last_row = list[Head]()
    for column, is_published in zip(columns, published, strict=True):
        last_row.append(Head("ours"))
        if is_published:
            last_row.append(Head("published", _on_other_data(points, column)))
    return (*rows, tuple(last_row))


def _on_other_data(points: Points, column: Sequence[Point]) -> str:
    """``on CIFAR-10``: what a column's published numbers are of; empty if that is what was measured."""
    if not any(cell.stands_in for cell in column):
        return ""
    names = {words.point(points.paper, cell.coordinates, words.DATA) for cell in column}
    return f"on {names.pop().removeprefix('→ ') if len(names) == 1 else 'the named data'}"


def notes(points: Points) -> tuple[str, ...]:
    cells = points.every
    cell = noted.measured(points)
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
        other = words.point(points.paper, coordinates.ordered(baseline), baseline)
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
        marks += f" {FLOORED.strip()} not shown to be above the {controls}."
    published = noted.published(points, "The published column repeats", beside_others=True)
    return noted.of(points, f"{text}.", marks, published)
