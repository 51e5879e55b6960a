"""Verdicts on claims of kind ``theorem``, from the theory.csv that `hypersphere theory` writes."""

from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.errors import HypersphereError
from hypersphere.theory.table import COLUMNS as COLUMNS


def judge(identifier: str, reading: str, file: Path, theory: pd.DataFrame) -> dict[str, Any]:
    """The measured columns of a theorem; ``measured`` is the largest violation, relative to the statement's scale.

    Raises:
        HypersphereError: no statement has the id and the reading of this claim of ``file``.
    """
    rows = theory[(theory["id"] == identifier) & (theory["reading"] == reading)]
    if len(rows) != 1:
        raise HypersphereError(f"{file}: {identifier}: no statement of this id and reading '{reading}' was checked")
    row = rows.iloc[0]
    return {
        "measured": float(row["worst"]),
        "verdict": row["verdict"],
        **{name: int(row[name]) for name in ("draws", "met", "violated")},
        "counterexample": row["counterexample"],
    }
