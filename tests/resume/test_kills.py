"""Real processes, real signals: a run that is killed at random steps and started again gives the bytes of a whole one.

The steps are drawn anew each time, and a failing test prints them. Two methods are killed here; between them they carry
a queue, a target encoder and a memory bank. tests/unit/training/test_resume.py stops every method inside one
process; the controls, which alter the state and must give other bytes, are there too.
"""

import json
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

from ..broken_off import contents

SOURCE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"
EPOCHS = 8
IMAGES = 80  # of `plain`: ten classes of eight


class Project:
    """A project folder with prepared data, and one run of it that processes train."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.root, self.name, self.folder = plan.config.root, name, plan.run_folder(name)
        self.steps = EPOCHS * (IMAGES // plan.run(name).batch.size)
        settings = [f"--set={key}={value}" for key, value in plan.config.overrides.items()]
        self.command = [
            sys.executable,
            str(SOURCE),
            "pretrain",
            name,
            "--save-every",
            "0",
            *settings,
        ]

    def start(self, after: int = 0) -> subprocess.Popen[str]:
        """Start `hypersphere pretrain`, which saves its state after every step; and wait until step ``after`` is."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            self.command, cwd=self.root, stdout=pipe, stderr=subprocess.STDOUT, text=True
        )
        while self.step() < after:
            assert process.poll() is None, (
                f"ended before step {after} was seen: {process.communicate()[0]}"
            )
            time.sleep(0.0005)
        return process

    def finish(self) -> list[int]:
        """Train to the end; the steps at which the processes that took part began."""
        process = self.start()
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
        starts: list[int] = json.loads((self.folder / "manifest.json").read_text())[
            "started_at_steps"
        ]
        return starts

    def step(self) -> int:
        """The last step saved; 0 if none is. Only one code and dataset are at work here."""
        state = next(
            iter(self.folder.glob("unfinished-*/resume.safetensors")), self.folder / "none"
        )
        try:
            # by hand: the file may be replaced between two openings
            with state.open("rb") as handle:
                header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
        except FileNotFoundError:
            return 0
        return int(json.loads(header["__metadata__"]["progress"])["step"])


@pytest.fixture
def project(every_method: Plan) -> Callable[[str], Project]:
    """A project with epochs enough to be killed in, and in it the run of a method."""
    plan = planning.make(
        every_method.config.root, every_method.config.overrides | {"epochs": EPOCHS}
    )
    return lambda method: Project(
        plan, next(name for name in plan.runs if name.startswith(f"{method}-"))
    )


@pytest.mark.long
@pytest.mark.parametrize("method", ["mocov2", "instance_discrimination"])
def test_killed_at_random_steps_and_started_again_the_bytes_are_the_same(
    project: Callable[[str], Project], method: str
) -> None:
    here = project(method)
    assert here.finish() == [0]
    unbroken = contents(here.folder)
    assert len(unbroken) >= 4  # weights, two snapshots, history, run
    shutil.rmtree(here.folder)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]
    random.SystemRandom().shuffle(signals)
    # a step in each of as many parts, and one more for the last to end in
    part = here.steps // (len(signals) + 1)
    asked = [
        random.SystemRandom().randrange(i * part + 1, (i + 1) * part) for i in range(len(signals))
    ]
    print(f"{method}: {[number.name for number in signals]} after steps {asked} of {here.steps}")
    for number, after in zip(signals, asked, strict=True):
        process = here.start(after)
        process.send_signal(number)
        said, _ = process.communicate(timeout=300)
        assert not (here.folder / "manifest.json").exists(), (
            f"finished before the signal sent after step {after}"
        )
        assert process.returncode == (128 + number if number == signal.SIGTERM else -number), said
        assert number == signal.SIGKILL or f"stopped by SIGTERM after step {here.step()}" in said
        assert here.step() >= after
    starts = here.finish()
    print(f"processes began at steps {starts}")
    assert starts[0] == 0
    assert len(starts) == 1 + len(signals)
    # Each later process began at a step > 0, and no earlier than what was saved when its predecessor was killed.
    assert all(began >= after > 0 for began, after in zip(starts[1:], asked, strict=True))
    assert contents(here.folder) == unbroken
    assert [
        path for path in here.folder.rglob("*") if ".part" in path.name or "unfinished" in path.name
    ] == []


@pytest.mark.long
def test_two_trainers_of_one_run_take_turns(project: Callable[[str], Project]) -> None:
    """The second waits for the first's lock, and finds the run finished: it is trained once, by the first."""
    here = project("simclr")
    first = here.start(1)
    first.send_signal(signal.SIGSTOP)  # so that the second surely comes while the first is at work
    second = here.start()
    try:
        time.sleep(1)
        assert second.poll() is None
    finally:
        first.send_signal(signal.SIGCONT)
    (said_first, _), (said_second, _) = (
        first.communicate(timeout=300),
        second.communicate(timeout=300),
    )
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"{here.name}: finished after {EPOCHS} epochs" in said_first
    assert said_second.strip() == f"{here.name}: already finished"
