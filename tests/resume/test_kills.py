"""Real processes, real signals: killed at random steps and started again, a run gives the bytes of an unbroken one.

The steps are drawn anew each time, and shown when a test fails. The controls, which alter the state
between two processes and must give other bytes, are beside; tests/unit/training/test_resume.py goes through every step.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from hypersphere.declared import registry
from hypersphere.declared.plan import Plan
from hypersphere.training import checkpoint

from .conftest import EPOCHS, Forks, Project, longer

SOURCE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"
METHODS = registry.names("methods")


@pytest.fixture
def project(every_method: Plan, forks: Forks) -> Callable[[str], Project]:
    """A project, and in it the run of a method."""

    def make(method: str) -> Project:
        plan = longer(every_method)
        return Project(plan, next(name for name in plan.runs if name.startswith(f"{method}-")), forks)

    return make


def random_steps(total: int, count: int) -> list[int]:
    """One in each of ``count`` equal parts of the steps; a further part is left for the last process to end in."""
    part = total // (count + 1)
    return [random.SystemRandom().randrange(i * part + 1, (i + 1) * part) for i in range(count)]


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_killed_at_random_steps_and_started_again_the_bytes_are_the_same(
    project: Callable[[str], Project], method: str
) -> None:
    here = project(method)
    assert here.finish() == [0]
    unbroken = here.result()
    assert len(unbroken) >= 4  # weights, two snapshots, history, run
    shutil.rmtree(here.folder)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]
    random.SystemRandom().shuffle(signals)
    asked = random_steps(here.steps, len(signals))
    print(f"{method}: {[number.name for number in signals]} after steps {asked} of {here.steps}")
    for number, after in zip(signals, asked, strict=True):
        status, said = here.interrupt(after, number)
        if number == signal.SIGKILL:
            assert status == -signal.SIGKILL, said
        else:
            assert status == 128 + signal.SIGTERM, said
            assert f"stopped by SIGTERM after step {here.step()}; run again to go on from there" in said
        assert here.step() >= after
    starts = here.finish()
    print(f"processes began at steps {starts}")
    assert starts[0] == 0
    assert len(starts) == 1 + len(signals)
    # Each later process began at a step > 0, and no earlier than what was saved when its predecessor was killed.
    assert all(began >= after > 0 for began, after in zip(starts[1:], asked, strict=True))
    assert here.result() == unbroken
    assert [path for path in here.folder.rglob("*") if ".part" in path.name or "unfinished" in path.name] == []


def nudged(tensor: Tensor) -> Tensor:
    """Another value, as near as makes a difference."""
    return tensor + 1 if not tensor.is_floating_point() else tensor * 1.01 + 0.01


CARRIED = {
    "byol": ("model.target.",),
    "cmc": (),
    "dino": ("model.target.", "model.centre", "model.frozen"),
    "instance_discrimination": ("model.bank",),
    "mocov2": ("model.queue", "model.target."),
    "mocov3": ("model.target.",),
    "simclr": (),
    "simsiam": (),
    "supervised": (),
    "swav": ("model.frozen",),
}
"""What a method carries from step to step beside its weights, by how the tensors' names begin."""
# Whether prototypes are frozen decides nothing where they never are, as here.
ALTERED = [
    (method, prefix)
    for method in METHODS
    for prefix in ("model.encoder.", "optimiser.", *CARRIED[method])
    if prefix != "model.frozen"
]


@pytest.mark.long
@pytest.mark.parametrize(("method", "prefix"), ALTERED)
def test_control_an_altered_state_gives_other_bytes(
    project: Callable[[str], Project], method: str, prefix: str, tmp_path: Path
) -> None:
    """Sealed anew, as no accident would: what was promised above fails when what it rests on is taken away."""
    here = project(method)
    assert here.finish() == [0]
    whole = here.result()
    shutil.rmtree(here.folder)
    here.interrupt(random_steps(here.steps, 1)[0], signal.SIGKILL)
    tensors = alter(here.state, tmp_path, lambda name: name.startswith(prefix))
    assert any(name.startswith(prefix) for name in tensors)
    starts = here.finish()
    assert starts[1] > 0
    result = here.result()
    assert result.keys() == whole.keys()
    assert result["encoder.safetensors"] != whole["encoder.safetensors"]
    assert result["history.csv"] != whole["history.csv"]


def alter(state: Path, scratch: Path, chosen: Callable[[str], bool]) -> dict[str, Tensor]:
    """Change the chosen floating-point tensors of a state and seal it anew; all its tensors."""
    kept = scratch / "resume.safetensors"
    shutil.copy(state, kept)
    with safe_open(kept, framework="pt") as handle:
        metadata = handle.metadata()
    tensors = load_file(kept)
    for name in tensors:
        if chosen(name) and torch.is_floating_point(tensors[name]):
            tensors[name] = nudged(tensors[name])
    metadata["sha256"] = checkpoint._seal(tensors, metadata["progress"])
    save_file(tensors, state, metadata=metadata)
    return tensors


@pytest.mark.long
def test_the_table_of_what_methods_carry_is_complete(project: Callable[[str], Project]) -> None:
    """Every tensor of a state is of the encoder, of a head that is trained, of the optimiser, or listed above."""
    assert CARRIED.keys() == set(METHODS)
    for method in METHODS:
        here = project(method)
        here.interrupt(1, signal.SIGKILL)
        tensors = load_file(here.state)
        trained = {"encoder", "projector", "predictor", "classifier", "prototypes", "lightness", "colour"}
        carried = {name for name in tensors if name.split(".")[1] not in trained and name.startswith("model.")}
        assert {name for name in carried if not name.startswith(CARRIED[method] or ("none",))} == set(), method
        assert all(any(name.startswith(prefix) for name in tensors) for prefix in CARRIED[method]), method


@pytest.mark.slow
def test_an_altered_state_that_is_not_sealed_anew_is_refused_and_the_bytes_are_right(
    project: Callable[[str], Project],
) -> None:
    here = project("simclr")
    here.interrupt(random_steps(here.steps, 1)[0], signal.SIGKILL)
    state = here.state
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    here.start()
    status, said = here.forks.wait()
    assert status == 0
    assert f"note: {state}: the resume state is damaged" in said
    result = here.result()
    shutil.rmtree(here.folder)
    assert here.finish() == [0]
    assert here.result() == result


@pytest.mark.slow
def test_two_trainers_of_one_run_take_turns(project: Callable[[str], Project]) -> None:
    """The second waits for the first's lock, and finds the run finished: it is trained once, by the first."""
    here = project("simclr")
    command = [sys.executable, str(SOURCE), *here.command]

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=here.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    first = begin()
    while here.step() == 0:
        assert first.poll() is None
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)  # so that the second surely comes while the first is at work
    second = begin()
    try:
        time.sleep(1)
        assert second.poll() is None
    finally:
        os.kill(first.pid, signal.SIGCONT)
    (said_first, _), (said_second, _) = first.communicate(timeout=300), second.communicate(timeout=300)
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"{here.name}: finished after {EPOCHS} epochs" in said_first
    assert said_second.strip() == f"{here.name}: finished before"
