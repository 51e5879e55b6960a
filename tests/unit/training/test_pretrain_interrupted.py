"""A run that is killed, stopped, or begun with other code; states that cannot be read, or be written."""

import itertools
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from hypersphere import files
from hypersphere.config.plan import MANIFEST
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance import digests, stop
from hypersphere.provenance.manifest import check_files
from hypersphere.training import checkpoint, loop
from hypersphere.training import device as devices
from hypersphere.training.pretrain import pretrain_batch

from ...broken_off import KilledError, before_steps, contents, failing
from .conftest import Stopped, keeping

pytestmark = pytest.mark.heavy


def notes(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]


def test_an_interrupted_run_goes_on_once_half_written_files_are_removed(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the command's own path. A file of hundreds of megabytes may be left half-written by each kill."""
    kept, train = stopped.state.parent, loop.train
    halves = [place / ".a.0123abcd.part" for place in (stopped.folder, kept, kept / "snapshots")]
    for half in halves:
        half.write_bytes(b"half")
    there: list[bool] = []

    def looking(*arguments: Any) -> Any:
        there.extend(half.exists() for half in halves)
        return train(*arguments)

    monkeypatch.setattr(loop, "train", looking)
    assert stopped.go_on() == [0, 6]
    assert there == [False] * 3
    assert contents(stopped.folder) == stopped.whole
    assert list(stopped.folder.glob("unfinished-*")) == []


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "code": lambda patch: patch.setattr(digests, "run_digest", lambda run: "other code"),
    "data": lambda patch: patch.setattr(store.Prepared, "digest", property(lambda self: "other data")),
    "device": lambda patch: patch.setattr(devices, "describe", lambda device: "a GPU of another model"),
    "threads": lambda patch: patch.setattr(torch, "get_num_threads", lambda: 7),
    "torch": lambda patch: patch.setattr(torch, "__version__", "2.99.0"),
}


@pytest.mark.parametrize("part", CHANGES)
def test_a_run_is_not_resumed_when_its_code_or_data_changed_and_the_state_is_kept(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: str
) -> None:
    kept = stopped.state.parent
    with monkeypatch.context() as patch:
        CHANGES[part](patch)
        with failing(KilledError(), 0), pytest.raises(KilledError):
            stopped.go_on()
    (said,) = notes(capsys)
    assert said.startswith(f"note: {kept}: not resumed: it was saved at step 6 with another {part};")
    assert stopped.go_on() == [0, 6]  # the change taken back: it goes on where it was
    assert contents(stopped.folder) == stopped.whole


def test_an_older_result_stays_whole_until_the_new_one_is(stopped: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped.go_on()
    before = stopped.whole | {"manifest.json": (stopped.folder / "manifest.json").read_bytes()}
    CHANGES["code"](monkeypatch)
    with failing(KilledError(), 0), pytest.raises(KilledError):
        stopped.go_on()
    assert {name: (stopped.folder / name).read_bytes() for name in before} == before
    stopped.go_on()  # the control: now it is replaced
    assert check_files(stopped.folder / MANIFEST)["code"] == "other code"


def test_asked_to_stop_a_batch_starts_no_other_run(stopped: Stopped, runs: list[Run], refused: Any) -> None:
    """The signal comes in the first run's last step, the second of two, too late for that run to notice."""
    plan = stopped.plan
    with (
        before_steps(lambda number: number == 1 and signal.raise_signal(signal.SIGTERM)),  # type: ignore[func-returns-value]
        refused(stop.StoppedError),
    ):
        pretrain_batch(plan, plan.batches[0])
    assert [(plan.run_folder(run.name) / "manifest.json").exists() for run in runs] == [True, False, False]
    assert not plan.marker(plan.batches[0]).exists()


@pytest.mark.parametrize(("published", "asked"), [(0, True), (1, True), (4, True), (7, True), (2, False)])
def test_killed_while_the_result_is_published_nothing_half_poses_as_whole(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, published: int, asked: bool
) -> None:
    """Over an older result, after none, one … of the new one's eight files: three, four of snapshots, timing.

    Nor is it trained from the start. Without manifest and resume state, nothing but the older snapshots themselves
    says that there were any: they are made again though the list no longer asks for them.
    """
    stopped.go_on()
    plan = stopped.plan if asked else keeping(stopped.plan)
    CHANGES["code"](monkeypatch)  # trained again, to the same bytes: the digest is all that is other
    link, linked = os.link, itertools.count()

    def dying(source: Path, target: Path) -> None:
        if next(linked) == published:
            raise KilledError
        link(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", dying)
        with pytest.raises(KilledError):
            stopped.go_on(plan, save_every=0.0 if asked else 3600.0)
    assert not (stopped.folder / "manifest.json").exists()
    assert (stopped.go_on(plan)[-1] > 0) == asked
    manifest = check_files(stopped.folder / MANIFEST)
    assert manifest["code"] == "other code"
    assert "snapshots/epoch-0002.safetensors" in manifest["files"]
    assert contents(stopped.folder) == stopped.whole


# States that cannot be read, or be written


def test_a_state_that_cannot_be_gone_on_with_is_a_sentence_and_the_run_starts_over(
    stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is there, opened by anybody, and not to be read as a file is. New states are saved in its place."""
    path = stopped.state
    path.unlink()
    path.symlink_to("/proc/self/mem")
    assert stopped.go_on(save_every=0.0) == [0]
    (said,) = notes(capsys)
    assert said.startswith(f"note: {path}: the resume state ")
    assert said.endswith("; starting over")
    assert contents(stopped.folder) == stopped.whole


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
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A state is written after each of 8 steps, but the last, after which there is nothing left to go on with."""
    shutil.rmtree(stopped.folder)
    writes = 5 if name == "resume.safetensors" else 0
    with full(monkeypatch, name, writes), pytest.raises(HypersphereError) as caught:
        stopped.go_on(save_every=0.0)
    assert str(caught.value).startswith(f"{stopped.run.name}: ")
    assert f"/{name}: cannot be written (" in str(caught.value)
    assert caught.value.status == 2
    assert not (stopped.folder / "manifest.json").exists()
    assert not list(stopped.folder.rglob("*.part"))
    assert checkpoint.read_progress(stopped.state.parent).step == FULL[name]
    assert stopped.go_on() == [0, FULL[name]]
    assert contents(stopped.folder) == stopped.whole
