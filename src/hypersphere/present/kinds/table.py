"""A table: points down, points across, a mean over seeds in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from hypersphere.declared.coordinates import Coordinates, Scalar
from hypersphere.files import write_text
from hypersphere.present import labels, notes, words, writer
from hypersphere.present.points import FIELDS, Point, Points
from hypersphere.present.shown import Context, Grid, Head, Line, Shown, Text

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")


def build(context: Context) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    laid = _Laid(Points(context))
    title, below = notes.heading(laid.points), laid.notes()
    texts = {
        ".csv": writer.as_csv(FIELDS, laid.points.rows()),
        ".md": writer.as_markdown(title, laid.grid, below),
        ".tex": writer.as_tex(title, laid.grid, below, f"tab:{context.paper.paper}-{context.name}"),
    }
    for path in context.results.plan.outputs(context.paper.paper, context.name):
        write_text(path, texts[path.suffix])


def shown(context: Context) -> Shown:
    """The table as scorecard and paper show it.

    Raises:
        HypersphereError: a results file is missing.
    """
    laid = _Laid(Points(context))
    return Shown(context.name, notes.heading(laid.points), laid.notes(), laid.grid)


@dataclass
class _Laid:
    """A table laid out."""

    points: Points

    @cached_property
    def rows(self) -> list[dict[str, Scalar]]:
        return self.points.axis("rows")

    @cached_property
    def columns(self) -> list[dict[str, Scalar]]:
        return self.points.axis("columns")

    @cached_property
    def label_keys(self) -> list[tuple[str, ...]]:
        """The keys of each column of labels."""
        return labels.together(labels.varying(self.rows))

    @cached_property
    def has_published(self) -> list[bool]:
        """Whether the document prints a number for any cell of a column."""
        return [any(self.points.at(row, column).claim for row in self.rows) for column in self.columns]

    @cached_property
    def grid(self) -> Grid:
        """Headings, rows, and controls below them."""
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
        """Ours, and beside it what is printed, if any of the column is."""
        cells: list[Text] = []
        for point, published in zip(points, self.has_published, strict=True):
            cells.append(Text(point.ours, point.difference))
            if published:
                cells.append(Text("–" if control else point.printed))
        return tuple(cells)

    def _controls(self) -> list[Line]:
        """A line for each control; where rows differ in dataset, one for each of those."""
        found: dict[tuple[str, ...], Line] = {}
        for kind, name in words.CONTROLS.items():
            for row in self.rows:
                under = [self.points.control(kind, point) for point in self._across(row)]
                if any(point.summary for point in under):
                    key = tuple(point.text for point in under)
                    found.setdefault(key, Line(self._control_labels(row, name), self._cells(under, True), True))
        return list(found.values())

    def _control_labels(self, row: Coordinates, name: str) -> tuple[str, ...]:
        """``control``, ``raw pixels``: in the places of method and variant, if these are there."""
        own = [keys for keys in self.label_keys if set(keys) & {"dataset", "target", "measure"}]
        free = [keys for keys in self.label_keys if keys not in own]
        texts = dict.fromkeys(self.label_keys, "")
        texts |= {keys: text for keys, text in zip(self.label_keys, self._labels(row), strict=True) if keys in own}
        if not free:
            texts[own[0]] = f"{name}, {texts[own[0]]}"
        elif len(free) == 1:
            texts[free[0]] = name
        else:
            texts |= {free[0]: "control", free[1]: name}
        return tuple(texts.values())

    def _head(self) -> tuple[tuple[Head, ...], ...]:
        """A row of headings for each key that varies, and one that says whose the numbers are."""
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
        whose: list[Head] = []
        for column, published in zip(self.columns, self.has_published, strict=True):
            whose.append(Head(f"ours ({config.scale_name} scale)", labels.stand_in(config, column)))
            whose += [Head("published")] if published else []
        return (*rows, tuple(whose))

    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        points = self.points
        ends = "" if any("epoch" in cell.coordinates for cell in points.every) else " at the last epoch"
        spread = "mean ± standard deviation over independent pretrainings (their number in parentheses)"
        what = f"Cells: {notes.measured(points)}{ends}, {spread}{notes.difference(points)}."
        low = "Low power: too few degrees of freedom." if any("low power" in p.difference for p in points.every) else ""
        printed = notes.published(points, "The published column repeats")
        return notes.of(points, " ".join(filter(None, (what, low, printed))))
