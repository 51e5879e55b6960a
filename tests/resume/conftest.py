"""Projects whose runs real processes train, and a way to start such processes in milliseconds."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan

EPOCHS = 8
IMAGES = 80  # of `plain`: ten classes of eight


class Forks:
    """worker.py: one process at a time."""

    def __init__(self, log: Path) -> None:
        command = [sys.executable, str(Path(__file__).parent / "worker.py")]
        self.worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.log = log

    def start(self, folder: Path, arguments: Sequence[str]) -> int:
        """Run ``hypersphere arguments`` in ``folder``; the number of the process."""
        assert self.worker.stdin is not None
        self.worker.stdin.write(json.dumps([str(folder), list(arguments), str(self.log)]) + "\n")
        self.worker.stdin.flush()
        return int(self._line())

    def wait(self) -> tuple[int, str]:
        """Its exit status (negative: the signal that killed it), and what it said."""
        return int(self._line()), self.log.read_text()

    def _line(self) -> str:
        assert self.worker.stdout is not None
        return self.worker.stdout.readline()

    def close(self) -> None:
        """End the worker."""
        self.worker.communicate(timeout=60)


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """One for each process of pytest."""
    worker = Forks(tmp_path_factory.mktemp("forks") / "log")
    yield worker
    worker.close()


class Project:
    """A project folder with prepared data, and one run of it that processes train."""

    def __init__(self, plan: Plan, name: str, forks: Forks) -> None:
        self.root, self.name, self.forks = plan.config.root, name, forks
        self.plan = plan
        run = plan.run(name)
        self.steps = run.schedule.epochs * (IMAGES // run.batch.size)
        self.folder = plan.run_folder(name)
        self.settings = [f"--set={key}={value}" for key, value in plan.config.overrides.items()]
        self.command = ["pretrain", name, "--save-every", "0", *self.settings]

    def start(self) -> int:
        """`hypersphere pretrain`, saving its state after every step."""
        return self.forks.start(self.root, self.command)

    def finish(self) -> list[int]:
        """Train to the end; the steps at which the processes that took part began."""
        self.start()
        status, said = self.forks.wait()
        assert status == 0, said
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
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                pytest.fail(f"ended before step {after} was seen: {self.forks.wait()[1]}")
            time.sleep(0.0005)
        os.kill(process, number)
        status, said = self.forks.wait()
        assert not (self.folder / "manifest.json").exists(), f"finished before the signal sent after step {after}"
        return status, said

    def result(self) -> dict[str, bytes]:
        """Everything that the promise is about."""
        paths = [*self.folder.rglob("*.safetensors"), self.folder / "history.csv", self.folder / "run.yaml"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def longer(plan: Plan) -> Plan:
    """The same with epochs enough to be killed in."""
    return planning.make(plan.config.root, plan.config.overrides | {"epochs": EPOCHS})
