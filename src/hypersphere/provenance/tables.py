"""Write tidy tables with their checksums, and read them by the kinds of columns that each table declares."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import seal, tidy_manifest

Kind = Literal["text", "number", "flag"]
"""What a column holds. An empty field is empty text, NaN or False."""
Row = dict[str, Any]
"""A row of a tidy table, by column."""
Columns = dict[str, Kind]
"""A table's columns in their order, each with what it holds."""


def texts(*names: str) -> Columns:
    """Columns of text."""
    return dict.fromkeys(names, "text")


def numbers(*names: str) -> Columns:
    """Columns of numbers, which are float64."""
    return dict.fromkeys(names, "number")


def flags(*names: str) -> Columns:
    """Columns of True and False."""
    return dict.fromkeys(names, "flag")


EVALUATION: Columns = {
    "run": "text",
    "epoch": "number",
    "protocol": "text",
    "measure": "text",
    "target": "text",
    "reading": "text",
    "value": "number",
    "n_test": "number",
    "classes": "text",
    "status": "text",
}
"""The columns of the measurements of one run by one protocol."""


def write(
    folder: Path,
    tables: Mapping[str, tuple[pd.DataFrame, Iterable[str]]],
    also: Sequence[Path] = (),
) -> None:
    """Write tidy tables, by name and each with its columns, and then the manifest with their checksums.

    Numbers have ten significant digits; a missing or infinite one is an empty field. ``also`` are files of the folder
    that have been written already, for the manifest.
    """
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, (table, columns) in tables.items():
        files.write_text(paths[name], _print(table, columns))
    first = next(iter(paths.values()))
    seal(tidy_manifest(first), [*also, *paths.values()])


def _print(table: pd.DataFrame, columns: Iterable[str]) -> str:
    shown = table[list(columns)].copy()
    for column in shown.select_dtypes("float"):
        # + 0.0 turns -0.0 into 0.0, which would otherwise be two spellings of one number.
        shown[column] = shown[column].replace([np.inf, -np.inf], np.nan) + 0.0
    return shown.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def as_read(table: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """A table as it would be read from its file."""
    return _parse(io.StringIO(_print(table, columns)), columns)


def read(path: Path, columns: Columns) -> pd.DataFrame:
    """Read a tidy table, which must have ``columns``; a wrong one is a sentence that names the file and the column."""
    try:
        files.check_regular(path)
        return _parse(path, columns)
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (ValueError, pd.errors.ParserError) as error:
        raise HypersphereError(f"{path}: cannot be read as a CSV table ({error})") from None


def _parse(source: Path | io.StringIO, columns: Columns) -> pd.DataFrame:
    table = pd.read_csv(source, dtype=str, keep_default_na=False, encoding="utf-8")
    for column in (*columns, *table.columns):
        if column not in table.columns:
            raise ValueError(f"column {column} is missing; expected: {', '.join(columns)}")
        if column not in columns:
            raise ValueError(f"column {column} is unknown; expected: {', '.join(columns)}")
    for column, kind in columns.items():
        if kind == "number":
            try:
                table[column] = [float(value) if value else math.nan for value in table[column]]
            except ValueError as error:
                raise ValueError(f"column {column}: {error}") from None
        elif kind == "flag":
            table[column] = table[column] == "True"
    return table


def rows(table: pd.DataFrame) -> list[Row]:
    """The rows of a table, each by column."""
    return cast(list[Row], table.to_dict("records"))
