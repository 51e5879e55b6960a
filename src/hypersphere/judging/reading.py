"""Anybody's table of runs, of whatever shape, as each arm's values by seed: the border, where bad input is refused.

The baseline's name tells the shape. Where it stands in a column, that column has the arms; where it is a column's own
name, each arm has a column. Other columns are known by their names, or as ``--column value=top1`` says.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hypersphere.audit import numerals
from hypersphere.errors import HypersphereError
from hypersphere.judging import exports, sheet
from hypersphere.judging.exports import Export
from hypersphere.judging.runs import LOST, Asked, Cell, Runs, of_cells, of_means
from hypersphere.judging.sheet import Line, Sheet

ROLES = ("arm", "seed", "dataset", "value", "metric", "step", "status", "mean", "std", "n")
"""What a column can be, for ``--column ROLE=NAME``."""
KNOWN: Mapping[str, tuple[str, ...]] = {
    "seed": ("seed", "random_seed", "rng_seed", "trial", "replicate", "repeat"),
    "dataset": ("dataset", "data", "task", "benchmark", "env", "environment"),
    "metric": ("metric", "measure", "tag"),
    "step": ("epoch", "step", "global_step", "_step", "iteration"),
    "status": ("status", "state"),
    "mean": ("mean",),
    "std": ("std", "sd", "stdev"),
    "n": ("n", "runs", "seeds"),
    "value": ("value", "score"),
}
"""The names by which a column is known, in lower case and after its last / or dot; the first that is there counts."""
MEANS = ("mean", "std", "n")


class Columns(NamedTuple):
    """The columns of a table by role."""

    by_role: dict[str, str]

    def text(self, line: Line, role: str) -> str:
        """What a line says in the column of a role; empty if there is no such column."""
        return line.fields[self.by_role[role]] if role in self.by_role else ""

    @property
    def has_means(self) -> bool:
        """Whether the table has means in place of runs."""
        return set(MEANS) <= self.by_role.keys()


def read(path: Path, asked: Asked) -> Runs:
    """The runs of a table, of an export, or of a folder in which each file is one run.

    Raises:
        HypersphereError: if columns cannot be told apart, or a number cannot be read.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.csv"))
        export = exports.together((exports.of(sheet.read(file)) for file in files), path)
    else:
        export = exports.of(sheet.read(path))
    if not export.sheet.lines:
        raise HypersphereError(f"{path}: has no run, only a header")
    columns = _columns(export.sheet, asked)
    if export.is_of_runs and (step := columns.by_role.pop("step", "")):
        export = export._replace(others={*export.others, step})
    table = _of_metric(export.sheet, columns, asked.metric)
    if asked.baseline in table.header:
        cells = list(_by_column(table, columns))
        return of_cells(table, export.source, "value", cells, asked)
    arm, names = _arms(export._replace(sheet=table), columns, asked)
    value = _value(export, table, columns, arm)
    cells = list(_by_line(table, columns, arm, names, value))
    if columns.has_means:
        return of_means(table, export.source, columns.by_role, cells, asked)
    runs = of_cells(table, export.source, value, cells, asked)
    return runs._replace(measure=asked.metric or value)


# Columns


def _columns(table: Sheet, asked: Asked) -> Columns:
    """The columns of known roles: those that are given, then those that their names tell."""
    for role, column in asked.columns.items():
        if column not in table.header:
            raise HypersphereError(
                f"{table.file}: column '{column}': is not there, and --column says that it is the {role}"
            )
    short = {name: _last_part(name) for name in table.header}
    by_role = dict(asked.columns)
    for role, words in KNOWN.items():
        named = _first(words, short)
        if role not in by_role and named is not None and named not in by_role.values():
            by_role[role] = named
    if not set(MEANS) <= by_role.keys():
        for role in set(MEANS) - asked.columns.keys():
            by_role.pop(role, None)
    if asked.metric and "metric" not in by_role:
        if asked.metric not in table.header:
            raise HypersphereError(
                f"{table.file}: column '{asked.metric}': is not there, and --metric asks for it"
            )
        by_role["value"] = asked.metric
    return Columns(by_role)


def _last_part(name: str) -> str:
    """What a column's name says after its last / or dot: ``params.seed``, ``test/acc``."""
    return name.lower().replace(".", "/").rpartition("/")[2]


