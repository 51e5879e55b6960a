"""A batch of runs: one manifest, one lock and one fate each, also where a run, the machine or somebody ends it early.

A GPU's errors are raised where it would raise them, in a step, with the words that torch gives them. That memory is
short is also brought about for real, in a process that may have no more than it has. The runs are of 8 steps.
"""

import copy
import gc
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
import torch
import yaml
from filelock import FileLock

from hypersphere import files
from hypersphere.command import cli, preview
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import digests, state, stop
from hypersphere.provenance.manifest import check_files, check_run
from hypersphere.training import checkpoint, loop
from hypersphere.training import device as devices
from hypersphere.training import pretrain as training
from hypersphere.training.pretrain import pretrain, pretrain_batch
from hypersphere.training.weights import snapshot_names

from ...broken_off import KilledError, before_steps, contents, failing
from ...harm import flip
from .conftest import STEPS

pytestmark = pytest.mark.heavy


def keeping(plan: Plan, *epochs: int) -> Plan:
    """The plan, asking for encoders and heads after so many epochs and no others."""
    asking = copy.copy(plan)
    object.__setattr__(asking, "kept_epochs", lambda run: list(epochs))
    return asking


@pytest.fixture
def tiny_plan(tiny_plan: Plan) -> Plan:
    """The same, and of each run's four epochs the ends are kept, and the middle."""
    return keeping(tiny_plan, 0, 2, 4)


@pytest.fixture
def runs(tiny_plan: Plan) -> list[Run]:
    """SimCLR's first three."""
    return list(tiny_plan.batches[0].runs)


@pytest.fixture
def folders(tiny_plan: Plan, runs: list[Run]) -> list[Path]:
    return [tiny_plan.run_folder(run.name) for run in runs]


def done(folders: list[Path]) -> list[bool]:
    return [(folder / "manifest.json").exists() for folder in folders]


def steps(folder: Path) -> list[int]:
    return list(check_files(folder / MANIFEST)["started_at_steps"])


@pytest.fixture
def whole_run(tiny_plan: Plan, runs: list[Run], kept: Path) -> Path:
    """A batch's first run, finished, in a folder apart; beside it, what a kill after 6 of its 8 steps leaves."""
    folder, whole = tiny_plan.run_folder(runs[0].name), kept / "whole"
    if not whole.exists():
        with before_steps(lambda number: number == 6 and shutil.copytree(folder, kept / "stopped")):
            pretrain(tiny_plan, runs[:1], save_every=0.0)
        shutil.move(folder, whole)
    return whole


@pytest.fixture
def trained(tiny_plan: Plan, runs: list[Run], whole_run: Path) -> Path:
    """That run's own folder, with its result."""
    return Path(shutil.copytree(whole_run, tiny_plan.run_folder(runs[0].name)))


class Stopped(NamedTuple):
    """That run, killed; and what it holds when nothing kills it."""

    plan: Plan
    run: Run
    folder: Path
    whole: dict[str, bytes]

    @property
    def kept(self) -> Path:
        """Where its resume state is."""
        (kept,) = self.folder.glob("unfinished-*")
        return kept

    def go_on(self, plan: Plan | None = None, **options: Any) -> list[int]:
        """Train it to its end; the steps at which processes began."""
        pretrain(plan or self.plan, [self.run], **options)
        return steps(self.folder)


@pytest.fixture
def stopped(tiny_plan: Plan, runs: list[Run], whole_run: Path) -> Stopped:
    folder = Path(
        shutil.copytree(whole_run.with_name("stopped"), tiny_plan.run_folder(runs[0].name))
    )
    return Stopped(tiny_plan, runs[0], folder, contents(whole_run))


