"""Real processes, real signals: killed at random steps and started again, a run gives the bytes of an unbroken one.

The steps are drawn anew each time, and shown when a test fails. The controls, which alter the state between
two processes and must give other bytes, are beside; tests/unit/training/test_resume.py goes through every step.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from hypersphere import plan as planning
from hypersphere.plan import Plan
from hypersphere.training import checkpoint

SETTINGS = ("--set", "epochs=20")
EPOCHS = 20
ROWS = ("simclr-cut3", "simsiam-default")
SOURCE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"


class Project:
    """A project folder with prepared data, and one run of it that processes train."""

    def __init__(self, plan: Plan, row: str) -> None:
        self.root = plan.config.root
        self.plan = planning.make(self.root, {"epochs": EPOCHS})
        self.name = next(name for name in self.plan.runs if name.startswith(f"{row}-upright"))
        run = self.plan.run(self.name)
        images = 80  # `upright`: ten classes of eight
        self.steps = EPOCHS * (images // run.batch.size)
        self.folder = self.plan.run_folder(self.name)

    def start(self) -> subprocess.Popen[str]:
        """`hypersphere pretrain`, saving its state after every step."""
        command = [sys.executable, str(SOURCE), "pretrain", self.name, "--save-every", "0", *SETTINGS]
        return subprocess.Popen(command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self) -> list[int]:
        """Train to the end; the steps at which the processes that took part began."""
        process = self.start()
        said, _ = process.communicate(timeout=300)
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
            assert process.poll() is None, f"ended before step {after}: {process.communicate()[0]}"
            assert time.monotonic() < deadline
            time.sleep(0.001)
        process.send_signal(number)
        said, _ = process.communicate(timeout=300)
        assert not (self.folder / "manifest.json").exists(), f"finished before the signal sent after step {after}"
        return process.returncode, said

    def result(self) -> dict[str, bytes]:
        """Everything that the promise is about."""
        paths = [*self.folder.rglob("*.safetensors"), self.folder / "history.csv", self.folder / "run.yaml"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def random_steps(total: int, count: int) -> list[int]:
    """One in each of ``count`` equal parts of the steps; a further part is left for the last process to end in."""
    part = total // (count + 1)
    return [random.SystemRandom().randrange(i * part + 1, (i + 1) * part) for i in range(count)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("row", "signals"),
    [(ROWS[0], [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]), (ROWS[1], [signal.SIGTERM, signal.SIGKILL] * 2)],
)
def test_killed_at_random_steps_and_started_again_the_bytes_are_the_same(
    tiny_plan: Plan, row: str, signals: list[signal.Signals]
) -> None:
    project = Project(tiny_plan, row)
    assert project.finish() == [0]
    unbroken = project.result()
    assert len(unbroken) >= 4  # weights, two snapshots, history, run
    shutil.rmtree(project.folder)
    asked = random_steps(project.steps, len(signals))
    print(f"{row}: signals after steps {asked} of {project.steps}")
    for number, after in zip(signals, asked, strict=True):
        status, said = project.interrupt(after, number)
        if number == signal.SIGKILL:
            assert status == -signal.SIGKILL
        else:
            assert status == 128 + signal.SIGTERM
            assert f"stopped by SIGTERM after step {project.step()}; run again to go on from there" in said
        assert project.step() >= after
    starts = project.finish()
    print(f"processes began at steps {starts}")
    assert starts[0] == 0
    assert len(starts) == 1 + len(signals)
    # Each later process began at a step > 0, and no earlier than what was saved when its predecessor was killed.
    assert all(began >= after > 0 for began, after in zip(starts[1:], asked, strict=True))
    assert project.result() == unbroken
    assert [path for path in project.folder.rglob("*") if ".part" in path.name or "unfinished" in path.name] == []


@pytest.mark.slow
@pytest.mark.parametrize("control", ["one tensor altered", "one key dropped"])
def test_control_an_altered_state_gives_other_bytes(
    tiny_plan: Plan, control: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Sealed anew, as no accident would: what was promised above fails when what it rests on is taken away."""
    project = Project(tiny_plan, ROWS[0])
    assert project.finish() == [0]
    whole = project.result()
    shutil.rmtree(project.folder)
    project.interrupt(random_steps(project.steps, 1)[0], signal.SIGKILL)
    kept = tmp_path_factory.mktemp("kept") / "resume.safetensors"
    shutil.copy(project.state, kept)
    with safe_open(kept, framework="pt") as handle:
        metadata = handle.metadata()
    tensors = load_file(kept)
    if control == "one tensor altered":
        tensors["model.encoder.conv1.weight"] *= 1.001
    else:
        del tensors["momentum.0"]
    metadata["sha256"] = checkpoint._seal(tensors, metadata["progress"])
    save_file(tensors, project.state, metadata=metadata)
    starts = project.finish()
    assert starts[1] > 0
    result = project.result()
    assert result.keys() == whole.keys()
    assert result["encoder.safetensors"] != whole["encoder.safetensors"]
    assert result["history.csv"] != whole["history.csv"]


@pytest.mark.slow
def test_an_altered_state_that_is_not_sealed_anew_is_refused_and_the_bytes_are_right(
    tiny_plan: Plan, tmp_path: Path
) -> None:
    project = Project(tiny_plan, ROWS[0])
    project.interrupt(random_steps(project.steps, 1)[0], signal.SIGKILL)
    state = project.state
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    process = project.start()
    said, _ = process.communicate(timeout=300)
    assert f"note: {state}: the resume state is damaged" in said
    assert json.loads((project.folder / "manifest.json").read_text())["started_at_steps"] == [0]
    result = project.result()
    shutil.rmtree(project.folder)
    assert project.finish() == [0]
    assert project.result() == result


@pytest.mark.slow
def test_two_trainers_of_one_run_take_turns(tiny_plan: Plan) -> None:
    """The second waits for the first's lock, and finds the run finished: it is trained once, by the first."""
    project = Project(tiny_plan, ROWS[0])
    first = project.start()
    while project.step() == 0:
        assert first.poll() is None
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)  # so that the second surely comes while the first is at work
    second = project.start()
    try:
        time.sleep(1)
        assert second.poll() is None
    finally:
        os.kill(first.pid, signal.SIGCONT)
    (said_first, _), (said_second, _) = first.communicate(timeout=300), second.communicate(timeout=300)
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"{project.name}: finished after {EPOCHS} epochs" in said_first
    assert said_second.strip() == f"{project.name}: finished before"