def _first(words: Iterable[str], short: Mapping[str, str]) -> str | None:
    """The column of the first of some words that a column has for its short name."""
    for word in words:
        for name, part in short.items():
            if part == word:
                return name
    return None


def _of_metric(table: Sheet, columns: Columns, metric: str) -> Sheet:
    """The lines of one metric, where a column says of which metric a line is."""
    column = columns.by_role.get("metric")
    if column is None:
        return table
    named = dict.fromkeys(table.texts(column))
    if not metric and len(named) > 1:
        raise HypersphereError(
            f"{table.file}: column '{column}': has {', '.join(named)}; say which with --metric"
        )
    metric = metric or next(iter(named))
    if metric not in named:
        raise HypersphereError(
            f"{table.file}: column '{column}': lacks {metric} (it has {', '.join(named)})"
        )
    return table._replace(lines=[line for line, text in table.column(column) if text == metric])


def _arms(export: Export, columns: Columns, asked: Asked) -> tuple[str, bool]:
    """The column with the arms, and whether it has names of runs, in which a seed follows the arm."""
    table = export.sheet
    if "arm" in columns.by_role:
        return columns.by_role["arm"], False
    taken = columns.by_role.values()
    free = [name for name in table.header if name not in taken]
    holding = [name for name in free if asked.baseline in table.texts(name)]
    if len(holding) == 1:
        return holding[0], False
    if holding:
        raise HypersphereError(
            f"{table.file}: columns {' and '.join(holding)}: each holds the baseline '{asked.baseline}'; say which one "
            "has the arms, as --column arm=NAME"
        )
    for name in export.names:
        if asked.baseline in {exports.split(text)[0] for text in table.texts(name)}:
            return name, True
    raise HypersphereError(
        f"{table.file}: no column holds the baseline '{asked.baseline}'; the columns are {', '.join(table.header)}"
    )


def _value(export: Export, table: Sheet, columns: Columns, arm: str) -> str:
    """The column that is judged: of the means, of that role, or the one column of numbers that has no other role."""
    known = columns.by_role.get("mean" if columns.has_means else "value")
    if known is not None:
        return known
    taken = {arm, *columns.by_role.values(), *export.others}
    free = [name for name in table.header if name not in taken]
    numeric = [name for name in free if _holds_numbers(table.texts(name))]
    if len(numeric) == 1:
        return numeric[0]
    if not numeric:
        raise HypersphereError(
            f"{table.file}: value: no column holds the numbers to judge ({', '.join(table.header)})"
        )
    raise HypersphereError(
        f"{table.file}: columns {', '.join(numeric)}: each may be what is judged; say which, as --column value=NAME"
    )


def _holds_numbers(texts: Iterable[str]) -> bool:
    """Whether most texts of a column are numbers, but for empty ones and those of lost runs."""
    said = [text for text in texts if text and text.lower() not in LOST]
    numbers = [text for text in said if _is_number(text)]
    return 2 * len(numbers) > len(said)


def _is_number(text: str) -> bool:
    return any(numerals.read(text, mark) is not None for mark in numerals.OTHER)


# Cells


def _by_line(table: Sheet, columns: Columns, arm: str, names: bool, value: str) -> Iterator[Cell]:
    """The runs of a table that has a line for each run, or for each of its steps."""
    for line in table.lines:
        if not line.fields[arm]:
            raise HypersphereError(f"{table.file}: line {line.number}: {arm}: is empty")
        named, seed = exports.split(line.fields[arm]) if names else (line.fields[arm], "")
        yield Cell(
            line,
            named,
            columns.text(line, "dataset"),
            columns.text(line, "seed") or seed,
            line.fields[value],
            columns.text(line, "status"),
            columns.text(line, "step"),
        )


def _by_column(table: Sheet, columns: Columns) -> Iterator[Cell]:
    """The runs of a table that has a column for each arm and a line for each seed."""
    taken = columns.by_role.values()
    arms = [name for name in table.header if name not in taken]
    for line in table.lines:
        dataset, seed = columns.text(line, "dataset"), columns.text(line, "seed")
        for arm in arms:
            if line.fields[arm]:
                yield Cell(line, arm, dataset, seed, line.fields[arm])
