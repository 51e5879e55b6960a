"""Write tidy tables with their checksums, and read them; a column's name decides its type."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import tidy_manifest

EVALUATION = ("run", "epoch", "protocol", "measure", "target", "reading", "value", "n_test", "classes", "status")
"""The columns of the measurements of one run by one protocol."""
NUMBERS = {
    *("value", "mean", "std", "low", "high", "effect", "p", "p_holm", "low_holm", "high_holm", "df", "pooled_std"),
    *("levene_p", "welch_low", "welch_high", "welch_p", "paired_low", "paired_high", "paired_p", "correlation"),
    *("pooled_low", "pooled_high", "pooled_p", "low_equal", "high_equal"),
    *("detectable", "quantile", "loss", "norm", "learning_rate", "chance", "measured_std", "reported_std"),
    *(
        "n",
        "n_test",
        "n_diverged",
        "n_declared",
        "n_missing",
        "n_variant",
        "n_baseline",
        "n_pairs",
        "seed",
        "epoch",
        "epochs",
        "threads",
    ),
    *("draws", "met", "violated", "worst", "margin", "top", "height", "width", "x", "y", "z"),
}
"""Columns of numbers in any table; an empty field is NaN. All other columns are text."""
FLAGS = {"final", "low_power"}
"""Columns of True and False; an empty field is False."""


def write(folder: Path, tables: Mapping[str, tuple[pd.DataFrame, Sequence[str]]], also: Sequence[Path] = ()) -> None:
    """Write tidy tables, by name and each with its columns, and then the manifest with their checksums.

    ``also`` are files of the folder that have been written already, for the manifest.
    """
    paths = [_write(folder / f"{name}.csv", table, columns) for name, (table, columns) in tables.items()]
    checksums = {path.name: files.sha256(path) for path in (*paths, *also)}
    files.write_sealed(tidy_manifest(paths[0]), {"files": checksums})


def _write(path: Path, table: pd.DataFrame, columns: Sequence[str]) -> Path:
    """Write numbers with ten significant digits; a missing or infinite one is an empty field."""
    table = table[list(columns)].copy()
    for column in table.select_dtypes("float"):
        # + 0.0 turns -0.0 into 0.0, which would otherwise be two spellings of one number.
        table[column] = table[column].replace([np.inf, -np.inf], np.nan) + 0.0
    files.write_text(path, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
    return path


def read(path: Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a tidy table; numbers are float64, flags bool, the rest text.

    Args:
        path: of the CSV.
        columns: required ones.

    Raises:
        HypersphereError: a sentence naming the file, and the column that is missing or malformed.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (ValueError, pd.errors.ParserError) as error:
        raise HypersphereError(f"{path}: cannot be read as a CSV table ({error})") from None
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise HypersphereError(f"{path}: column {missing[0]} is missing; expected: {', '.join(columns)}")
    for column in table.columns:
        if column in NUMBERS:
            try:
                table[column] = [float(value) if value else math.nan for value in table[column]]
            except ValueError as error:
                raise HypersphereError(f"{path}: column {column}: {error}") from None
        elif column in FLAGS:
            table[column] = table[column] == "True"
    return table
