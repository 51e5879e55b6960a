"""Evidence records: complete, checked, and never of a small run among those of the published scale."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.probes import evaluate
from hypersphere.provenance import digests, evidence
from hypersphere.training import loop
from hypersphere.training.pretrain import pretrain

from ...fixtures import Refused
from ...harm import flip


@pytest.fixture
def run(tiny_plan: Plan, finished: Path) -> Run:
    """Trained and evaluated, with its batch."""
    shutil.copytree(finished / "results", tiny_plan.config.root / "results")
    return tiny_plan.batches[0].runs[0]


def packed(plan: Plan, run: Run) -> records.Record:
    folder = evidence.pack(plan, run)
    (record,) = records.read_folder(folder, plan.config.scale_name, plan.config.scale.level)
    return record


def digest(plan: Plan, run: Run, probe: str) -> str:
    """Of the protocol that has this probe."""
    return next(
        name for name, one in plan.asked[run.name].items() if one.protocol.probe and one.protocol.probe.name == probe
    )


def test_a_small_run_is_packed_beside_its_results(tiny_plan: Plan, run: Run) -> None:
    folder = evidence.pack(tiny_plan, run)
    assert folder == tiny_plan.config.root / "results" / "tiny" / "evidence"
    assert not (tiny_plan.config.root / "evidence").exists()
    record = packed(tiny_plan, run)
    assert record.run == run
    assert (record.scale, record.level, record.status, record.epochs) == ("tiny", "quick", "finished", 4)
    assert [row["epoch"] for row in record.history] == [1, 2, 3, 4]
    knn, linear, norms = (digest(tiny_plan, run, probe) for probe in ("knn", "linear", "norms"))
    assert {(m.protocol, m.epoch, m.measure, m.target, m.reading) for m in record.evaluations} == {
        *((knn, epoch, f"knn_top{k}", "upright", "") for epoch in (0, 2, 4) for k in (1, 5)),
        *((linear, at, f"linear_top{k}", on, "") for at in (0, 4) for k in (1, 5) for on in ("turned", "upright")),
        *((norms, epoch, "norm", "upright", f"split={split}") for epoch in (0, 4) for split in ("train", "test")),
    }
    answer = next(m for m in record.evaluations if m.measure == "linear_top5" and m.target == "turned")
    assert (answer.n_test, answer.classes, answer.status) == (48, 16, "finished")
    manifest = files.read_json(tiny_plan.run_folder(run.name) / "manifest.json")
    assert record.files == manifest["files"]
    assert {(one.protocol, one.measure, one.target) for one in record.pixels} == {
        *((knn, f"knn_top{k}", "upright") for k in (1, 5)),
        *((linear, f"linear_top{k}", on) for k in (1, 5) for on in ("turned", "upright")),
    }
    assert (record.code, record.data) == (manifest["code"], manifest["data"])
    of_protocol = {one.protocol: record.evaluated_by[one.by] for one in record.evaluations}
    assert of_protocol.keys() == {knn, linear, norms}
    asked = tiny_plan.asked[run.name]
    for name, about in of_protocol.items():
        assert about.code == digests.protocol_digest(asked[name].protocol, run)
        assert about.protocol == asked[name].protocol.model_dump(mode="json", include={"probe", "layer"})
        assert about.device == {"type": "cpu", "name": "cpu"}


def test_a_diverged_run_is_packed(tiny_plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its history holds a loss that is not a number, which JSON cannot."""
    run = tiny_plan.batches[0].runs[0]
    step, losses = loop._step, iter([0.0, 0.0, float("nan"), 0.0])  # of two steps an epoch

    def diverging(*arguments: Any) -> Tensor:
        return step(*arguments) + torch.tensor([next(losses), 0.0])

    monkeypatch.setattr(loop, "_step", diverging)
    pretrain(tiny_plan, [run])
    evaluate.evaluate_runs(tiny_plan, [run])
    record = packed(tiny_plan, run)
    assert (record.status, record.epochs) == ("diverged", 2)
    assert record.history[-1]["loss"] is None
    assert record.history[0]["loss"] is not None
    trained = [m for m in record.evaluations if m.epoch]
    assert {(m.status, m.value, m.n_test, m.classes, m.reading) for m in trained} == {
        ("diverged", None, None, None, "")
    }
    assert {m.status for m in record.evaluations if not m.epoch} == {"finished"}  # its initial weights are any run's


def test_what_is_altered_or_not_measured_is_refused(tiny_plan: Plan, run: Run, refused: Refused) -> None:
    """However many of its protocols are there."""
    measured = tiny_plan.evaluation(run.name, digest(tiny_plan, run, "knn"))
    for path in (tiny_plan.run_folder(run.name) / "encoder.safetensors", measured):
        content = path.read_bytes()
        for harm in (flip, Path.unlink):
            harm(path)
            with refused():
                evidence.pack(tiny_plan, run)
            path.write_bytes(content)
    evidence.pack(tiny_plan, run)