def test_manifest_describes_the_run(tiny_plan: Plan, runs: list[Run], trained: Path) -> None:
    run, manifest = runs[0], json.loads((trained / "manifest.json").read_text())
    assert manifest["name"] == run.name == trained.name
    assert Run.model_validate(manifest["run"]) == run
    assert (manifest["status"], manifest["epochs"], manifest["started_at_steps"]) == (
        "finished",
        4,
        [0],
    )
    assert manifest["code"] == digests.run_digest(run)
    assert manifest["data"] == store.open(tiny_plan.data_folder(run.dataset)).digest
    kept = {"encoder.safetensors", "heads.safetensors", "history.csv", *files_of(0, 2)}
    assert manifest["files"].keys() == kept
    assert all(files.sha256(trained / name) == sha256 for name, sha256 in manifest["files"].items())
    assert manifest["device"] == {"type": "cpu", "name": "cpu"}
    assert manifest["numerics"]["threads"] == 1
    assert manifest["environment"]["packages"]["torch"] == torch.__version__.partition("+")[0]
    assert Run.model_validate(yaml.safe_load((trained / "run.yaml").read_text())) == run
    assert (trained / "timing.csv").read_text().startswith("epoch,seconds\n1,")


def test_from_its_file_alone_a_run_has_its_name_and_bytes(
    tiny_plan: Plan, runs: list[Run], whole_run: Path
) -> None:
    """At a scale that plans no such run, and whose data are still to be prepared."""
    root = tiny_plan.config.root
    file = Path(shutil.copyfile(whole_run / "run.yaml", root / "any.yaml"))
    assert file.read_text() == runs[0].as_yaml()
    other = planning.make(root, {"scale": "quick"})
    assert runs[0].name not in other.runs
    shutil.rmtree(other.config.data)
    cli.pretrain(other, names=[], file=file, save_every=60.0)
    (made,) = (other.config.results / "runs").iterdir()
    assert made.name == runs[0].name
    for name in ("run.yaml", "encoder.safetensors", "heads.safetensors", "history.csv"):
        assert (made / name).read_bytes() == (whole_run / name).read_bytes(), name


def test_damaged_data_lose_the_proof_that_they_are_well(
    tiny_plan: Plan, runs: list[Run], refused: Any
) -> None:
    """Their manifest is an output of a rule: Snakemake prepares again what it finds missing."""
    folder = tiny_plan.data_folder(runs[0].dataset)
    next(folder / name for name in sorted(store.read_manifest(folder)["files"])).unlink()
    with refused("simclr-default-upright-s0-…", "data/processed/upright-…/test/images.npy"):
        pretrain(tiny_plan, runs[:1])
    assert not (folder / store.MANIFEST).exists()


def test_a_flipped_byte_or_a_lost_file_is_named_and_trained_again(
    tiny_plan: Plan,
    runs: list[Run],
    trained: Path,
    capsys: pytest.CaptureFixture[str],
    refused: Any,
) -> None:
    before = contents(trained)
    for number, name in enumerate([*check_files(trained / MANIFEST)["files"], "manifest.json"]):
        (flip if number % 2 else Path.unlink)(trained / name)
        with refused(trained / name):
            check_run(tiny_plan, trained.name)
        pretrain(tiny_plan, runs[:1])
        assert (
            name == "manifest.json"
            or f"training again: {trained / name}" in capsys.readouterr().out
        )
        assert contents(trained) == before


def test_a_run_that_another_process_trains_is_left_alone(
    tiny_plan: Plan,
    runs: list[Run],
    folders: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    refused: Any,
) -> None:
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.2)
    folders[0].mkdir(parents=True)
    with FileLock(folders[0] / ".lock"):
        with refused(
            "simclr-default-upright-s0-…", "results/tiny/runs/simclr-default-upright-s0-…"
        ):
            pretrain(tiny_plan, runs[:2])
        assert done(folders[:2]) == [False, True]
    pretrain(tiny_plan, runs[:1])
    assert done(folders[:2]) == [True, True]


