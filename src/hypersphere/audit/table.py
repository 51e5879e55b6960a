"""A tidy table of printed numbers, as CSV: the border of an audit, where bad input is refused in one sentence."""

import codecs
import csv
import difflib
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hypersphere.audit import numerals
from hypersphere.audit.numerals import Written, unit
from hypersphere.errors import HypersphereError

LARGEST_FILE = 1 << 26
"""Bytes. An endless pipe, or a file of another kind, has more."""
COLUMNS: Mapping[str, str] = {
    "where": "the table that prints the number, `Table 2`",
    "row": "its row, a method; by default the line",
    "column": "its column, a dataset",
    "metric": "what is measured",
    "mean": "the published number with all its decimals, in percent where it is an accuracy; `93.1 ± 0.2` is read too",
    "std": "its standard deviation over runs",
    "n": "the number of runs",
    "n_test": "the number of test examples, only where the number is a share of them",
    "higher_is_better": "`yes` (by default) or `no`",
    "low": "the smallest run, or the lower end of an interval",
    "high": "the largest run, or the upper end of an interval",
    "baseline": "the row that this row is compared with; by default the table's first row",
    "claims": "a sentence about the numbers of this table",
}
"""The columns of numbers.csv. Only ``mean`` is required."""
NUMBERS = ("mean", "std", "low", "high")
COUNTS = ("n", "n_test")
YES_OR_NO = {
    "": True,
    "yes": True,
    "true": True,
    "1": True,
    "no": False,
    "false": False,
    "0": False,
}
DELIMITERS = ",;\t"
DECLARED = re.compile(rf'"?sep=([{DELIMITERS}|])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
"""A first line in which a spreadsheet says what stands between fields."""
PLUS_OR_MINUS = re.compile(r"±|\+/?-|\\pm")


class Cell(NamedTuple):
    """A printed number, and what is known of it."""

    where: str
    row: str
    column: str
    metric: str
    mean: Decimal
    """The number with all its printed decimals; in percent where ``n_test`` is given."""
    std: Decimal | None = None
    n: int | None = None
    n_test: int | None = None
    higher_is_better: bool = True
    low: Decimal | None = None
    high: Decimal | None = None
    baseline: str = ""
    """The row that it is compared with; empty for the first row of its table."""


class Table(NamedTuple):
    """What a file of printed numbers holds."""

    cells: list[Cell]
    claims: list[tuple[str, str]]
    """The sentences in its column ``claims``, each with the table that it is about."""
    decimal: str
    """The mark before its decimals, a point or a comma."""


class Line(NamedTuple):
    """A line of a table that has a number."""

    number: int
    fields: Mapping[str, str]
    """The texts of the line, by column, without blanks at their ends; empty for a column that the table lacks."""

    @property
    def where(self) -> str:
        return f"line {self.number}"

    @property
    def mean_and_std(self) -> tuple[str, str]:
        """The two as they are written: a deviation has a column of its own, or stands behind the mean."""
        mean, *std = PLUS_OR_MINUS.split(self.fields["mean"], maxsplit=1)
        return mean, self.fields["std"] or "".join(std)

    @property
    def numbers(self) -> Iterator[Written]:
        """The numbers of the line as they are written."""
        mean, std = self.mean_and_std
        written = {**self.fields, "mean": mean, "std": std}
        for name in (*NUMBERS, *COUNTS):
            if written.get(name):
                yield Written(
                    f"{self.where}: {name}",
                    written[name],
                    is_count=name in COUNTS,
                    is_share=name in NUMBERS and bool(self.fields["n_test"]),
                )


def read(file: Path, decimal: str | None = None) -> Table:
    """The printed numbers of a file. Lines without a mean are no numbers.

    Args:
        file: in UTF-8, or in UTF-16 with a mark of the byte order; commas, semicolons or tabs stand between fields.
        decimal: the mark before decimals, a point or a comma; None: as the numbers of the file tell.

    Raises:
        HypersphereError: if a line cannot be read, or if its numbers have two readings.
    """
    text = text_of(file)
    declared = DECLARED.match(text)
    text = text[declared.end() :] if declared else text
    head = next(iter(text.splitlines()), "")
    delimiter = declared[1] if declared else max(DELIMITERS, key=head.count)
    lines: list[Line] = []
    claims: list[tuple[str, str]] = []
    for line in _lines(file, text, delimiter, 1 if declared else 0):
        if line.fields["claims"]:
            claims.append((line.fields["where"], line.fields["claims"]))
        if line.fields["mean"]:
            lines.append(line)
    if not lines:
        raise HypersphereError(f"{file}: mean: no line has a number")
    if decimal is None:
        numbers = chain.from_iterable(line.numbers for line in lines)
        decimal = numerals.convention(str(file), numbers, points_are_usual=delimiter == ",")
    cells: dict[tuple[str, ...], Cell] = {}
    for line in lines:
        cell = _cell(line, f"{file}: {line.where}", decimal)
        if cells.setdefault(cell[:4], cell) is not cell:
            at = ", ".join(filter(None, cell[:4]))
            raise HypersphereError(f"{file}: {line.where}: the number at {at} is given twice")
    _refuse_shares(file, list(cells.values()), lines)
    return Table(list(cells.values()), claims, decimal)


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, with a mark of the byte order or without, or in UTF-16 with one.

    Raises:
        HypersphereError: if it is no such text, or has more than ``LARGEST_FILE`` bytes.
    """
    with file.open("rb") as handle:
        data = handle.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise HypersphereError(
            f"{file}: has more than {LARGEST_FILE >> 20} MiB; a table of numbers has less"
        )
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        raise HypersphereError(
            f"{file}: is not UTF-8 text; export the table as CSV in UTF-8"
        ) from None


def _lines(file: Path, text: str, delimiter: str, before: int) -> Iterator[Line]:
    """The lines of a table, of which ``before`` stand before its header."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip().lower() for name in next(lines, [])]
        _check_header(file, names)
        for fields in filter(any, lines):
            number = lines.line_num + before
            if len(fields) != len(names):
                raise HypersphereError(
                    f"{file}: line {number}: has {len(fields)} fields, and the header has {len(names)}; a decimal "
                    "comma needs quotes, or ';' between fields"
                )
            yield Line(number, defaultdict(str, zip(names, map(str.strip, fields), strict=True)))
    except csv.Error as error:
        raise HypersphereError(
            f"{file}: line {lines.line_num + before}: not valid CSV ({error})"
        ) from None


def _check_header(file: Path, names: Sequence[str]) -> None:
    for name in names:
        if name not in COLUMNS:
            close = difflib.get_close_matches(name, COLUMNS, 1)
            near = f"; did you mean {close[0]}?" if close else ""
            known = ", ".join(COLUMNS)
            raise HypersphereError(f"{file}: column '{name}': is not one of {known}{near}")
        if names.count(name) > 1:
            raise HypersphereError(f"{file}: column '{name}': is given twice")
    if "mean" not in names:
        raise HypersphereError(
            f"{file}: line 1: column mean is missing; the file begins with a header"
        )


def _cell(line: Line, where: str, decimal: str) -> Cell:
    given = line.fields
    mean, std = line.mean_and_std

    def optional(name: str, text: str) -> Decimal | None:
        return numerals.number(text, f"{where}: {name}", decimal) if text else None

    def count(name: str) -> int | None:
        return numerals.count(given[name], f"{where}: {name}", decimal) if given[name] else None

    better = given["higher_is_better"]
    if better.lower() not in YES_OR_NO:
        raise HypersphereError(f"{where}: higher_is_better: must be yes or no (given: '{better}')")
    cell = Cell(
        where=given["where"],
        row=given["row"] or line.where,
        column=given["column"],
        metric=given["metric"],
        mean=numerals.number(mean, f"{where}: mean", decimal),
        std=optional("std", std),
        n=count("n"),
        n_test=count("n_test"),
        higher_is_better=YES_OR_NO[better.lower()],
        low=optional("low", given["low"]),
        high=optional("high", given["high"]),
        baseline=given["baseline"],
    )
    if cell.std is not None and cell.std < 0:
        raise HypersphereError(f"{where}: std: must not be negative (given: '{cell.std}')")
    return cell


def _refuse_shares(file: Path, cells: Sequence[Cell], lines: Sequence[Line]) -> None:
    """Refuse shares of one where percents are read: a whole table of them, or some beside percents in one column.

    A percent sign says that a number below 1 is less than one percent.
    """
    unsigned: dict[tuple[str, ...], Line] = {}
    tables: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    columns: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell, line in zip(cells, lines, strict=True):
        if set(numerals.PERCENT).isdisjoint(line.fields["mean"]):
            unsigned[cell[:4]] = line
        tables[cell.where, cell.metric].append(cell)
        columns[cell.where, cell.column, cell.metric].append(cell)
    for (where, metric), of_table in tables.items():
        if all(cell.n_test and 0 <= cell.mean <= 1 and cell[:4] in unsigned for cell in of_table):
            named = f"{where} {metric}".strip() or "mean"
            raise HypersphereError(
                f"{file}: {named}: all means are between 0 and 1, and shares of n_test examples are read in percent; "
                "write 93 for 0.93, or 0.93% for less than one percent"
            )
    for of_column in columns.values():
        percents = [cell for cell in of_column if cell.mean >= 1]
        for cell in of_column:
            if cell[:4] in unsigned and _seems_a_share(cell, percents):
                line = unsigned[cell[:4]]
                largest = max(one.mean for one in percents)
                raise HypersphereError(
                    f"{file}: {line.where}: mean: {cell.mean} stands beside {largest}; write "
                    f"{cell.mean.scaleb(2):f} for a share, or {cell.mean}% for less than one percent"
                )


def _seems_a_share(cell: Cell, percents: Sequence[Cell]) -> bool:
    """Whether a number below 1 would be nearer to the percents of its column if it were a hundred times as large.

    Without a number of test examples nothing says that the column is in percent. Then a share has more decimals than
    the percents, and higher is better.
    """
    largest = max((one.mean for one in percents), default=Decimal(0))
    if not 0 < cell.mean < 1 or not 10 * cell.mean < largest <= 100:
        return False
    more_decimals = all(unit(cell.mean) < unit(one.mean) for one in percents)
    return bool(cell.n_test) or (cell.higher_is_better and more_decimals)
