"""What a run has of snapshots counts, and no change of what the plan asks for loses one."""

import re
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.provenance import digests
from hypersphere.provenance.manifest import check_files
from hypersphere.training import loop
from hypersphere.training import pretrain as training
from hypersphere.training.weights import snapshot_names

from ...broken_off import contents
from .conftest import keeping

pytestmark = pytest.mark.heavy

ENDS = ("encoder.safetensors", "heads.safetensors", "history.csv")


def epochs(folder: Path) -> list[int]:
    """Those that the manifest lists, each with its encoder and heads, there and unaltered; and no other is."""
    names = {name for name in check_files(folder / MANIFEST)["files"] if name.startswith("snapshots/")}
    assert {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")} == names
    found = sorted({int(re.findall(r"\d+", name)[0]) for name in names})
    assert names == set(files_of(*found))
    return found


def files_of(*epochs: int) -> list[str]:
    """Both of each snapshot, as the contract calls them."""
    ends = (".safetensors", ".heads.safetensors")
    return [f"snapshots/epoch-{epoch:04d}{end}" for epoch in epochs for end in ends]


@pytest.fixture
def made(tiny_plan: Plan) -> Plan:
    """Two finished runs with snapshots of epochs 0, 1 and 2, of which the plan asks for 0 and 2."""
    for run in tiny_plan.batches[0].runs[:2]:
        folder = tiny_plan.run_folder(run.name)
        names = [*ENDS, *files_of(0, 1, 2)]
        for name in names:
            files.write_text(folder / name, f"{name} of {run.name}")
        listed = {name: files.sha256(folder / name) for name in names}
        about = {"status": "finished", "epochs": 4, "code": "a", "data": "b", "files": listed}
        files.write_sealed(folder / "manifest.json", about)
    return tiny_plan


def test_a_run_without_heads_or_encoder_of_an_epoch_that_is_wanted_is_not_finished(made: Plan, runs: list[Run]) -> None:
    for run, file in zip(runs, files_of(2), strict=False):
        folder = made.run_folder(run.name)
        assert training.finished(folder, "a", "b", [0, 2])
        manifest = files.read_sealed(folder / MANIFEST)
        del manifest["files"][file]
        files.write_sealed(folder / "manifest.json", manifest)
        assert not training.finished(folder, "a", "b", [0, 2])
        assert training.finished(folder, "a", "b", [0, 1])  # the control


def test_without_a_readable_manifest_what_lies_there_counts(made: Plan, runs: list[Run]) -> None:
    folder = made.run_folder(runs[0].name)
    files.write_text(folder / "snapshots" / ".epoch-0003.safetensors.0123abcd.part", "half")
    files.write_text(folder / snapshot_names(3)[0], "stale")
    assert training.snapshots(folder) == {0, 1, 2}
    manifest = (folder / "manifest.json").read_text()
    for harm in (manifest.replace('"a"', '"c"'), manifest[:-9], None):
        (folder / "manifest.json").unlink()
        if harm is not None:
            (folder / "manifest.json").write_text(harm)
        assert training.snapshots(folder) == {0, 1, 2, 3}
        (folder / "manifest.json").touch()
    assert training.snapshots(folder / "nothing") == set()


def test_a_shorter_list_removes_nothing_and_trains_nothing(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    assert epochs(folder) == [0, 2]
    monkeypatch.setattr(loop, "train", lambda *arguments: pytest.fail("trained again"))
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert contents(folder) == before
    with pytest.raises(pytest.fail.Exception, match="trained again"):  # the control
        training.pretrain(keeping(tiny_plan, 1), runs[:1])


def test_a_longer_list_is_trained_again_and_what_it_no_longer_asks_for_is_made_again(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 1 is new, 0 and 2 are off the list: the same run, in the same folder. Then its code changes too."""
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    files.write_text(folder / snapshot_names(3)[0], "left over")
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    new = {name: content for name, content in contents(folder).items() if name not in before}
    assert new.keys() == {*files_of(1)}
    assert contents(folder) == before | new
    (folder / "manifest.json").unlink()  # without it, what lies there counts
    monkeypatch.setattr(digests, "run_digest", lambda run: "other")
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    assert contents(folder) == before | new


def test_what_a_result_never_had_is_not_made(tiny_plan: Plan, runs: list[Run]) -> None:
    """The control of the test above; and what a caller asks for beside the list is."""
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1]
    training.pretrain(keeping(tiny_plan, 1), runs[:1], also=[3])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1, 3]
