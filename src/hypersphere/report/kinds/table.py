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
FORMATS = ("csv", "md", "tex")

LEVEL = " †"
"""Marks a cell that is not above one of its controls."""

numbers = Points.means


def draw(points: Points) -> Grid:
    """Headings, rows, and below them the controls."""
    return _Layout(points).grid()


def notes(points: Points) -> tuple[str, ...]:
    """What a cell holds, with its marks."""
    ends = "" if any("epoch" in cell.coordinates for cell in points.every) else " at the last epoch"
    spread = "mean ± standard deviation over independent pretrainings (their number in parentheses)"
    cells = f"Cells: {noted.measured(points)}{ends}, {spread}"
    if (baseline := points.artifact.baseline) is not None:
        other = words.point(points.paper, coordinates.ordered(baseline), baseline)
        shown = any("[" in cell.difference for cell in points.every)
        interval = f", with its {words.confidence(points.config)} interval after Holm's correction" if shown else ""
        cells += f"; below it, the difference from {other}, all else equal{interval}; so for published numbers"
    weak = any("low power" in cell.difference for cell in points.every)
    levels = list(dict.fromkeys(filter(None, (point.summary.get("level") for point in points.every))))
    low_power = "Low power: too few degrees of freedom." if weak else ""
    if any(not cell.has_intervals for cell in points.every) and points.artifact.baseline is not None:
        low_power = "No interval of a difference is shown at this scale."
    if levels:
        low_power += f" {LEVEL.strip()} {' or '.join(levels)}: no direction is read from it."
    printed = noted.published(points, "The published column repeats", beside_others=True)
    return noted.of(points, f"{cells}.", low_power, printed)


class _Layout:
    def __init__(self, points: Points) -> None:
        self.points = points
        self.rows, self.columns = points.measured("rows", "columns"), points.measured("columns", "rows")
        self.label_keys = words.together(words.varying(self.rows))
        """The coordinate keys of each column of labels."""
        self.has_published = [any(points.at(row, column).claim for row in self.rows) for column in self.columns]
        """Whether the document prints a number for any cell of a column."""

    def grid(self) -> Grid:
        """Headings, rows, and below them the controls."""
        names = [words.key(self.points.paper, keys[0]) for keys in self.label_keys]
        corner = tuple(
            name if "." in keys[0] else name[:1].upper() + name[1:]
            for name, keys in zip(names, self.label_keys, strict=True)
        )
        lines = [Line(self._labels(row), self._cells(self._across(row))) for row in self.rows]
        return Grid(self._head(), corner, (*lines, *self._controls()))

    def _labels(self, row: Coordinates) -> tuple[str, ...]:
        return tuple(self.points.called(row, keys) for keys in self.label_keys)

    def _across(self, row: Coordinates) -> list[Point]:
        return [self.points.at(row, column) for column in self.columns]

    def _cells(self, points: Sequence[Point], control: bool = False) -> tuple[Text, ...]:
        """Our numbers, each with the printed one beside it if the document prints any number of the column."""
        cells: list[Text] = []
        for point, published in zip(points, self.has_published, strict=True):
            cells.append(Text(point.ours + (LEVEL if point.summary.get("level") else ""), point.difference))
            if published:
                cells.append(Text("–") if control else Text(point.printed, point.printed_difference))
        return tuple(cells)

    def _controls(self) -> list[Line]:
        """A line for each control, and for each dataset or reading in which rows differ."""
        lines: dict[tuple[str, ...], Line] = {}
        for kind, name in words.CONTROLS.items():
            for row in self.rows:
                controls = [self.points.control(kind, point) for point in self._across(row)]
                if any(point.summary for point in controls):
                    key = tuple(point.text for point in controls)
                    names = self._control_labels(row, controls[0].coordinates, name)
                    lines.setdefault(key, Line(names, self._cells(controls, True), True))
        return list(lines.values())

    def _control_labels(self, row: Coordinates, control: Coordinates, name: str) -> tuple[str, ...]:
        """Labels of a control's line: its name, and the row's label in each column that a control has too.

        A control has the row's dataset and readings (``first digit``), but no method of its own.
        """
        own, texts = set(control) - {"method", "variant"}, list(self._labels(row))
        free = [at for at, keys in enumerate(self.label_keys) if not set(keys) & own]
        if not free:
            texts[0] = f"{name}, {texts[0]}"
        said = [name] if len(free) == 1 else ["control", name]
        for at, text in zip(free, [*said, *[""] * len(free)], strict=False):
            texts[at] = text
        return tuple(texts)

    def _head(self) -> tuple[tuple[Head, ...], ...]:
        """A row of headings for each key that varies, and a last one for ``ours`` and ``published``."""
        widths = [2 if published else 1 for published in self.has_published]
        rows: list[tuple[Head, ...]] = []
        outer: list[tuple[str, ...]] = [() for _ in self.columns]
        for keys in words.together(words.varying(self.columns)):
            names = [self.points.called(column, keys) for column in self.columns]
            outer = [(*above, name) for above, name in zip(outer, names, strict=True)]
            spans = groupby(zip(outer, widths, strict=True), key=lambda pair: pair[0])
            rows.append(tuple(Head(path[-1], "", sum(width for _, width in same)) for path, same in spans))
        last_row: list[Head] = []
        for column, published in zip(self.columns, self.has_published, strict=True):
            last_row += [Head("ours"), Head("published", self._published_on(column))] if published else [Head("ours")]
        return (*rows, tuple(last_row))

    def _published_on(self, column: Coordinates) -> str:
        """``on CIFAR-10``: what the published numbers of a column are of, if that is not what was measured."""
        cells = [self.points.at(row, column) for row in self.rows]
        data = [{key: value for key, value in cell.coordinates.items() if key in words.DATA} for cell in cells]
        names = {words.point(self.points.paper, one, one).removeprefix("→ ") for one in data}
        if not any(cell.stands_in for cell in cells):
            return ""
        return f"on {names.pop()}" if len(names) == 1 else "on the named data"
