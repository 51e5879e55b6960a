"""After a kill of Snakemake: its locks are removed, and no living one's."""

import fcntl
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere import files
from hypersphere.command import console

SNAKEMAKE = """
import sys
from pathlib import Path
from hypersphere.command import console
print(console.join(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


class Process:
    """A process that joins those at work in ``folder``, as the Snakefile does, and stays."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-c", SNAKEMAKE, str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()

    def kill(self) -> None:
        """With -9."""
        self.process.kill()
        self.process.communicate()


def briefly(folder: Path) -> str:
    process = Process(folder)
    process.kill()
    return process.said


def lock(folder: Path) -> Path:
    """Locks as a Snakemake at work has them; returns their folder."""
    locks = folder / ".snakemake" / "locks"
    files.write_text(locks / "0.output.lock", "results/a")
    return locks


def test_the_locks_of_a_killed_snakemake_are_removed(tmp_path: Path) -> None:
    first = Process(tmp_path)
    second = None
    try:
        assert first.said == "None"
        locks = lock(tmp_path)
        second = Process(tmp_path)
        at_work = "another Snakemake is at work here: process"
        assert second.said == f"{at_work} {first.process.pid} of {platform.node()}"
        first.kill()
        # The controls: as long as one of them lives, nothing is removed, whichever came first.
        third = Process(tmp_path)
        third.kill()
        assert third.said.startswith(at_work)
        assert locks.exists()
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
    half = tmp_path / "results/quick/tables/.table5.csv.0a1b2c3d.part"
    training = tmp_path / "results/quick/runs/a/.resume.safetensors.0a1b2c3d.part"
    for path in (half, training):
        files.write_text(path, "half of")
    assert f"(process {third.process.pid}) was killed" in briefly(tmp_path)
    assert not locks.exists()
    assert not half.exists()
    assert training.exists()  # an orphan may still be writing it; the run tidies up under its lock


def test_where_nothing_can_be_locked_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = lock(tmp_path)
    files.write_json(tmp_path / ".snakemake" / "hypersphere.json", {"hosts": {platform.node(): 1}})
    monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError(95, "Operation not supported")))
    assert console.join(tmp_path) is None
    assert locks.exists()


@pytest.mark.parametrize("hosts", [{}, {"another-host": 1}, {"another-host": 1, platform.node(): 2}])
def test_locks_that_may_be_of_another_machine_are_left_alone(tmp_path: Path, hosts: dict[str, int]) -> None:
    """Our own lock may not be seen from there; nor is it known whose locks are that nobody recorded."""
    locks, record = lock(tmp_path), tmp_path / ".snakemake" / "hypersphere.json"
    files.write_json(record, {"hosts": hosts})
    for _ in range(2):  # nor by the next one, although it is we who came last
        assert briefly(tmp_path) == "None"
        assert locks.exists()
    shutil.rmtree(locks)  # `snakemake --unlock`
    briefly(tmp_path)
    lock(tmp_path)
    assert "was killed: its locks are removed" in briefly(tmp_path)  # the control: now all is known again
