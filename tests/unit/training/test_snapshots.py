"""Snapshots are listed, and removed by the one command that is for it, or not at all.

The runs are finished ones of which nothing but the files is made; test_pretrain_snapshots.py trains some.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance import lock, markers
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import pretrain as training
from hypersphere.training import snapshots as module
from hypersphere.training.checkpoint import snapshot_name, snapshot_names

from .conftest import keeping

ENDS = ("encoder.safetensors", "heads.safetensors", "history.csv")


def epochs(folder: Path) -> list[int]:
    """Those that the manifest lists, each with its encoder and heads, there and unaltered; and no other is."""
    names = {name for name in check_files(folder)["files"] if name.startswith("snapshots/")}
    assert {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")} == names
    found = sorted({int(re.findall(r"\d+", name)[0]) for name in names})
    assert names == set(files_of(*found))
    return found


def files_of(*epochs: int) -> list[str]:
    """Both of each snapshot, as the contract calls them."""
    ends = (".safetensors", ".heads.safetensors")
    return [f"snapshots/epoch-{epoch:04d}{end}" for epoch in epochs for end in ends]


def test_a_snapshot_is_of_two_files() -> None:
    assert [name for epoch in (0, 12) for name in snapshot_names(epoch)] == files_of(0, 12)


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


def everything(plan: Plan) -> dict[str, bytes]:
    paths = sorted((plan.config.results / "runs").rglob("*"))
    return {str(path): path.read_bytes() for path in paths if path.is_file() and path.name != ".lock"}


@pytest.mark.parametrize("lost", files_of(0))
def test_every_snapshot_is_listed(made: Plan, runs: list[Run], lost: str) -> None:
    found = module.listing(made, list(made.runs))
    assert [kept[:2] for kept in found] == [(run.name, epoch) for run in runs[:2] for epoch in range(3)]
    assert [kept.note for kept in found] == ["needed", "no longer needed", "needed"] * 2
    size = sum(len(f"{name} of {runs[0].name}") for name in files_of(0))
    assert found[0].megabytes == size / 1_000_000
    (made.run_folder(runs[0].name) / lost).unlink()
    head, *lines = module.table(made, [runs[0].name])
    assert head.split() == ["run", "epoch", "MB", "by", "the", "plan"]
    assert [line.split(maxsplit=3) for line in lines] == [
        [runs[0].name, "0", "missing", "needed"],
        [runs[0].name, "1", "0.000", "no longer needed"],
        [runs[0].name, "2", "0.000", "needed"],
    ]
    assert module.table(made, [runs[2].name]) == ["no finished run has a snapshot"]


@pytest.mark.parametrize("by_hand", files_of(2))
def test_what_is_removed_is_gone_and_the_run_stays_finished(made: Plan, runs: list[Run], by_hand: str) -> None:
    names = [run.name for run in runs[:2]]
    folder = made.run_folder(names[0])
    before = everything(made)
    gone = module.remove(made, [*names, names[0]], [1, 1])
    assert sorted((kept.run, kept.epoch) for kept in gone) == sorted((name, 1) for name in names)
    removed = {str(made.run_folder(name) / file) for name in names for file in files_of(1)}
    manifests = {str(made.run_folder(name) / "manifest.json") for name in names}
    after = everything(made)
    assert before.keys() - after.keys() == removed
    assert {path for path in after if after[path] != before[path]} == manifests
    assert epochs(folder) == [0, 2]
    assert training.finished(folder, "a", "b", [0, 2, 4])
    about = {key: value for key, value in read_manifest(folder).items() if key != "files"}
    assert about == {"status": "finished", "epochs": 4, "code": "a", "data": "b"}
    (folder / by_hand).unlink()  # the control: by hand it is damage
    assert not training.finished(folder, "a", "b", [0])


@pytest.mark.parametrize("file", files_of(2))
def test_a_run_without_heads_or_encoder_of_an_epoch_that_is_wanted_is_not_finished(
    made: Plan, runs: list[Run], file: str
) -> None:
    folder = made.run_folder(runs[0].name)
    assert training.finished(folder, "a", "b", [0, 2])
    manifest = read_manifest(folder)
    del manifest["files"][file]
    files.write_sealed(folder / "manifest.json", manifest)
    assert not training.finished(folder, "a", "b", [0, 2])
    assert training.finished(folder, "a", "b", [0, 1])  # the control


REFUSALS: dict[str, tuple[list[int], list[int], str]] = {
    "needed": ([0], [1, 2], r"^{0}: the plan needs the snapshot of epoch 2$"),
    "not there": ([1, 0], [1, 3], r"^{1}: no snapshot of epoch 3; it has those of 0, 1, 2$"),
    "the finished encoder": ([0], [4], r"^{0}: no snapshot of epoch 4; it has those of 0, 1, 2$"),
    "not trained": ([0, 2], [1], r"{2}/manifest\.json: the file is missing; run again, or: hypersphere pretrain {2}$"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_must_not_be_removed_is_a_sentence_and_nothing_is(made: Plan, runs: list[Run], case: str) -> None:
    """Not the other runs' and epochs' either, which might be."""
    of, asked, words = REFUSALS[case]
    before = everything(made)
    with pytest.raises(HypersphereError, match=words.format(*(run.name for run in runs))):
        module.remove(made, [runs[i].name for i in of], asked)
    assert everything(made) == before
    assert not made.run_folder(runs[2].name).exists()


def test_other_names_and_an_empty_run_are_sentences(made: Plan, runs: list[Run]) -> None:
    with pytest.raises(HypersphereError, match=r"^no run 'none' at scale tiny"):
        module.remove(made, ["none"], [1])
    with pytest.raises(HypersphereError, match=r"^no run 'none' at scale tiny"):
        module.listing(made, ["none"])
    module.remove(keeping(made), [runs[0].name], [0, 1, 2])
    with pytest.raises(HypersphereError, match=f"^{runs[0].name}: no snapshot of epoch 1; it has none$"):
        module.remove(made, [runs[0].name], [1])


def test_all_is_removed_or_nothing(made: Plan, runs: list[Run]) -> None:
    """The second run has no such snapshot, once it was removed; and a file that is lost already is no hindrance."""
    first, second = (run.name for run in runs[:2])
    (made.run_folder(second) / snapshot_name(1)).unlink()
    module.remove(made, [second], [1])
    before = everything(made)
    with pytest.raises(HypersphereError, match=f"^{second}: no snapshot of epoch 1; it has those of 0, 2$"):
        module.remove(made, [first, second], [1])
    assert everything(made) == before


def test_a_run_that_is_being_trained_is_left_alone(
    made: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are, although only one is held; and the one is given back."""
    monkeypatch.setattr(lock, "LOCK_SECONDS", 0.1)
    before, names = everything(made), [run.name for run in runs[:2]]
    for held in names:
        with lock.held(made.run_folder(held)):
            with pytest.raises(HypersphereError, match=f"{held}: another process is training this run"):
                module.remove(made, names, [1])
            assert everything(made) == before
    assert len(module.remove(made, names, [1])) == 2


