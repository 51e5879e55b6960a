"""A run that the machine fails: a sentence without a traceback, and later the run goes on from its last state.

A GPU's errors are raised where it would raise them, in a step, with the words that torch gives them. That memory is
short is also brought about for real, in a process that may have no more than it has. The runs are of 8 steps, and save
a state after each.
"""

import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_files
from hypersphere.training import device as devices
from hypersphere.training import loop
from hypersphere.training.pretrain import pretrain, pretrain_batch

from .conftest import contents

pytestmark = pytest.mark.heavy

CPU = torch.device("cpu")
GONE = "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously reported"


def failing(error: Exception, at: int) -> Callable[..., Tensor]:
    """An optimiser step that fails the one time it is the ``at``-th of all."""
    step, count = loop._step, [0]

    def maybe(*arguments: Any) -> Tensor:
        count[0] += 1
        if count[0] == at:
            raise error
        return step(*arguments)

    return maybe


def steps(folder: Path) -> list[int]:
    return list(check_files(folder)["started_at_steps"])


@pytest.fixture
def folders(tiny_plan: Plan, runs: list[Run]) -> list[Path]:
    return [tiny_plan.run_folder(run.name) for run in runs]


def same_when_unbroken(plan: Plan, run: Run) -> bool:
    """Whether a run comes out as it is when nothing stops it."""
    folder = plan.run_folder(run.name)
    before = contents(folder)
    shutil.rmtree(folder)
    pretrain(plan, [run])
    return contents(folder) == before


def test_short_of_memory_one_run_is_lost_for_now_and_the_others_are_trained(
    tiny_plan: Plan,
    runs: list[Run],
    folders: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    freed: list[torch.device] = []
    monkeypatch.setattr(devices, "free", freed.append)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_step", failing(torch.cuda.OutOfMemoryError("CUDA out of memory."), 8 + 6))
        with pytest.raises(HypersphereError) as caught:
            pretrain_batch(tiny_plan, tiny_plan.batches[0], save_every=0.0)
    said = str(caught.value)
    assert said.startswith(f"{runs[1].name}: out of memory on cpu at step 6, ")
    assert "the state of step 5 is kept" in said
    assert caught.value.status == 2
    assert freed == [CPU]
    assert "Traceback" not in capsys.readouterr().err
    assert [(folder / "manifest.json").exists() for folder in folders] == [True, False, True]
    pretrain_batch(tiny_plan, tiny_plan.batches[0])
    assert [steps(folder) for folder in folders] == [[0], [0, 5], [0]]
    assert freed == [CPU]
    assert same_when_unbroken(tiny_plan, runs[1])


def test_when_the_device_fails_no_other_run_is_begun(
    tiny_plan: Plan,
    runs: list[Run],
    folders: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_step", failing(RuntimeError(GONE), 6))
        with pytest.raises(HypersphereError) as caught:
            pretrain_batch(tiny_plan, tiny_plan.batches[0], save_every=0.0)
    said = str(caught.value)
    assert said.startswith(f"{runs[0].name}: the device cpu failed at step 6 ")
    assert "the state of step 5 is kept" in said
    assert said.endswith(f"not begun: {runs[1].name}, {runs[2].name}")
    assert caught.value.status == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not tiny_plan.marker(tiny_plan.batches[0]).exists()
    assert not any(folder.exists() for folder in folders[1:])
    pretrain(tiny_plan, runs[:1])
    assert steps(folders[0]) == [0, 5]
    assert same_when_unbroken(tiny_plan, runs[0])


def test_what_else_goes_wrong_has_a_traceback_and_the_others_are_tried(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The control of both."""
    tried: list[str] = []

    def train(run: Run, *arguments: Any) -> Any:
        tried.append(run.name)
        raise RuntimeError(f"a defect\nof {run.name}")

    monkeypatch.setattr(loop, "train", train)
    with pytest.raises(HypersphereError, match=f"{runs[0].name}: RuntimeError: a defect of {runs[0].name}; "):
        pretrain(tiny_plan, runs)
    assert tried == [run.name for run in runs]
    assert capsys.readouterr().err.count("Traceback") == 3


def test_a_failed_assert_ends_the_batch_and_has_a_traceback(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the last run of two: nothing is left that was not begun. And before its first step nothing is saved."""
    monkeypatch.setattr(loop, "_step", failing(RuntimeError("CUDA error: device-side assert triggered"), 1))
    with pytest.raises(HypersphereError, match=r"at step 1 .*nothing was saved yet"):
        pretrain(tiny_plan, runs[:1])
    assert "device-side assert triggered" in capsys.readouterr().err


class Held:
    """Stands for a tensor of a run."""


@pytest.mark.parametrize("error", [MemoryError(), HypersphereError("a sentence")], ids=repr)
def test_what_a_run_held_is_let_go_before_the_next_one_is_tried(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An error refers to the frames it came through, and they to all that was in them."""
    held: list[weakref.ref[Held]] = []

    def train(run: Run, *arguments: Any) -> Any:
        assert [reference() for reference in held] == [None] * len(held)
        tensor = Held()
        held.append(weakref.ref(tensor))
        try:
            raise OSError("whose context is kept, too")
        except OSError:
            raise type(error)(*error.args) from None

    monkeypatch.setattr(loop, "train", train)
    monkeypatch.setattr(devices, "free", lambda device: None)  # which collects garbage
    with pytest.raises(HypersphereError, match=runs[2].name):
        pretrain(tiny_plan, runs)
    assert len(held) == 3


# For real.

SHORT = """
import resource, sys
from pathlib import Path
from hypersphere.command import cli
from hypersphere.training import loop

step, count = loop._step, [0]
MORE = 8 * 2**20

def with_no_more(*arguments):
    count[0] += 1
    if count[0] == 3:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE, resource.RLIM_INFINITY))
    return step(*arguments)

loop._step = with_no_more
sys.exit(cli.main(sys.argv[1:]))
"""
WIDE = {"batch_divisor": 4, "epochs": 4, "overrides": [{"set": {"encoder": {"name": "resnet8", "width": 24}}}]}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process's memory is limited by Linux")
def test_a_process_that_may_have_no_more_memory_says_so_and_another_goes_on(tiny_root: Path) -> None:
    plan = planning.make(tiny_root, WIDE)
    run = next(iter(plan.runs.values()))
    store.prepare(run.dataset, tiny_root / "data", None)
    settings = [f"--set={key}={value}" for key, value in WIDE.items()]
    # Otherwise the allocator keeps what was freed, and has no need to ask the system for more.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SHORT, "pretrain", run.name, "--save-every", "0", *settings]
    done = subprocess.run(command, cwd=tiny_root, env=environment, capture_output=True, text=True)
    said = done.stderr.strip().splitlines()
    assert said[-1].startswith(f"hypersphere: {run.name}: out of memory on cpu at step 3, "), said
    assert "the state of step 2 is kept: " in said[-1]
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    pretrain(plan, [run])
    assert steps(plan.run_folder(run.name)) == [0, 2]
    assert same_when_unbroken(plan, run)