@pytest.mark.parametrize("error", [RuntimeError("out of\nmemory"), HypersphereError("a sentence")])
def test_a_run_that_fails_loses_only_itself(
    tiny_plan: Plan,
    folders: list[Path],
    capsys: pytest.CaptureFixture[str],
    refused: Any,
    error: Exception,
) -> None:
    """In its first step: the run before it has taken its eight. A defect of the program has a traceback, too."""
    batch, taken = tiny_plan.batches[0], Mock()
    kind = ["RuntimeError"] if isinstance(error, RuntimeError) else []
    with failing(error, STEPS), refused(folders[1].name, *kind):
        pretrain_batch(tiny_plan, batch)
    assert ("Traceback" in capsys.readouterr().err) == isinstance(error, RuntimeError)
    assert done(folders) == [True, False, True]
    assert not tiny_plan.marker(batch).exists()
    with before_steps(taken):
        pretrain_batch(tiny_plan, batch)
    assert taken.call_count == STEPS  # those of the lost one
    named = files.read_sealed(tiny_plan.marker(batch))["manifests"]
    assert named.keys() == {f"runs/{folder.name}/manifest.json" for folder in folders}


def test_bytes_do_not_depend_on_the_batch(
    tiny_plan: Plan, runs: list[Run], folders: list[Path]
) -> None:
    pretrain(tiny_plan, runs)
    together = [contents(folder) for folder in folders]
    for folder in folders:
        (folder / "manifest.json").unlink()
    for run in reversed(runs):
        pretrain(tiny_plan, [run])
    assert [contents(folder) for folder in folders] == together


def test_a_diverged_run_has_a_manifest_that_says_so(tiny_plan: Plan, runs: list[Run]) -> None:
    run = runs[0].model_copy(
        update={"optimiser": runs[0].optimiser.model_copy(update={"learning_rate": 1e30})}
    )
    pretrain(tiny_plan, [run])
    folder = tiny_plan.run_folder(run.name)
    manifest = check_files(folder / MANIFEST)
    assert manifest["status"] == "diverged"
    assert {"encoder.safetensors", "heads.safetensors", "history.csv"} <= manifest["files"].keys()
    assert 1 <= manifest["epochs"] < 4
    history = (folder / "history.csv").read_text().splitlines()
    assert len(history) == 1 + manifest["epochs"]
    assert {"nan", "inf"} & {*history[-1].split(",")}


# The machine fails


@pytest.mark.parametrize(
    ("error", "second"),
    [
        (torch.cuda.OutOfMemoryError("CUDA out of memory."), True),
        (
            RuntimeError(
                "CUDA error: unspecified launch failure\nCUDA kernel errors might be reported"
            ),
            False,
        ),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
    ],
    ids=[
        "short of memory, one run is lost for now",
        "when the device fails, no other is begun",
        "a failed assert",
    ],
)
def test_what_the_machine_fails_is_a_sentence_and_goes_on_from_its_last_state(
    tiny_plan: Plan,
    folders: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: Any,
    stopped: Stopped,
    error: Exception,
    second: bool,
) -> None:
    """The first run in its last step, or the second in its first. A failed assert has a traceback, too."""
    freed = Mock()
    monkeypatch.setattr(torch.cuda, "empty_cache", freed)
    with failing(error, 1 + second), pytest.raises(HypersphereError) as caught:
        pretrain_batch(tiny_plan, tiny_plan.batches[0], save_every=0.0)
    names(caught.value, folders[int(second)].name)
    assert caught.value.status == 2
    freed.assert_called_once_with()
    assert ("Traceback" in capsys.readouterr().err) == ("assert" in str(error))
    assert not tiny_plan.marker(tiny_plan.batches[0]).exists()
    assert [folder.exists() for folder in folders] == [True, second, second]
    assert done(folders) == [second, False, second]
    pretrain_batch(tiny_plan, tiny_plan.batches[0])
    assert [steps(folder) for folder in folders] == [[0, 6] if second else [0, 6, 7], [0], [0]]
    assert contents(folders[0]) == stopped.whole


