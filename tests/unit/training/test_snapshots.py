"""Snapshots are listed, and what a run has of them counts.

The runs are finished ones of which nothing but the files is made; test_pretrain_snapshots.py trains some.
"""

import re
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import pretrain as training
from hypersphere.training import snapshots as module
from hypersphere.training.weights import snapshot_names

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


def test_every_snapshot_is_listed(made: Plan, runs: list[Run]) -> None:
    for run, (lost,) in zip(runs[:2], ([name] for name in files_of(0)), strict=True):
        (made.run_folder(run.name) / lost).unlink()
    _, *lines = module.table(made, [run.name for run in runs])  # the third is not trained
    assert [line.split(maxsplit=3) for line in lines] == [
        row
        for run in runs[:2]
        for row in (
            [run.name, "0", "missing", "needed"],
            [run.name, "1", "0.000", "no longer needed"],
            [run.name, "2", "0.000", "needed"],
        )
    ]
    assert module.table(made, [runs[2].name]) == ["no finished run has a snapshot"]
    with pytest.raises(HypersphereError, match=r"^no run 'none' at scale tiny"):
        module.table(made, ["none"])


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


def test_without_a_readable_manifest_what_lies_there_counts(made: Plan, runs: list[Run]) -> None:
    folder = made.run_folder(runs[0].name)
    files.write_text(folder / "snapshots" / ".epoch-0003.safetensors.0123abcd.part", "half")
    files.write_text(folder / snapshot_names(3)[0], "stale")
    assert module.existing(folder) == {0, 1, 2}
    manifest = (folder / "manifest.json").read_text()
    for harm in (manifest.replace('"a"', '"c"'), manifest[:-9], None):
        (folder / "manifest.json").unlink()
        if harm is not None:
            (folder / "manifest.json").write_text(harm)
        assert module.existing(folder) == {0, 1, 2, 3}
        (folder / "manifest.json").touch()
    assert module.existing(folder / "nothing") == set()


def test_what_a_new_result_does_not_have_is_stale(made: Plan, runs: list[Run]) -> None:
    """One that diverges in an epoch that the older one got past."""
    folder = made.run_folder(runs[0].name)
    module.remove_stale(folder, [*ENDS, *files_of(0, 1)])
    lying = {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")}
    assert lying == {*files_of(0, 1)}
    assert all((folder / name).exists() for name in ENDS)
