"""Real processes, real signals: a run that is killed at random steps and started again gives the bytes of a whole one.

The steps are drawn anew each time, and a failing test prints them. Two methods are killed here; between them they carry
a queue, a target encoder and a memory bank. tests/unit/training/test_resume.py stops every method inside one
process; the controls, which alter the state and must give other bytes, are there too.
"""

import json
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

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

SOURCE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"
EPOCHS = 8
IMAGES = 80  # of `plain`: ten classes of eight


class Project:
    """A project folder with prepared data, and one run of it that processes train."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.root, self.name = plan.config.root, name
        self.steps = EPOCHS * (IMAGES // plan.run(name).batch.size)
        self.folder = plan.run_folder(name)
        settings = [f"--set={key}={value}" for key, value in plan.config.overrides.items()]
        self.command = [sys.executable, str(SOURCE), "pretrain", name, "--save-every", "0", *settings]

    def start(self) -> subprocess.Popen[str]:
        """Start `hypersphere pretrain`, which saves its state after every step."""
        return subprocess.Popen(
            self.command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def finish(self) -> list[int]:
        """Train to the end; the steps at which the processes that took part began."""
        process = self.start()
        said, _ = process.communicate()
        assert process.returncode == 0, said
        starts: list[int] = json.loads((self.folder / "manifest.json").read_text())["started_at_steps"]
        return starts

    @property
    def state(self) -> Path:
        """Where the state lies; only one code and dataset are at work here."""
        return next(iter(self.folder.glob("unfinished-*/resume.safetensors")), self.folder / "none")

    def step(self) -> int:
        """The last step saved; 0 if none is."""
        try:
            with self.state.open("rb") as handle:  # by hand: the file may be replaced between two openings
                header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
        except FileNotFoundError:
            return 0
        return int(json.loads(header["__metadata__"]["progress"])["step"])

    def interrupt(self, after: int, number: signal.Signals) -> tuple[int, str]:
        """Start a process, send it a signal once it has saved step ``after``; its exit status and what it said."""
        process = self.start()
        deadline = time.monotonic() + 300
        while self.step() < after:
            assert time.monotonic() < deadline
            assert process.poll() is None, f"ended before step {after} was seen: {process.communicate()[0]}"
            time.sleep(0.0005)
        process.send_signal(number)
        said, _ = process.communicate()
        assert not (self.folder / "manifest.json").exists(), f"finished before the signal sent after step {after}"
        return process.returncode, said

    def result(self) -> dict[str, bytes]:
        """Everything that the promise is about."""
        paths = [*self.folder.rglob("*.safetensors"), self.folder / "history.csv", self.folder / "run.yaml"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


@pytest.fixture
def project(every_method: Plan) -> Callable[[str], Project]:
    """A project with epochs enough to be killed in, and in it the run of a method."""
    plan = planning.make(every_method.config.root, every_method.config.overrides | {"epochs": EPOCHS})
    return lambda method: Project(plan, next(name for name in plan.runs if name.startswith(f"{method}-")))


def random_steps(total: int, count: int) -> list[int]:
    """One in each of ``count`` equal parts of the steps; a further part is left for the last process to end in."""
    part = total // (count + 1)
    return [random.SystemRandom().randrange(i * part + 1, (i + 1) * part) for i in range(count)]


@pytest.mark.long
@pytest.mark.parametrize("method", ["mocov2", "instance_discrimination"])
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


def test_two_trainers_of_one_run_take_turns(project: Callable[[str], Project]) -> None:
    """The second waits for the first's lock, and finds the run finished: it is trained once, by the first."""
    here = project("simclr")
    first = here.start()
    while here.step() == 0:
        assert first.poll() is None
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)  # so that the second surely comes while the first is at work
    second = here.start()
    try:
        time.sleep(1)
        assert second.poll() is None
    finally:
        os.kill(first.pid, signal.SIGCONT)
    (said_first, _), (said_second, _) = first.communicate(timeout=300), second.communicate(timeout=300)
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"{here.name}: finished after {EPOCHS} epochs" in said_first
    assert said_second.strip() == f"{here.name}: already finished"