@pytest.mark.parametrize("error", [MemoryError(), HypersphereError("a sentence")], ids=repr)
def test_what_a_run_held_is_let_go_before_the_next_one_is_tried(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An error refers to the frames it came through, and they to all that was in them."""
    held: list[weakref.ref[torch.Tensor]] = []

    def train(run: Run, *arguments: Any) -> Any:
        assert [reference() for reference in held] == [None] * len(held)
        tensor = torch.empty(1)
        held.append(weakref.ref(tensor))
        try:
            raise OSError("whose context is kept, too")
        except OSError:
            raise type(error)(*error.args) from None

    monkeypatch.setattr(loop, "train", train)
    monkeypatch.setattr(gc, "collect", lambda: 0)
    with pytest.raises(HypersphereError):
        pretrain(tiny_plan, runs)
    assert len(held) == 3


SHORT = """
import itertools, resource, sys
from pathlib import Path
from hypersphere.command import cli
from hypersphere.training import loop

step, count = loop._step, itertools.count(1)
MORE = 8 * 2**20

def with_no_more(*arguments):
    if next(count) == 3:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE, resource.RLIM_INFINITY))
    return step(*arguments)

loop._step = with_no_more
sys.exit(cli.main(sys.argv[1:]))
"""
WIDE = {
    "batch_divisor": 4,
    "epochs": 4,
    "overrides": [{"set": {"encoder": {"name": "resnet8", "width": 24}}}],
}


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="a process's memory is limited by Linux"
)
def test_a_process_that_may_have_no_more_memory_says_so_and_another_goes_on(
    tiny_root: Path,
) -> None:
    plan = planning.make(tiny_root, WIDE)
    run = next(iter(plan.runs.values()))
    store.prepare(run.dataset, tiny_root / "data", None)
    settings = [f"--set={key}={value}" for key, value in WIDE.items()]
    # Otherwise the allocator keeps what was freed, and has no need to ask the system for more.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SHORT, "pretrain", run.name, "--save-every", "0", *settings]
    process = subprocess.run(
        command, cwd=tiny_root, env=environment, capture_output=True, text=True
    )
    said = process.stderr.strip().splitlines()
    assert said[-1].startswith(f"hypersphere: {run.name}: out of memory on cpu at step 3; "), said
    assert "Traceback" not in process.stderr
    assert process.returncode == 2
    pretrain(plan, [run])
    assert steps(plan.run_folder(run.name)) == [0, 2]


# What a run has of snapshots counts, and no change of what the plan asks for loses one.


def epochs(folder: Path) -> list[int]:
    """Those that the manifest lists, each with its encoder and heads, there and unaltered; and no other is."""
    names = {
        name for name in check_files(folder / MANIFEST)["files"] if name.startswith("snapshots/")
    }
    assert {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")} == names
    found = sorted({int(re.findall(r"\d+", name)[0]) for name in names})
    assert names == set(files_of(*found))
    return found


def files_of(*epochs: int) -> list[str]:
    """Both of each snapshot, as the contract calls them."""
    ends = (".safetensors", ".heads.safetensors")
    return [f"snapshots/epoch-{epoch:04d}{end}" for epoch in epochs for end in ends]


def test_a_shorter_list_of_snapshots_removes_and_trains_nothing_and_a_longer_one_makes_the_older_ones_again(
    tiny_plan: Plan, runs: list[Run], trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 1 is new, asked for beside the list, and 0 and 2 are off it: the same run, in the same folder. Then its
    code changes too."""
    before = contents(trained)
    assert epochs(trained) == [0, 2]
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", lambda *arguments: pytest.fail("trained again"))
        pretrain(keeping(tiny_plan), runs[:1])
    assert contents(trained) == before
    files.write_text(trained / snapshot_names(3)[0], "left over")
    pretrain(keeping(tiny_plan), runs[:1], also=[1])
    assert epochs(trained) == [0, 1, 2]
    after = contents(trained)
    assert after.keys() - before.keys() == {*files_of(1)}
    assert after == after | before
    (trained / MANIFEST).unlink()  # without it, what lies there counts
    monkeypatch.setattr(digests, "run_digest", lambda run: "other")
    pretrain(keeping(tiny_plan), runs[:1])
    assert epochs(trained) == [0, 1, 2]
    assert contents(trained) == after


# Runs that are killed, stopped, or begun with other code


