"""Claims that theorems and exact studies answer, read from results that jobs may still be writing."""

from pathlib import Path

import pandas as pd
import pytest

from hypersphere.errors import DamagedError
from hypersphere.provenance import exact, tables
from hypersphere.provenance.columns import CLAIMS
from hypersphere.provenance.exact import Exact


def test_the_claims_of_a_paper_are_read_while_those_of_another_are_copied(tmp_path: Path) -> None:
    """Its table is there before its manifest. The control asks for both papers."""
    results = Exact(tmp_path, {paper: tmp_path / paper for paper in ("mine", "other", "none")})
    for folder, name, paper in (
        (tmp_path, "theory_claims", "mine"),
        (tmp_path / "mine", "claims", "mine"),
    ):
        table = pd.DataFrame([{"id": name, "paper": paper}], columns=list(CLAIMS))
        tables.write(folder, {name: (table, CLAIMS)})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "claims.csv").write_text("id,paper\n")
    assert exact.claims(results, ["mine", "none"])["id"].tolist() == ["theory_claims", "claims"]
    with pytest.raises(DamagedError):
        exact.claims(results, ["mine", "other"])
