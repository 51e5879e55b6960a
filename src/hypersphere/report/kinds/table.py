"""A table: points down, points across, a mean over seeds in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.report import labels, notes, words, writer
from hypersphere.report.points import FIELDS, Point, Points
from hypersphere.report.shown import Context, Grid, Head, Line, Shown, Text

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")


LEVEL = " †"
"""Marks a cell that is not above one of its controls."""


def build(context: Context) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    points = Points(context)
    writer.write(context, _shown(points), writer.as_csv(FIELDS, points.rows()))


def shown(context: Context) -> Shown:
    """The table as scorecard and paper show it.

    Raises:
        HypersphereError: a results file is missing.
    """
    return _shown(Points(context))


def _shown(points: Points) -> Shown:
    layout = _Layout(points)
    return Shown(points.context.name, notes.heading(points), layout.notes(), layout.grid)


@dataclass
class _Layout:
    """The layout of a table."""

    points: Points

    @cached_property
    def rows(self) -> list[dict[str, Scalar]]:
        return self.points.axis("rows")

    @cached_property
    def columns(self) -> list[dict[str, Scalar]]:
        return self.points.axis("columns")

    @cached_property
    def label_keys(self) -> list[tuple[str, ...]]:
        """The coordinate keys of each column of labels."""
        return labels.together(labels.varying(self.rows))

    @cached_property
    def has_published(self) -> list[bool]:
        """Whether the document prints a number for any cell of a column, on the dataset that was measured."""
        return [any(self.points.at(row, column).beside for row in self.rows) for column in self.columns]

    @cached_property
    def grid(self) -> Grid:
        """Headings, rows, and below them the controls."""
        paper = self.points.context.paper
        corner = tuple(labels.title(paper, keys) for keys in self.label_keys)
        lines = [Line(self._labels(row), self._cells(self._across(row))) for row in self.rows]
        return Grid(self._head(), corner, (*lines, *self._controls()))

    def _labels(self, row: Coordinates) -> tuple[str, ...]:
        config, paper = self.points.context.results.config, self.points.context.paper
        return tuple(labels.standing(config, paper, row, keys) for keys in self.label_keys)

    def _across(self, row: Coordinates) -> list[Point]:
        return [self.points.at(row, column) for column in self.columns]

    def _cells(self, points: Sequence[Point], control: bool = False) -> tuple[Text, ...]:
        """Our numbers, each with the printed one beside it if the document prints any number of the column."""
        cells: list[Text] = []
        for point, published in zip(points, self.has_published, strict=True):
            cells.append(Text(point.ours + (LEVEL if point.summary.get("level") else ""), point.difference))
            if published:
                cells.append(Text("–" if control else point.printed))
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
        own = set(control) - {"method", "variant"}
        kept_columns = [keys for keys in self.label_keys if set(keys) & own]
        other_columns = [keys for keys in self.label_keys if keys not in kept_columns]
        of_row = dict(zip(self.label_keys, self._labels(row), strict=True))
        texts = {keys: text if keys in kept_columns else "" for keys, text in of_row.items()}
        if not other_columns:
            texts[kept_columns[0]] = f"{name}, {texts[kept_columns[0]]}"
        elif len(other_columns) == 1:
            texts[other_columns[0]] = name
        else:
            texts |= {other_columns[0]: "control", other_columns[1]: name}
        return tuple(texts.values())

    def _head(self) -> tuple[tuple[Head, ...], ...]:
        """A row of headings for each key that varies, and a last one for ``ours`` and ``published``."""
        config, paper = self.points.context.results.config, self.points.context.paper
        widths = [2 if published else 1 for published in self.has_published]
        rows: list[tuple[Head, ...]] = []
        outer: list[tuple[str, ...]] = [() for _ in self.columns]
        for keys in labels.together(labels.varying(self.columns)):
            outer = [
                (*above, labels.point(paper, column, keys)) for above, column in zip(outer, self.columns, strict=True)
            ]
            spans = groupby(zip(outer, widths, strict=True), key=lambda pair: pair[0])
            rows.append(tuple(Head(path[-1], "", sum(width for _, width in same)) for path, same in spans))
        last_row: list[Head] = []
        for column, published in zip(self.columns, self.has_published, strict=True):
            last_row.append(Head(f"ours ({config.scale_name} scale)", labels.stand_in(config, paper, column)))
            last_row += [Head("published")] if published else []
        return (*rows, tuple(last_row))

    def notes(self) -> tuple[str, ...]:
        """The notes under the table."""
        points = self.points
        ends = "" if any("epoch" in cell.coordinates for cell in points.every) else " at the last epoch"
        spread = "mean ± standard deviation over independent pretrainings (their number in parentheses)"
        cells = f"Cells: {notes.measured(points)}{ends}, {spread}{notes.difference(points)}."
        weak = any("low power" in cell.difference for cell in points.every)
        low_power = "Low power: too few degrees of freedom." if weak else ""
        levels = [point.summary.get("level") for point in points.every]
        level = f"{LEVEL.strip()} {' or '.join(dict.fromkeys(filter(None, levels)))}: no direction is read from it."
        low_power += f" {level}" if any(levels) else ""
        printed = notes.published(points, "The published column repeats")
        return notes.of(points, " ".join(filter(None, (cells, low_power, printed))), figure=False)
