"""A claim of kind theorem takes its verdict from the row of theory.csv that has its id and its reading."""

from pathlib import Path

import pandas as pd
import pytest

from hypersphere.errors import HypersphereError
from hypersphere.statistics import theorems
from hypersphere.theory.table import COLUMNS

ROWS = [
    ("a", "p", "as printed", 10, 9, 2, 0.5, "{}", "refuted"),
    ("a", "p", "M1", 10, 9, 0, 1e-16, "", "no counterexample (erratum)"),
]
TABLE = pd.DataFrame(ROWS, columns=list(COLUMNS))


def test_id_and_reading_choose_the_row() -> None:
    assert theorems.judge("a", "as printed", Path("c.csv"), TABLE)["verdict"] == "refuted"
    found = theorems.judge("a", "M1", Path("c.csv"), TABLE)
    assert found == {
        "measured": 1e-16,
        "verdict": "no counterexample (erratum)",
        "draws": 10,
        "met": 9,
        "violated": 0,
        "counterexample": "",
    }


def test_no_row_is_one_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"^c\.csv: b: no statement of this id and reading 'as printed'"):
        theorems.judge("b", "as printed", Path("c.csv"), TABLE)