@pytest.mark.parametrize("last", files_of(1))
def test_killed_while_removing_the_run_stays_sound_and_the_rest_can_be_removed(
    made: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """Between the manifest and one of the files that it no longer lists; the other may be gone by then."""
    folder, unlink = made.run_folder(runs[0].name), Path.unlink

    def dying(path: Path, missing_ok: bool = False) -> None:
        if path == folder / last:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", dying)
        with pytest.raises(KeyboardInterrupt):
            module.remove(made, [runs[0].name], [1])
    assert (folder / last).exists()
    assert not check_files(folder)["files"].keys() & {*files_of(1)}
    assert training.finished(folder, "a", "b", [0, 2])
    assert module.existing(folder) == {0, 2}  # trained again, it is not made again
    notes = [kept.note for kept in module.listing(made, [runs[0].name])]
    assert notes == ["needed", "left over from an interrupted removal", "needed"]
    module.remove(made, [runs[0].name], [1])
    assert epochs(folder) == [0, 2]


def test_what_cannot_be_removed_is_a_sentence(made: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, missing_ok: bool = False) -> None:
        if path.name.endswith(".safetensors"):
            raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(
        HypersphereError, match=r"epoch-0001\.(heads\.)?safetensors: cannot be written \(.*not permitted\)"
    ):
        module.remove(made, [runs[0].name], [1])


def test_without_a_readable_manifest_what_lies_there_counts(made: Plan, runs: list[Run]) -> None:
    folder = made.run_folder(runs[0].name)
    files.write_text(folder / "snapshots" / ".epoch-0003.safetensors.0123abcd.part", "half")
    module.remove(made, [runs[0].name], [1])
    files.write_text(folder / snapshot_name(3), "stale")
    assert module.existing(folder) == {0, 2}
    manifest = (folder / "manifest.json").read_text()
    for harm in (manifest.replace('"a"', '"c"'), manifest[:-9], None):
        (folder / "manifest.json").unlink()
        if harm is not None:
            (folder / "manifest.json").write_text(harm)
        assert module.existing(folder) == {0, 2, 3}
        (folder / "manifest.json").touch()
    assert module.existing(folder / "nothing") == set()


def test_what_a_new_result_does_not_have_is_stale(made: Plan, runs: list[Run]) -> None:
    """One that diverges in an epoch that the older one got past."""
    folder = made.run_folder(runs[0].name)
    module.remove_stale(folder, [*ENDS, *files_of(0, 1)])
    lying = {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")}
    assert lying == {*files_of(0, 1)}
    assert all((folder / name).exists() for name in ENDS)


# What follows from a run.

Marker = Callable[[Plan], Path]


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Marker:
    """Write the marker of the first two runs, as the command does once they are finished; returns its path."""

    def write(plan: Plan) -> Path:
        monkeypatch.setattr(training, "pretrain", lambda *arguments: None)
        batch = replace(plan.batches[0], runs=plan.batches[0].runs[:2])
        training.pretrain_batch(plan, batch)
        return plan.marker(batch)

    return write


def test_the_batch_s_marker_says_nothing_of_what_may_be_removed(made: Plan, runs: list[Run], marker: Marker) -> None:
    path = marker(made)
    before = path.read_bytes()
    module.remove(made, [runs[0].name], [1])
    assert marker(made).read_bytes() == before


@pytest.mark.parametrize("lost", files_of(2))
def test_a_removed_snapshot_is_not_missed_and_a_lost_one_is(
    made: Plan, runs: list[Run], marker: Marker, lost: str
) -> None:
    path, plan = marker(made), replace(made)
    vars(plan)["batches"] = (replace(made.batches[0], runs=made.batches[0].runs[:2]),)
    module.remove(made, [run.name for run in runs[:2]], [1])
    markers.forget(markers.lost(plan))
    assert path.exists()
    (made.run_folder(runs[1].name) / lost).unlink()
    markers.forget(markers.lost(plan))
    assert not path.exists()