def test_an_interrupted_run_goes_on_once_half_written_files_are_removed(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the command's own path. A file of hundreds of megabytes may be left half-written by each kill."""
    kept, train = stopped.kept, loop.train
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
    "data": lambda patch: patch.setattr(
        store.Prepared, "digest", property(lambda self: "other data")
    ),
    "device": lambda patch: patch.setattr(
        devices, "describe", lambda device: "a GPU of another model"
    ),
    "threads": lambda patch: patch.setattr(torch, "get_num_threads", lambda: 7),
    "torch": lambda patch: patch.setattr(torch, "__version__", "2.99.0"),
}


@pytest.mark.parametrize("part", CHANGES)
def test_a_run_is_not_resumed_when_its_code_or_data_changed_and_the_state_is_kept(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: str
) -> None:
    kept = stopped.kept
    with monkeypatch.context() as patch:
        CHANGES[part](patch)
        with failing(KilledError(), 0), pytest.raises(KilledError):
            stopped.go_on()
    (said,) = re.findall("^note: .*$", capsys.readouterr().out, re.MULTILINE)
    assert said.startswith(
        f"note: {kept}: not resumed: it was saved at step 6 with another {part};"
    )
    assert stopped.go_on() == [0, 6]  # the change taken back: it goes on where it was
    assert contents(stopped.folder) == stopped.whole


