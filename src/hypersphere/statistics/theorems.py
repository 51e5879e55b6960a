"""Verdicts on theorems: theory.csv, as `hypersphere theory` writes it, held against the claims of kind ``theorem``."""

from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.errors import HypersphereError
from hypersphere.theory.table import COLUMNS as COLUMNS


def judge(identifier: str, reading: str, file: Path, theory: pd.DataFrame) -> dict[str, Any]:
    """The measured columns of a theorem: ``measured`` is the largest violation, relative to the statement's own scale.

    Raises:
        HypersphereError: the claim of ``file`` has no statement of its name and reading.
    """
    rows = theory[(theory["id"] == identifier) & (theory["reading"] == reading)]
    if len(rows) != 1:
        raise HypersphereError(f"{file}: {identifier}: no statement of this id and reading '{reading}' was checked")
    found = rows.iloc[0]
    return {
        "measured": float(found["worst"]),
        "verdict": found["verdict"],
        **{name: int(found[name]) for name in ("draws", "met", "violated")},
        "counterexample": found["counterexample"],
    }
