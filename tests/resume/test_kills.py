"""Real processes, real signals: a run that is killed at random steps and started again gives the bytes of a whole one.

The steps are drawn anew each time, and a failing test prints them. Two methods are killed here; between them they carry
a queue, a target encoder and a memory bank. tests/unit/training/test_resume.py stops every method inside one
process; the controls, which alter the state and must give other bytes, are there too.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from hypersphere.config.plan import Plan

from ..harm import flip
from ..preloaded import Server
from .conftest import EPOCHS, Project, longer

METHODS = ("mocov2", "instance_discrimination")


@pytest.fixture
def project(every_method: Plan, server: Server) -> Callable[[str], Project]:
    """A project, and in it the run of a method."""

    def make(method: str) -> Project:
        plan = longer(every_method)
        return Project(plan, next(name for name in plan.runs if name.startswith(f"{method}-")), server)

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
            assert f"stopped by SIGTERM after step {here.step()}" in said
        assert here.step() >= after
    starts = here.finish()
    print(f"processes began at steps {starts}")
    assert starts[0] == 0
    assert len(starts) == 1 + len(signals)
    # Each later process began at a step > 0, and no earlier than what was saved when its predecessor was killed.
    assert all(began >= after > 0 for began, after in zip(starts[1:], asked, strict=True))
    assert here.result() == unbroken
    assert [path for path in here.folder.rglob("*") if ".part" in path.name or "unfinished" in path.name] == []


def test_an_altered_state_that_is_not_sealed_anew_is_refused_and_the_bytes_are_right(
    project: Callable[[str], Project],
) -> None:
    here = project("simclr")
    here.interrupt(random_steps(here.steps, 1)[0], signal.SIGKILL)
    state = here.state
    flip(state)
    here.start()
    status, said = here.wait()
    assert status == 0
    assert f"note: {state}: the resume state is damaged" in said
    result = here.result()
    shutil.rmtree(here.folder)
    assert here.finish() == [0]
    assert here.result() == result


def test_two_trainers_of_one_run_take_turns(project: Callable[[str], Project]) -> None:
    """The second waits for the first's lock, and finds the run finished: it is trained once, by the first."""
    here = project("simclr")
    command = [sys.executable, *here.command]

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
    assert said_second.strip() == f"{here.name}: already finished"