def test_an_older_result_stays_whole_until_the_new_one_is(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped.go_on()
    before = stopped.whole | {"manifest.json": (stopped.folder / "manifest.json").read_bytes()}
    CHANGES["code"](monkeypatch)
    with failing(KilledError(), 0), pytest.raises(KilledError):
        stopped.go_on()
    assert {name: (stopped.folder / name).read_bytes() for name in before} == before
    stopped.go_on()  # the control: now it is replaced
    assert check_files(stopped.folder / MANIFEST)["code"] == "other code"


def test_asked_to_stop_a_batch_starts_no_other_run(
    stopped: Stopped, folders: list[Path], refused: Any
) -> None:
    """The signal comes in the first run's last step, the second of two, too late for that run to notice."""
    plan = stopped.plan
    with (
        before_steps(lambda number: number == 1 and signal.raise_signal(signal.SIGTERM)),  # type: ignore[func-returns-value]
        refused("results/tiny/runs/simclr-cut3-upright-s0-…", kind=stop.StoppedError),
    ):
        pretrain_batch(plan, plan.batches[0])
    assert done(folders) == [True, False, False]
    assert not plan.marker(plan.batches[0]).exists()


@pytest.mark.parametrize(("published", "asked"), [(0, True), (4, True), (7, True), (2, False)])
def test_killed_while_the_result_is_published_nothing_half_poses_as_whole(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, published: int, asked: bool
) -> None:
    """Over an older result, after none, four … of the new one's eight files: three, four of snapshots, timing.

    Nor is it trained from the start. Without manifest and resume state, nothing but the older snapshots themselves
    says that there were any: they are made again though the list no longer asks for them.
    """
    stopped.go_on()
    plan = stopped.plan if asked else keeping(stopped.plan)
    # trained again, to the same bytes: the digest is all that is other
    CHANGES["code"](monkeypatch)
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


def half_removed(folder: Path) -> None:
    """Some of its files are gone."""
    for path in [path for path in folder.rglob("*") if path.is_file()][:2]:
        path.unlink()


def others_beside(folder: Path) -> None:
    """And half a file is there, of another process that was killed while it wrote, and an older state of other code."""
    (folder.parent / ".history.csv.0123abcd.part").write_bytes(b"half")
    shutil.copytree(folder, folder.with_name("unfinished-0a1b2c3d"))


LEFT: dict[str, Callable[[Path], object]] = {
    "a part of it": half_removed,
    "all of it and others": others_beside,
}
"""What a kill leaves of a run's state once its result is there."""


@pytest.mark.parametrize("left", LEFT)
def test_killed_once_the_result_is_published_the_state_goes_with_the_next_command(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """Nothing is trained. Until then `hypersphere plan` says what to type."""

    def dying(folder: Path, *rest: Any, **more: Any) -> None:
        if folder.name.startswith("unfinished-"):
            LEFT[left](folder)
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", dying)
        with pytest.raises(KilledError):
            stopped.go_on()
    assert list(stopped.folder.glob("unfinished-*"))  # the control
    assert state.look(stopped.folder).done
    monkeypatch.setattr(preview, "dry_run", lambda *_, **__: "")
    # the lecture's batch does not fit these images
    monkeypatch.setattr(preview, "check_sizes", lambda plan: None)
    said = [line for line in preview.lines(stopped.plan) if line.startswith("left ")]
    assert said
    assert all(
        line.endswith(f"`hypersphere pretrain {stopped.run.name}` removes it") for line in said
    )
    monkeypatch.setattr(loop, "train", Mock(side_effect=AssertionError("it is trained again")))
    pretrain(stopped.plan, [stopped.run])
    assert list(stopped.folder.glob("unfinished-*")) == []
    assert list(stopped.folder.glob(".*.part")) == []
    assert contents(stopped.folder) == stopped.whole
    assert not any(line.startswith("left ") for line in preview.lines(stopped.plan))


def test_the_manifest_has_checksums_of_what_stands_beside_the_results(trained: Path) -> None:
    beside = files.read_sealed(trained / MANIFEST)["beside"]
    assert beside == {name: files.sha256(trained / name) for name in ("run.yaml", "timing.csv")}


# States that cannot be written


FULL = {"resume.safetensors": 5, "epoch-0002.heads.safetensors": 3, "manifest.json": 7}
"""By file that finds the disk full, the step of the last state that was saved; of a state it is the sixth."""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("name", FULL)
def test_on_a_full_disk_the_last_state_is_kept_and_the_run_goes_on_from_there(
    stopped: Stopped, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """/dev/full is such a disk: what is written of the files of that name goes there, of states from the sixth on.

    A state is written after each of 8 steps, but the last, after which there is nothing left to go on with.
    """
    shutil.rmtree(stopped.folder)
    beside, writes, allowed = (
        Path.with_name,
        itertools.count(),
        5 if name == "resume.safetensors" else 0,
    )

    def place(path: Path, temporary: str) -> Path:
        there = beside(path, temporary)
        if path.name == name and temporary.endswith(files.PART) and next(writes) >= allowed:
            there.symlink_to("/dev/full")
        return there

    with monkeypatch.context() as patch:
        patch.setattr(Path, "with_name", place)
        with pytest.raises(HypersphereError) as caught:
            stopped.go_on(save_every=0.0)
    assert str(caught.value).startswith(f"{stopped.run.name}: ")
    assert f"/{name}: cannot be written (" in str(caught.value)
    assert caught.value.status == 2
    assert not (stopped.folder / "manifest.json").exists()
    assert not list(stopped.folder.rglob("*.part"))
    assert checkpoint.read(stopped.kept)[0].step == FULL[name]
    assert stopped.go_on() == [0, FULL[name]]
    assert contents(stopped.folder) == stopped.whole


def test_a_run_without_heads_or_encoder_of_an_epoch_that_is_wanted_is_not_finished(
    trained: Path,
) -> None:
    manifest = files.read_sealed(trained / MANIFEST)
    proof, listed = (manifest["code"], manifest["data"]), manifest["files"]
    assert training.finished(trained, *proof, [0, 2])
    for lost in files_of(2):
        rest = {name: sha256 for name, sha256 in listed.items() if name != lost}
        files.write_sealed(trained / MANIFEST, manifest | {"files": rest})
        assert not training.finished(trained, *proof, [0, 2])
        assert training.finished(trained, *proof, [0])  # the control


def test_without_a_readable_manifest_what_lies_there_counts(trained: Path) -> None:
    files.write_text(trained / "snapshots" / ".epoch-0003.safetensors.0123abcd.part", "half")
    files.write_text(trained / snapshot_names(3)[0], "stale")
    assert training.snapshots(trained) == {0, 2}
    manifest = (trained / MANIFEST).read_text()
    for harm in (manifest.replace("finished", "finishes"), manifest[:-9]):
        (trained / MANIFEST).write_text(harm)
        assert training.snapshots(trained) == {0, 2, 3}
    (trained / MANIFEST).unlink()
    assert training.snapshots(trained) == {0, 2, 3}
    assert training.snapshots(trained / "nothing") == set()
