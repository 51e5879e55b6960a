"""A run that is killed, stopped, or begun with other code: what is kept, what is refused, what takes whose place."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.provenance import digests, stop
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import checkpoint, loop
from hypersphere.training import device as devices
from hypersphere.training import pretrain as module
from hypersphere.training.pretrain import pretrain, pretrain_batch

from .conftest import contents, keeping

pytestmark = pytest.mark.heavy


def unfinished(folder: Path) -> list[Path]:
    return sorted(folder.glob("unfinished-*"))


@pytest.fixture
def interrupted(tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, bytes]]:
    """The first run's folder, killed after the third of its epochs; and what it holds when nothing kills it."""
    epoch = loop._epoch

    def dying(*arguments: Any) -> Any:
        (progress,) = [one for one in arguments if isinstance(one, checkpoint.Progress)]
        if len(progress.history) == 3:
            raise KeyboardInterrupt
        return epoch(*arguments)

    folder = tiny_plan.run_folder(runs[0].name)
    pretrain(tiny_plan, runs[:1])
    whole = contents(folder)
    shutil.rmtree(folder)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_epoch", dying)
        with pytest.raises(KeyboardInterrupt):
            pretrain(tiny_plan, runs[:1], save_every=0.0)
    return folder, whole


def test_an_interrupted_run_goes_on(
    tiny_plan: Plan, runs: list[Run], interrupted: tuple[Path, dict[str, bytes]]
) -> None:
    """Through the command's own path: the resume state lies in a folder of this run, code and data."""
    folder, whole = interrupted
    (kept,) = unfinished(folder)
    assert (kept / "resume.safetensors").exists()
    (kept / ".resume.safetensors.0123abcd.part").write_bytes(b"killed while writing")
    pretrain(tiny_plan, runs[:1])
    began, resumed = read_manifest(folder)["started_at_steps"]
    assert began == 0 < resumed
    assert resumed % 3 == 0  # three of four epochs were done
    assert contents(folder) == whole
    assert unfinished(folder) == []
    check_files(folder)


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "code": lambda patch: patch.setattr(digests, "run_digest", lambda run: "other code"),
    "data": lambda patch: patch.setattr(store.Prepared, "digest", property(lambda self: "other data")),
    "device": lambda patch: patch.setattr(devices, "describe", lambda device: "a GPU of another model"),
    "threads": lambda patch: patch.setattr(torch, "get_num_threads", lambda: 7),
    "torch": lambda patch: patch.setattr(torch, "__version__", "2.99.0"),
}


