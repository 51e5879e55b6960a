"""Projects whose runs real processes train."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

from ..preloaded import Server

SOURCE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"
EPOCHS = 8
IMAGES = 80  # of `plain`: ten classes of eight


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for each process of pytest, which has imported what trains a run."""
    server = Server("hypersphere.methods.base", "hypersphere.training.pretrain", "hypersphere.command.cli")
    yield server
    server.close()


class Project:
    """A project folder with prepared data, and one run of it that processes train."""

    def __init__(self, plan: Plan, name: str, server: Server) -> None:
        self.root, self.name, self._server = plan.config.root, name, server
        self.plan = plan
        run = plan.run(name)
        self.steps = run.schedule.epochs * (IMAGES // run.batch.size)
        self.folder = plan.run_folder(name)
        self.settings = [f"--set={key}={value}" for key, value in plan.config.overrides.items()]
        self.command = [str(SOURCE), "pretrain", name, "--save-every", "0", *self.settings]
        self._log = self.root / "pretrain.log"

    def start(self) -> int:
        """Start `hypersphere pretrain`, which saves its state after every step; its process number."""
        return self._server.start(self.command, self.root, os.environ, self._log)

    def wait(self) -> tuple[int, str]:
        """The exit status of the process that was started (negative: the signal that killed it), and its output."""
        status = self._server.wait()
        return status, self._log.read_text() + Path(f"{self._log}.err").read_text()

    def finish(self) -> list[int]:
        """Train to the end; the steps at which the processes that took part began."""
        self.start()
        status, said = self.wait()
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
                pytest.fail(f"ended before step {after} was seen: {self.wait()[1]}")
            time.sleep(0.0005)
        os.kill(process, number)
        status, said = self.wait()
        assert not (self.folder / "manifest.json").exists(), f"finished before the signal sent after step {after}"
        return status, said

    def result(self) -> dict[str, bytes]:
        """Everything that the promise is about."""
        paths = [*self.folder.rglob("*.safetensors"), self.folder / "history.csv", self.folder / "run.yaml"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def longer(plan: Plan) -> Plan:
    """The same with epochs enough to be killed in."""
    return planning.make(plan.config.root, plan.config.overrides | {"epochs": EPOCHS})
