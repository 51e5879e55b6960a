"""Resume states that cannot be read, or be written: a sentence each, nothing lost, and the same bytes in the end."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import checkpoint, loop
from hypersphere.training.pretrain import pretrain

from .conftest import contents

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For ``stopped``, which trains but once."""
    return tmp_path_factory.mktemp("trained")


@pytest.fixture
def stopped(tiny_plan: Plan, runs: list[Run], trained: Path) -> tuple[Path, dict[str, bytes]]:
    """The first run's folder, killed after 6 of its 8 steps; and what it holds when nothing kills it."""
    folder, step, count = tiny_plan.run_folder(runs[0].name), loop._step, [0]

    def copying(*arguments: Any) -> Tensor:
        if count[0] == 6:
            shutil.copytree(folder, trained / "stopped")
        count[0] += 1
        return step(*arguments)

    if not (trained / "whole").exists():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "_step", copying)
            pretrain(tiny_plan, runs[:1], save_every=0.0)
        shutil.move(folder, trained / "whole")
    shutil.copytree(trained / "stopped", folder)
    return folder, contents(trained / "whole")


def of_another_run(state: Path, patch: pytest.MonkeyPatch) -> None:
    """Copied here by hand."""
    progress, tensors = checkpoint._load_sealed(state)
    progress.identity["run"] = "another"
    checkpoint._save_sealed(state, tensors, json.dumps(asdict(progress)))


def forbidden(state: Path, patch: pytest.MonkeyPatch) -> None:
    """To root nothing is."""
    state.chmod(0)
    opened = Path.open

    def refused(path: Path, *arguments: Any, **keywords: Any) -> Any:
        if path == state and path.stat().st_mode & 0o777 == 0:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **keywords)

    patch.setattr(Path, "open", refused)


def a_folder(state: Path, patch: pytest.MonkeyPatch) -> None:
    state.unlink()
    (state / "in it").mkdir(parents=True)


def unmappable(state: Path, patch: pytest.MonkeyPatch) -> None:
    """There, opened by anybody, and not to be read as a file is."""
    state.unlink()
    state.symlink_to("/proc/self/mem")


UNREADABLE: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], object], str]] = {
    "not mapped": (unmappable, "the resume state is damaged ("),
    "forbidden": (forbidden, "the resume state cannot be read (Perm"),
    "a folder": (a_folder, "the resume state cannot be read (Is"),
    "of another run": (of_another_run, "not resumed: it was saved at step 6"),
}


@pytest.mark.parametrize("harm", UNREADABLE)
def test_a_state_that_cannot_be_gone_on_with_is_a_sentence_and_the_run_starts_over(
    tiny_plan: Plan,
    runs: list[Run],
    stopped: tuple[Path, dict[str, bytes]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    harm: str,
) -> None:
    """And saves states of its own in that place."""
    folder, whole = stopped
    (kept,) = folder.glob("unfinished-*")
    spoil, said = UNREADABLE[harm]
    spoil(kept / "resume.safetensors", monkeypatch)
    capsys.readouterr()
    pretrain(tiny_plan, runs[:1], save_every=0.0)
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert len(notes) == 1
    assert notes[0].startswith(f"note: {kept / 'resume.safetensors'}: {said}")
    assert notes[0].endswith("; starting over")
    assert read_manifest(folder)["started_at_steps"] == [0]
    assert contents(folder) == whole


@contextmanager
def full(monkeypatch: pytest.MonkeyPatch, name: str, writes: int) -> Iterator[None]:
    """What is written of the files called ``name`` after so many goes to a disk that is full: /dev/full is one."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    temporary, count = files._temporary, [0]

    def place(path: Path) -> Path:
        there = temporary(path)
        count[0] += path.name == name
        if path.name == name and count[0] > writes:
            there.symlink_to("/dev/full")
        return there

    with monkeypatch.context() as patch:
        patch.setattr(files, "_temporary", place)
        yield


FULL = {
    "resume.safetensors": 5,
    "epoch-0002.safetensors": 3,
    "epoch-0002.heads.safetensors": 3,
    "encoder.safetensors": 7,
    "heads.safetensors": 7,
    "manifest.json": 7,
}
"""By file that finds the disk full, the step of the last state that was saved; of a state it is the sixth."""


@pytest.mark.parametrize("name", FULL)
def test_on_a_full_disk_the_last_state_is_kept_and_the_run_goes_on_from_there(
    tiny_plan: Plan,
    runs: list[Run],
    stopped: tuple[Path, dict[str, bytes]],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """A state is written after each of 8 steps, but the last, after which there is nothing left to go on with."""
    folder, whole = stopped
    shutil.rmtree(folder)
    writes = 5 if name == "resume.safetensors" else 0
    with full(monkeypatch, name, writes), pytest.raises(HypersphereError) as caught:
        pretrain(tiny_plan, runs[:1], save_every=0.0)
    assert re.search(rf"^{runs[0].name}: .*/{name}: cannot be written \(.*No space left on device\)", str(caught.value))
    assert caught.value.status == 2
    assert not (folder / "manifest.json").exists()
    assert not list(folder.rglob("*.part"))
    (kept,) = folder.glob("unfinished-*")
    step = checkpoint.read_progress(kept).step
    assert step == FULL[name]
    pretrain(tiny_plan, runs[:1])
    assert check_files(folder)["started_at_steps"] == [0, step]
    assert contents(folder) == whole


def test_a_state_that_can_be_read_is_gone_on_with(
    tiny_plan: Plan, runs: list[Run], stopped: tuple[Path, dict[str, bytes]]
) -> None:
    """The control of all of them."""
    folder, whole = stopped
    pretrain(tiny_plan, runs[:1])
    assert read_manifest(folder)["started_at_steps"] == [0, 6]
    assert contents(folder) == whole
