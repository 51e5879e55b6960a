"""Once the published runs exist, their claims have verdicts: with made-up measurements that differ between cells.

No claim is left undecided then, but those of artifacts whose document leaves open what is needed.
"""

import zlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.config import rules as rules_file
from hypersphere.config.cells import CONTROL, Cell
from hypersphere.config.claims import load, why_not_measured
from hypersphere.config.measures import LARGEST, MEASURES
from hypersphere.config.rules import Verdict
from hypersphere.provenance.columns import RUNS
from hypersphere.statistics import gather, measure
from hypersphere.statistics.judge import Judge

from .released import ROOT, released

RULES = rules_file.load(ROOT)
PAPERS = sorted(path.parent.name for path in (ROOT / "papers").glob("*/claims.csv"))
CLOSE = 1.5
"""The widest margin of an accuracy, in points."""
MADE_UP = {
    "status": "finished",
    "device": "made up",
    "kind": "cuda",
    "precision": "float32",
    "records": 1,
}


def drawn(text: str) -> float:
    """A number from 0 to 1 that the text decides."""
    return zlib.crc32(text.encode()) / 2**32


def made_up(cell: Cell) -> dict[str, Any]:
    """A value inside the measure's range, from which other seeds differ by next to nothing; a control is at its end."""
    assert cell.run
    declared = MEASURES[cell.measure]
    low, high = max(declared.low, 0.0), declared.high if declared.high < LARGEST else 100.0
    share = 0.3 + 0.6 * drawn(cell.text) + 1e-6 * drawn(f"{cell.text} {cell.run.seed}")
    if cell.coordinates["method"] == CONTROL:
        share = 0.0 if declared.better == "higher" else 1.0
    return {"value": low + (high - low) * share, "n_test": 10_000, "status": "finished"}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run of every plan is there, and says what is made up."""

    def runs(plan: Any, names: Any) -> pd.DataFrame:
        return pd.DataFrame(
            [{"run": name, "weights": name, **MADE_UP} for name in names], columns=list(RUNS)
        )

    monkeypatch.setattr(gather.Measurer, "_value", lambda self, cell, *of: made_up(cell))
    monkeypatch.setattr(gather.Measurer, "_from_history", lambda self, cell: made_up(cell))
    monkeypatch.setattr(
        gather.Measurer, "_value_against_baseline", lambda self, cell, baseline: made_up(cell)
    )
    monkeypatch.setattr(gather.Measurer, "controls", lambda self, cells: [])
    monkeypatch.setattr(gather, "runs", runs)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("paper", PAPERS)
def test_each_claim_has_a_verdict_once_its_runs_say_something_clear(paper: str) -> None:
    plan = released("paper")
    document = plan.config.papers[paper]
    claims = [
        one
        for one in load(ROOT / "papers" / paper / "claims.csv")
        if one.artifact in document.measured
    ]
    claims = [
        one
        for one in claims
        if one.reported != 0 or one.kind == "value" or one.direction == "equal"
    ]
    open_claims, settled = [], 0
    for artifact in dict.fromkeys(one.artifact for one in claims):
        own = [
            one
            for one in claims
            if one.artifact == artifact and not why_not_measured(plan, paper, one)
        ]
        judge = Judge(
            plan, document, artifact, measure.judged_tables(plan, paper, artifact, RULES), RULES
        )
        for claim in own:
            found = judge.of(claim)
            if (
                claim.kind == "value"
                and abs(found["measured"] - (claim.reported or 0.0)) < 5 * CLOSE
            ):
                continue  # it may be on the limit of the margin
            expected = (
                Verdict.CANNOT_BE_JUDGED if document.measured[artifact].cannot_be_judged else None
            )
            decided = Verdict.of(found["verdict"]).settles or found["verdict"] == expected
            open_claims += [] if decided else [(claim.id, found["verdict"], found["why"])]
            settled += decided
    assert open_claims == []
    assert settled > 0


def test_values_that_are_made_up_differ_between_cells_and_hardly_between_seeds() -> None:
    """The control: the fixture has no two levels that a claim could not tell apart."""
    cells = [cell for cell in released("paper").artifacts["margins", "fig3"] if cell.run]
    values = pd.Series([made_up(cell)["value"] for cell in cells], [cell.text for cell in cells])
    levels = values.groupby(level=0).agg(["mean", np.ptp])
    assert levels["ptp"].max() < 1e-3
    assert np.diff(np.sort(levels["mean"])).min() > 1e-3
