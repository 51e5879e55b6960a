"""A claim of kind theorem takes its verdict from the row of theory.csv that has its id and its reading."""

from pathlib import Path

import pandas as pd
import pytest

from hypersphere.config.claims import Claim
from hypersphere.errors import HypersphereError
from hypersphere.statistics import studies
from hypersphere.theory.table import COLUMNS


def judge(identifier: str, reading: str) -> dict[str, object]:
    return studies.of_theorem(Claim.model_construct(id=identifier, reading=reading), Path("c.csv"), TABLE)


ROWS = [
    ("a", "p", "as printed", 10, 9, 2, 0.5, "{}", "refuted"),
    ("a", "p", "M1", 10, 9, 0, 1e-16, "", "no counterexample (erratum)"),
]
TABLE = pd.DataFrame(ROWS, columns=list(COLUMNS))


def test_id_and_reading_choose_the_row() -> None:
    assert judge("a", "as printed")["verdict"] == "refuted"
    found = judge("a", "M1")
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
        judge("b", "as printed")
