"""`hypersphere retrain`: which record a name stands for, and a run of seconds that is trained again."""

import shutil
from pathlib import Path

import pytest

from hypersphere.command import cli, retrain
from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.cells import confirms
from hypersphere.config.project import load
from hypersphere.provenance import evidence, stop

from ...fixtures import Refused
from ...golden.released import released
from ..provenance.test_evidence import changed, rewrite

FLIPPED = "f" * 64


@pytest.fixture
def recorded(tiny_root: Path, finished: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a run that is recorded in evidence/tiny, with its data and without results; it is of four epochs."""
    shutil.copytree(finished, tiny_root, dirs_exist_ok=True)
    plan = planning.make(tiny_root, {"scale": "tiny"})
    runs = plan.batches[0].runs
    for run in runs:
        packed = evidence.pack(plan, run)
    shutil.copytree(packed, plan.config.evidence, ignore=shutil.ignore_patterns(".*"))
    shutil.rmtree(tiny_root / "results")
    monkeypatch.chdir(tiny_root)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    return runs[0].name


def states(root: Path) -> dict[str, bytes]:
    """All files of the project, with their bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_on_the_same_machine_it_is_the_same_bytes_and_nothing_of_the_project_changes(
    tiny_root: Path,
    recorded: str,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, kept = states(tiny_root), tmp_path_factory.mktemp("kept")
    assert cli.main(["retrain", recorded.rpartition("-")[0], "--in", str(kept)]) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"\n{recorded}: same bytes\n")
    assert "knn_top1" in said
    assert ", as recorded" in said
    assert states(tiny_root) == before
    # What is made can be taken in as a record, and a second call trains nothing.
    (again,) = records.read_all(kept / recorded / "results" / "tiny" / "evidence", scale="tiny")[
        recorded
    ]
    assert again == records.read_all(tiny_root / "evidence" / "tiny")[recorded][0].model_copy(
        update={"seconds": again.seconds, "peak_memory_mb": again.peak_memory_mb}
    )
    assert cli.main(["retrain", recorded, "--in", str(kept)]) == 0
    assert "already finished" in capsys.readouterr().out


def test_a_changed_byte_of_a_record_is_different(
    tiny_root: Path, recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has seals of its own, so that no check of the tables sees it."""
    folder = tiny_root / "evidence" / "tiny"
    known = records.read_folder(folder, "tiny")
    of_weights = changed(
        known[0], lambda record: record["files"].update({"encoder.safetensors": FLIPPED})
    )
    assert of_weights.name == recorded
    rewrite(folder, [of_weights, *known[1:]])
    assert cli.main(["retrain", recorded]) == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith(
        f"hypersphere: retrain: {recorded}: different: encoder.safetensors: other bytes"
    )
    assert not (tiny_root / "results").exists()


def test_a_name_is_a_run_or_the_beginning_of_one_alone(
    tiny_root: Path, recorded: str, refused: Refused
) -> None:
    config = load(tiny_root, {})
    assert retrain.find(config, recorded) == ("tiny", recorded)
    assert retrain.find(config, recorded[:-1]) == ("tiny", recorded)
    assert retrain.find(load(tiny_root, {"scale": "tiny"}), recorded) == ("tiny", recorded)
    for wrong in (recorded.partition("-")[0], f"x{recorded[1:]}", "no such thing"):
        with refused("retrain", "evidence/tiny"):
            retrain.find(config, wrong)
    for elsewhere in ({"scale": "quick"}, {"epochs": 3}):
        nothing = load(tiny_root, elsewhere)
        with refused("retrain", nothing.evidence):
            retrain.find(nothing, recorded)


def test_a_run_that_confirms_a_study_has_its_plan_where_it_is_trained_alone(tmp_path: Path) -> None:
    plan = released("laptop")
    name = next(
        cell.run.name for cell in plan.cells if cell.run is not None and confirms(cell, plan.config)
    )
    again = retrain.alone(plan, name, tmp_path, "cpu")
    assert [*again.runs] == [name]
    assert again.evaluations[name].keys() == plan.evaluations[name].keys()
    assert again.config.results == tmp_path / "results" / "laptop"
    mine = [cell for cell in plan.cells if cell.run is not None and cell.run.name == name]
    for cell, same in zip(mine, again.cells, strict=True):
        assert confirms(same, again.config) == confirms(cell, plan.config)


def test_a_run_that_nothing_asks_for_any_more_is_refused(
    tiny_root: Path, recorded: str, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrain, "find", lambda config, name: retrain.Recorded("tiny", name))
    with refused("retrain", "simclr-default-upright-s0-9c19cc459"):
        retrain.retrain(load(tiny_root, {}), f"{recorded}9", None)
