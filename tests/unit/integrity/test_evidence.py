"""Evidence records: complete, checked, and never of a small run among those of the published scale."""

import json
import shutil
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.declared import plan as planning
from hypersphere.declared import records
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.integrity import evidence, provenance
from hypersphere.probes import evaluate
from hypersphere.training import loop
from hypersphere.training.pretrain import pretrain


@pytest.fixture
def run(tiny_plan: Plan, finished: Path) -> Run:
    """Trained and evaluated, with its batch."""
    shutil.copytree(finished / "results", tiny_plan.config.root / "results")
    return tiny_plan.batches[0].runs[0]


def digest(plan: Plan, run: Run, probe: str) -> str:
    """Of the protocol that has this probe."""
    return next(
        name for name, one in plan.asked[run.name].items() if one.protocol.probe and one.protocol.probe.name == probe
    )


def test_a_small_run_is_packed_beside_its_results(tiny_plan: Plan, run: Run) -> None:
    path = evidence.pack(tiny_plan, run)
    assert path.parent == tiny_plan.config.root / "results" / "tiny" / "evidence"
    assert path.name.startswith(f"{run.name}-")
    assert not (tiny_plan.config.root / "evidence").exists()
    record = records.read(path)
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
    manifest = json.loads((tiny_plan.run_folder(run.name) / "manifest.json").read_text())
    assert record.files == manifest["files"]
    assert {(one.protocol, one.measure, one.target) for one in record.pixels} == {
        *((knn, f"knn_top{k}", "upright") for k in (1, 5)),
        *((linear, f"linear_top{k}", on) for k in (1, 5) for on in ("turned", "upright")),
    }
    assert (record.code, record.data) == (manifest["code"], manifest["data"])
    assert record.evaluated_by.keys() == {knn, linear, norms}
    asked = tiny_plan.asked[run.name]
    for name, about in record.evaluated_by.items():
        assert about["code"] == provenance.protocol_digest(asked[name].protocol, run)
        assert about["protocol"] == asked[name].protocol.model_dump(mode="json", include={"probe", "layer"})
        assert about["device"] == {"type": "cpu", "name": "cpu"}
    again = path.read_bytes()
    assert evidence.pack(tiny_plan, run).read_bytes() == again


def test_history_keeps_every_bit(tiny_plan: Plan, run: Run) -> None:
    lines = (tiny_plan.run_folder(run.name) / "history.csv").read_text().splitlines()
    names = lines[0].split(",")
    printed = [dict(zip(names, map(float, line.split(",")), strict=True)) for line in lines[1:]]
    record = records.read(evidence.pack(tiny_plan, run))
    assert record.history == printed


def test_a_diverged_run_is_packed(tiny_plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its history holds a loss that is not a number, which JSON cannot."""
    run, epoch = tiny_plan.batches[0].runs[0], loop._epoch

    def diverging(run: Run, *arguments: object) -> dict[str, float]:
        row = epoch(run, *arguments)  # type: ignore[arg-type]
        return row | {"loss": float("nan")} if row["epoch"] == 2 else row

    monkeypatch.setattr(loop, "_epoch", diverging)
    pretrain(tiny_plan, [run])
    evaluate.evaluate_runs(tiny_plan, [run])
    for dataset in tiny_plan.asked_of_pixels:
        evaluate.evaluate_pixels(tiny_plan, dataset)
    record = records.read(evidence.pack(tiny_plan, run))
    assert (record.status, record.epochs) == ("diverged", 2)
    assert record.history[-1]["loss"] is None
    assert record.history[0]["loss"] is not None
    trained = [m for m in record.evaluations if m.epoch]
    assert {(m.status, m.value, m.n_test, m.classes, m.reading) for m in trained} == {
        ("diverged", None, None, None, "")
    }
    assert {m.status for m in record.evaluations if not m.epoch} == {"finished"}  # its initial weights are any run's


def test_only_the_published_scale_itself_goes_to_evidence(tiny_root: Path) -> None:
    """A changed number of the paper scale makes another scale."""
    published = planning.make(tiny_root, {"scale": "paper"})
    changed = planning.make(tiny_root, {"scale": "paper", "epochs": 3})
    run = next(iter(published.runs.values()))
    for plan in (published, changed):
        with pytest.raises(HypersphereError, match=r"manifest\.json: the file is missing"):
            evidence.pack(plan, run)
    assert published.config.scale_name == "paper"
    assert changed.config.scale_name != "paper"


def test_altered_files_are_refused(tiny_plan: Plan, run: Run) -> None:
    for name in ("encoder.safetensors", "history.csv", "snapshots/epoch-0002.safetensors"):
        path = tiny_plan.run_folder(run.name) / name
        data = path.read_bytes()
        path.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
        with pytest.raises(HypersphereError, match=f"{name}: the file's bytes are not those of its manifest"):
            evidence.pack(tiny_plan, run)
        path.write_bytes(data)
    evidence.pack(tiny_plan, run)


def test_a_run_without_evaluations_is_refused(tiny_plan: Plan, run: Run) -> None:
    """However many of its protocols are there."""
    for name in ("norms", "knn"):
        path = tiny_plan.evaluation(run.name, digest(tiny_plan, run, name))
        path.unlink()
        with pytest.raises(HypersphereError, match=r"\.csv: the file is missing; .*evaluate " + run.name):
            evidence.pack(tiny_plan, run)


def test_altered_answers_are_refused(tiny_plan: Plan, run: Run) -> None:
    path = tiny_plan.evaluation(run.name, digest(tiny_plan, run, "knn"))
    path.write_text(path.read_text().replace("finished", "finishes", 1))
    with pytest.raises(HypersphereError, match=f"{path.name}: the file's bytes are not those of its manifest"):
        evidence.pack(tiny_plan, run)


CHANGES: list[tuple[list[str | int], object, str]] = [
    (["name"], "simclr-default-upright-s0-00000000", "name: the record's content is named"),
    (["code"], "0", "the record's content belongs in a file called"),
    (["run", "seed"], 7, "name: the record's content is named"),
    (["run", "optimiser", "learning_rate"], 0.2, "name: the record's content is named"),
    (["status"], "fine", "status"),
    (["level"], "huge", "level"),
    (["extra"], 1, "extra: unknown; "),
    (["epochs"], 0, "epochs"),
    (["schema_version"], 2, "schema_version"),
    (["evaluations", 0, "status"], "ok", "evaluations"),
    (["evaluations", 0, "metric"], "knn_top1", "metric: unknown; "),
    (["evaluations", 0, "classes"], "ten", "classes"),
]


def test_a_record_that_was_changed_is_refused(tiny_plan: Plan, run: Run) -> None:
    path = evidence.pack(tiny_plan, run)
    text = path.read_text()
    for keys, value, said in CHANGES:
        record = json.loads(text)
        inner = record
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        files.write_json(path, record)
        with pytest.raises(HypersphereError, match=said) as caught:
            records.read(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def test_a_record_under_another_name_is_refused(tiny_plan: Plan, run: Run) -> None:
    path = evidence.pack(tiny_plan, run)
    moved = path.rename(path.with_name("simclr-default-upright-s1-00000000.json"))
    with pytest.raises(HypersphereError, match="the record's content belongs in a file called"):
        records.read(moved)
