"""What the records of one scale say: which claims are kept, how their runs differ, and where it is written."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from hypersphere.config import claims as ledger
from hypersphere.config import plan as planning
from hypersphere.provenance import tables
from hypersphere.provenance.columns import CLAIMS
from hypersphere.statistics import confirmed, judge, judged_records
from hypersphere.statistics.judged_records import JUDGED

VERDICTS = {"kept": "laptop only", "left": "not run", "unpublished": "laptop only"}
SETTINGS = {"device": "cpu"}


def cell(claim: str, run: str | None) -> SimpleNamespace:
    return SimpleNamespace(paper="norms", artifact="table5", text=f"of {claim}", run=run)


CELLS = {
    "laptop": [cell("kept", "small"), cell("left", "small"), cell("unpublished", "small")],
    "paper": [cell("kept", "large"), cell("left", "large"), cell("unpublished", None)],
}
"""The cells of the recorded plan and of the published one, by the scale; None: the scale has no run there."""


def make_plan(root: Path, settings: Mapping[str, Any]) -> SimpleNamespace:
    recorded = {"scale": "laptop", "evidence_only": True}
    assert settings in (SETTINGS | recorded, SETTINGS | {"scale": "paper"})
    records = {"small": ["first"], "strange": ["second", "third"]}
    config = SimpleNamespace(root=root, evidence=root / "evidence")
    return SimpleNamespace(config=config, cells=CELLS[settings["scale"]], records=records)


def judged_claims(plan: Any) -> pd.DataFrame:
    rows = [{"id": name, "verdict": verdict} for name, verdict in VERDICTS.items()]
    text = {name: "" for name, kind in CLAIMS.items() if kind == "text"}
    claims = pd.DataFrame([text | row for row in rows], columns=list(CLAIMS))
    return tables.as_read(claims, CLAIMS)


def undeclared_records(plan: Any, every: list[str], folder: Path) -> list[str]:
    return [f"{folder.name} holds {one}" for one in every if one != "first"]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project of one document, of which one scale has records of three claims."""
    listed = [
        SimpleNamespace(id=name, artifact="table5", text=f"of {name}")
        for name in (*VERDICTS, "new")
    ]
    monkeypatch.setattr(planning, "make", make_plan)
    monkeypatch.setattr(ledger, "of", lambda config, paper: listed)
    monkeypatch.setattr(judge, "of_encoders", judged_claims)
    monkeypatch.setattr(judged_records, "undeclared_records", undeclared_records)
    monkeypatch.setattr(judged_records, "differences", lambda ours, theirs: [ours, f"for {theirs}"])
    (tmp_path / "config" / "scales").mkdir(parents=True)
    for scale in ("laptop", "smoke"):
        (tmp_path / "config" / "scales" / f"{scale}.yaml").touch()
        (tmp_path / "evidence" / scale).mkdir(parents=True)
        (tmp_path / "evidence" / scale / "runs.csv").touch()
    return SimpleNamespace(root=tmp_path, papers=["norms"], shared_settings=SETTINGS)


def answered(study: str) -> dict[str, tuple[pd.DataFrame, tables.Columns]]:
    """What ``confirmed.of_plan`` gives: an answer, and other tables without a row."""
    found = {name: pd.DataFrame(columns=list(kinds)) for name, kinds in confirmed.TABLES.items()}
    row = {"paper": "ours", "study": study, "answer": "yes", "finished": True}
    found["answers"] = pd.DataFrame([row])
    return {name: (found[name], kinds) for name, kinds in confirmed.TABLES.items()}


def test_claims_that_records_answer_are_written_with_what_their_runs_differ_in(
    config: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(confirmed, "of_plan", lambda plan: answered("cuts"))
    judged_records.of_scale(config, "laptop")
    file = config.root / "results/report/records/laptop/claims.csv"
    claims = tables.read(file, JUDGED).set_index("id")
    assert claims["differs"].to_dict() == {"kept": "small; for large", "unpublished": ""}
    notes = [f"note: evidence holds {one}; it counts for nothing" for one in ("second", "third")]
    assert capsys.readouterr().out.splitlines() == notes


def test_the_studies_of_all_recorded_scales_are_read_together(
    config: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scale, study in (("laptop", "cuts"), ("smoke", "rates")):
        written = {"claims": (judged_claims(None).assign(differs=""), JUDGED), **answered(study)}
        tables.write(config.root / "results/report/records" / scale, written)
    found = judged_records.of_studies(config.root)
    assert list(found) == list(confirmed.TABLES)
    assert list(found["answers"]["study"]) == ["cuts", "rates"]
    assert list(found["splits"]) == list(confirmed.TABLES["splits"])
    assert found["splits"].empty