def test_what_killed_processes_left_half_written_is_removed_before_training(
    tiny_plan: Plan, runs: list[Run], interrupted: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state of hundreds of megabytes may be left by each kill."""
    folder, _ = interrupted
    (kept,) = unfinished(folder)
    halves = [place / ".a.0123abcd.part" for place in (folder, kept, kept / "snapshots")]
    for half in halves:
        half.write_bytes(b"half")
    monkeypatch.setattr(loop, "train", lambda *arguments: pytest.fail(str([half.exists() for half in halves])))
    with pytest.raises(pytest.fail.Exception, match=r"\[False, False, False\]"):
        pretrain(tiny_plan, runs[:1])
    assert (kept / "resume.safetensors").exists()


@pytest.mark.parametrize("part", CHANGES)
def test_a_run_is_not_resumed_when_its_code_or_data_changed_and_the_state_is_kept(
    tiny_plan: Plan,
    runs: list[Run],
    interrupted: tuple[Path, dict[str, bytes]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    part: str,
) -> None:
    folder, whole = interrupted
    (kept,) = unfinished(folder)
    step = checkpoint.read_progress(kept).step
    with monkeypatch.context() as patch:
        CHANGES[part](patch)
        patch.setattr(loop, "train", lambda *arguments: pytest.fail("stop here"))
        with pytest.raises(pytest.fail.Exception, match="stop here"):
            pretrain(tiny_plan, runs[:1])
    said = capsys.readouterr().out
    assert f"note: {kept}: not resumed: it was saved at step {step} with another {part};" in said
    pretrain(tiny_plan, runs[:1])  # the change taken back: it goes on where it was
    assert read_manifest(folder)["started_at_steps"] == [0, step]
    assert contents(folder) == whole


def test_an_older_result_stays_whole_until_the_new_one_is(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_plan.run_folder(runs[0].name)
    pretrain(tiny_plan, runs[:1])
    before = contents(folder) | {"manifest.json": (folder / "manifest.json").read_bytes()}
    CHANGES["code"](monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_step", lambda *arguments: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            pretrain(tiny_plan, runs[:1])
    after = {name: (folder / name).read_bytes() for name in before}
    assert after == before
    pretrain(tiny_plan, runs[:1])  # the control: now it is replaced
    assert check_files(folder)["code"] == "other code"


def test_asked_to_stop_a_batch_starts_no_other_run(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes in the first run's last step, too late for that run to notice."""
    step, count = loop._step, [0]

    def signalled(*arguments: Any) -> Any:
        count[0] += 1
        if count[0] == steps:
            signal.raise_signal(signal.SIGTERM)
        return step(*arguments)

    steps = 4 * (len(store.open(tiny_plan.data_folder(runs[0].dataset)).split("train").index) // runs[0].batch.size)
    monkeypatch.setattr(loop, "_step", signalled)
    with pytest.raises(stop.StoppedError, match=f"{runs[1].name}: stopped by SIGTERM before it began"):
        pretrain_batch(tiny_plan, tiny_plan.batches[0])
    done = [(tiny_plan.run_folder(run.name) / "manifest.json").exists() for run in runs]
    assert done == [True, False, False]
    assert not tiny_plan.marker(tiny_plan.batches[0]).exists()


def test_a_state_goes_on_under_a_shorter_list_of_snapshots(
    tiny_plan: Plan, runs: list[Run], interrupted: tuple[Path, dict[str, bytes]]
) -> None:
    """Those it has kept are kept."""
    folder, whole = interrupted
    pretrain(keeping(tiny_plan), runs[:1])
    assert len(read_manifest(folder)["started_at_steps"]) == 2
    assert contents(folder) == whole


def test_a_state_past_a_snapshot_that_is_wanted_now_starts_over(
    tiny_plan: Plan,
    runs: list[Run],
    interrupted: tuple[Path, dict[str, bytes]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The control: three epochs were done, and the encoder after the first cannot be had from there."""
    folder, whole = interrupted
    pretrain(keeping(tiny_plan, 0, 1, 2), runs[:1])
    assert "without a snapshot of epoch 1" in capsys.readouterr().out
    assert read_manifest(folder)["started_at_steps"] == [0]
    new = contents(folder)
    assert all(new.pop(f"snapshots/epoch-0001.{kind}safetensors") for kind in ("", "heads."))
    assert new == whole


def dying_after(published: int) -> Callable[[Path, Path], None]:
    """Put so many files in their place, and no more."""
    link, count = module._link, [0]

    def dying(source: Path, target: Path) -> None:
        if count[0] == published:
            raise KeyboardInterrupt
        count[0] += 1
        link(source, target)

    return dying


@pytest.mark.parametrize("published", range(8))
def test_killed_while_the_result_is_published_nothing_half_poses_as_whole(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, published: int
) -> None:
    """Over an older result, after none, one … of the new one's files: three, four of snapshots, timing."""
    folder = tiny_plan.run_folder(runs[0].name)
    pretrain(tiny_plan, runs[:1])
    whole = contents(folder)
    CHANGES["code"](monkeypatch)  # trained again, to the same bytes: the digest is all that is other
    with monkeypatch.context() as patch:
        patch.setattr(module, "_link", dying_after(published))
        with pytest.raises(KeyboardInterrupt):
            pretrain(tiny_plan, runs[:1], save_every=0.0)
    assert not (folder / "manifest.json").exists()
    pretrain(tiny_plan, runs[:1])
    manifest = check_files(folder)
    assert manifest["code"] == "other code"
    assert manifest["started_at_steps"][1] > 0  # nor is it trained from the start
    assert contents(folder) == whole


def test_killed_while_the_result_is_published_what_the_list_no_longer_asks_for_is_made_again(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without manifest and resume state, nothing but the older snapshots themselves says that there were any."""
    folder = tiny_plan.run_folder(runs[0].name)
    pretrain(tiny_plan, runs[:1])
    whole = contents(folder)
    CHANGES["code"](monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_link", dying_after(2))
        with pytest.raises(KeyboardInterrupt):
            pretrain(keeping(tiny_plan), runs[:1], save_every=3600.0)
    assert not (folder / "manifest.json").exists()
    pretrain(keeping(tiny_plan), runs[:1])
    assert contents(folder) == whole
    assert "snapshots/epoch-0002.safetensors" in check_files(folder)["files"]
