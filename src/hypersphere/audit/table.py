"""A tidy table of printed numbers, as CSV: the border of an audit, where bad input is refused in one sentence."""

import csv
import difflib
import io
import re
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from hypersphere.errors import HypersphereError

LARGEST = 10_000_000
"""Test images; no accuracy so fine is printed. Also the largest number of runs."""
DECIMALS = 12
COLUMNS: Mapping[str, str] = {
    "where": "the table that prints the number, `Table 2`",
    "row": "its row, a method; by default the line",
    "column": "its column, a dataset",
    "metric": "what is measured",
    "mean": "the printed number with all its decimals, in percent where it is an accuracy; `93.1 ± 0.2` is read too",
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
YES_OR_NO = {"": True, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
MINUS = re.compile("[\N{MINUS SIGN}\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{FULLWIDTH HYPHEN-MINUS}]")
PLUS_OR_MINUS = re.compile(r"±|\+/?-|\\pm")


class Cell(NamedTuple):
    """A printed number, and what is known of it."""

    where: str
    row: str
    column: str
    metric: str
    mean: Decimal
    """With all its printed decimals; in percent where ``n_test`` is given."""
    std: Decimal | None = None
    n: int | None = None
    n_test: int | None = None
    higher_is_better: bool = True
    low: Decimal | None = None
    high: Decimal | None = None
    baseline: str = ""
    """The row that it is compared with; empty for the first row of its table."""


def read(file: Path) -> tuple[list[Cell], list[tuple[str, str]]]:
    """The printed numbers of a file, and the sentences in its column ``claims``, each with the table that it is about.

    Lines without a mean are no numbers.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise HypersphereError(f"{file}: is not UTF-8 text; export the table as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    cells: dict[tuple[str, ...], Cell] = {}
    claims: list[tuple[str, str]] = []
    percent: set[tuple[str, str]] = set()
    """Tables and metrics with a number that is no share of one."""
    try:
        names = [name.strip().lower() for name in next(lines, [])]
        for name in names:
            if name not in COLUMNS or names.count(name) > 1:
                near = "".join(f"; did you mean {one}?" for one in difflib.get_close_matches(name, COLUMNS, 1))
                problem = "is given twice" if name in COLUMNS else f"is not one of {', '.join(COLUMNS)}{near}"
                raise HypersphereError(f"{file}: column '{name}': {problem}")
        if "mean" not in names:
            raise HypersphereError(f"{file}: line 1: column mean is missing; the file begins with a header")
        for fields in filter(any, lines):
            where = f"{file}: line {lines.line_num}"
            if len(fields) != len(names):
                raise HypersphereError(
                    f"{where}: has {len(fields)} fields, and the header has {len(names)}; a decimal comma "
                    "needs quotes, or ';' between fields"
                )
            given = defaultdict(str, zip(names, map(str.strip, fields), strict=True))
            if given["claims"]:
                claims.append((given["where"], given["claims"]))
            if given["mean"]:
                cell = _cell(given, where, lines.line_num)
                if cells.setdefault(cell[:4], cell) is not cell:
                    at = ", ".join(filter(None, cell[:4]))
                    raise HypersphereError(f"{where}: the number at {at} is given twice")
                if not (cell.n_test and 0 <= cell.mean <= 1) or "%" in given["mean"]:
                    percent.add((cell.where, cell.metric))
    except csv.Error as error:
        raise HypersphereError(f"{file}: line {lines.line_num}: not valid CSV ({error})") from None
    if not cells:
        raise HypersphereError(f"{file}: mean: no line has a number")
    for share in (cell for cell in cells.values() if (cell.where, cell.metric) not in percent):
        named = " ".join(filter(None, (share.where, share.metric))) or "mean"
        raise HypersphereError(
            f"{file}: {named}: all means are between 0 and 1, and shares of n_test examples are read in percent; "
            "write 93 for 0.93, or 0.93% for less than one percent"
        )
    return list(cells.values()), claims


def _cell(given: Mapping[str, str], where: str, line: int) -> Cell:
    mean, *std = PLUS_OR_MINUS.split(given["mean"], maxsplit=1)

    def optional(name: str, text: str) -> Decimal | None:
        return number(text, f"{where}: {name}") if text else None

    better = YES_OR_NO.get(given["higher_is_better"].lower())
    if better is None:
        raise HypersphereError(f"{where}: higher_is_better: must be yes or no (given: '{given['higher_is_better']}')")
    cell = Cell(
        where=given["where"],
        row=given["row"] or f"line {line}",
        column=given["column"],
        metric=given["metric"],
        mean=number(mean, f"{where}: mean"),
        std=optional("std", given["std"] or "".join(std)),
        n=count(given["n"], f"{where}: n"),
        n_test=count(given["n_test"], f"{where}: n_test"),
        higher_is_better=better,
        low=optional("low", given["low"]),
        high=optional("high", given["high"]),
        baseline=given["baseline"],
    )
    if cell.std is not None and cell.std < 0:
        raise HypersphereError(f"{where}: std: must not be negative (given: '{cell.std}')")
    return cell


def number(text: str, where: str) -> Decimal:
    """A printed number: with a decimal point or comma, a percent sign, any minus sign."""
    plain = MINUS.sub("-", text.strip().rstrip("%\N{FULLWIDTH PERCENT SIGN}").strip())
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        value = Decimal(plain)
    except InvalidOperation:
        value = Decimal("nan")
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -DECIMALS or "_" in plain or value.adjusted() > DECIMALS:
        raise HypersphereError(f"{where}: must be a number, with {DECIMALS} decimals at most (given: '{text}')")
    value = value.quantize(Decimal(1)) if exponent > 0 else value
    return value if value else abs(value)


def count(text: str, where: str) -> int | None:
    """A number of runs or examples, with or without a separator of thousands; None for an empty field."""
    if not text:
        return None
    plain = re.sub(r"(?<=\d)[,.' \N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}](?=\d{3}\b)", "", text)
    if not (re.fullmatch(r"\d{1,8}(\.0)?", plain, re.ASCII) and 1 <= float(plain) <= LARGEST):
        raise HypersphereError(f"{where}: must be a whole number from 1 to {LARGEST} (given: '{text}')")
    return int(float(plain))
