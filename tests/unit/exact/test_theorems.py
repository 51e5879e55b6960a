"""theory.csv: every statement of every document, and a claim for each."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from hypersphere.config import project as cfg
from hypersphere.config.claims import load
from hypersphere.config.errata import load_errata
from hypersphere.exact import theorems
from hypersphere.provenance.columns import THEORY
from hypersphere.report.entries import counterexample

from ...golden.released import configured

ROOT = Path(__file__).resolve().parents[3]
CONFIG = configured()
CLAIMS = {
    paper: [row for row in load(ROOT / "papers" / paper / "claims.csv") if row.kind == "theorem"]
    for paper in CONFIG.papers
}


def test_every_statement_is_a_claim_and_the_other_way_round_and_a_corrected_one_names_an_erratum() -> (
    None
):
    stated = {
        paper: sorted((one.id, one.reading) for one in theorems.statements(CONFIG, paper))
        for paper in CONFIG.papers
    }
    assert stated == {
        paper: sorted((row.id, row.reading) for row in rows) for paper, rows in CLAIMS.items()
    }
    ids = [identifier for rows in stated.values() for identifier, _ in rows]
    assert len(set(ids)) == len(ids)
    known = {entry.id for entry in load_errata(CONFIG)}
    readings = {claim.reading for rows in CLAIMS.values() for claim in rows}
    assert readings - {"as printed"} <= known
    assert len(readings) > 5


def test_the_table_is_as_documented_and_the_same_if_one_paper_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theorems, "DRAWS", 200)
    files = []
    for name, only in (("all", {}), ("one", {"only": ["lecture"]})):
        config = cfg.load(ROOT, only).model_copy(update={"root": tmp_path / name})
        theorems.build(config)
        files.append(config.exact / "theory.csv")
    assert files[0].read_bytes() == files[1].read_bytes()
    table = pd.read_csv(files[0], keep_default_na=False)
    assert list(table.columns) == list(THEORY)
    assert set(table["paper"]) == {paper for paper, rows in CLAIMS.items() if rows}
    assert set(table["verdict"]) == {"no counterexample", "no counterexample (erratum)", "refuted"}
    assert (table["draws"] == 200).all()
    for row in table.to_dict("records"):
        refuted = row["verdict"] == "refuted"
        # a refutation without an example convinces nobody
        assert refuted == bool(row["counterexample"]), row["id"]
        if refuted:
            example = json.loads(row["counterexample"])
            assert example["left"] != example["right"]
            shown = re.search(
                r"the left side is (.+) and the right side (.+)$",
                counterexample(row["counterexample"]),
            )
            assert shown, row["id"]
            assert shown[1] != shown[2], row["id"]  # in the digits that a reader sees, too


def test_a_statement_that_is_no_claim_is_named(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the small project, whose paper has more statements than claims; nothing of those that are claims."""
    monkeypatch.setattr(theorems, "DRAWS", 20)
    config = cfg.load(project_root, {})
    theorems.build(config)
    stated = {one.id for one in theorems.statements(config, "embedding_norms")}
    first, *notes = capsys.readouterr().out.splitlines()
    assert first == f"embedding_norms: {len(stated)} statements checked"
    claimed = {
        row.id for row in load(config.claims_file("embedding_norms")) if row.kind == "theorem"
    }
    named = {note.split()[2] for note in notes}
    assert named == stated - claimed
    assert claimed
