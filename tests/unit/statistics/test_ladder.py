"""The ladder: the best evidence speaks."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere.config.certainty import RUNGS, Rung, load_certainty
from hypersphere.provenance import columns
from hypersphere.provenance.tables import Row
from hypersphere.statistics import judged_records, ladder

from ...golden.released import ROOT


@pytest.mark.parametrize(("first", "second"), list(itertools.product(RUNGS, repeat=2)))
def test_the_best_rung_counts_and_on_it_the_most_runs(first: Rung, second: Rung) -> None:
    best = ladder.sort(
        [{"rung": first, "n": 2.0, "scale": ""}, {"rung": second, "n": 7.0, "scale": ""}]
    )[0]
    higher = min(first, second, key=list(RUNGS).index)
    assert (best["rung"], best["n"]) == (higher, 7.0 if higher == second else 2.0)


def test_proofs_records_and_finished_scales_are_all_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records have a column more than results: how their runs differ from the published ones."""
    finished = tmp_path / "results" / "paper" / "claims.csv"

    def of_encoders(config: Any, file: Path, kinds: Any, rules: Any) -> list[Row]:
        scale = file.parent.name
        assert kinds == (columns.CLAIMS if file == finished else judged_records.JUDGED)
        assert file in (finished, tmp_path / f"results/report/records/{scale}/claims.csv")
        return [{"rung": "published" if scale == "paper" else "laptop", "n": 5.0, "scale": scale}]

    proof = {"rung": "proof", "n": 0.0, "scale": ""}
    monkeypatch.setattr(ladder, "_exact", lambda config, rules: [proof])
    monkeypatch.setattr(ladder, "_encoders", of_encoders)
    monkeypatch.setattr(judged_records, "recorded_scales", lambda root: ["smoke", "laptop"])
    monkeypatch.setattr(judged_records, "finished_here", lambda root: [finished])
    config: Any = SimpleNamespace(root=tmp_path)
    steps = ladder.of_project(config, load_certainty(ROOT))
    assert [step["scale"] for step in steps] == ["", "paper", "laptop", "smoke"]
