"""The calm console: one line per finished job, a failed job's log, the next command at the end, nothing else.

A killed Snakemake's locks are removed, and no living one's.
"""

import fcntl
import logging
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from hypersphere import files
from hypersphere.command import console
from hypersphere.command.console import Handler
from hypersphere.config import plan as planning

from ...fixtures import Approve, Planned, Project


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Its ``time`` is set by hand."""
    clock = SimpleNamespace(time=0.0)
    monkeypatch.setattr(console.time, "time", lambda: clock.time)
    return clock


@pytest.fixture
def handler(planned: Planned, clock: SimpleNamespace) -> Handler:
    return Handler(planned())


def _record(message: str | None = None, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update(fields)
    return record


def _start(handler: Handler, job: int, rule: str = "pretrain", log: str = "") -> None:
    log = log or f"logs/quick/{rule}/simclr-x{job}.log"
    handler.emit(_record(event="job_info", jobid=job, rule_name=rule, wildcards={}, log=[log]))


@pytest.mark.parametrize("rule", ["pretrain", "record"])
def test_a_finished_job_is_one_line_and_the_end_is_said_once_all_are_done(
    handler: Handler, clock: SimpleNamespace, capsys: pytest.CaptureFixture[str], approve: Approve, rule: str
) -> None:
    """Chatter is left out, and so are jobs that only name others. After records, no page is there to open."""
    handler.emit(_record(event="run_info", stats={"total": 3, rule: 2, "all": 1}))
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    for job, time in ((7, 65.0), (8, 7210.0)):
        _start(handler, job, rule)
        clock.time = time
        handler.emit(_record(event="job_finished", job_id=job))
    handler.emit(_record(event="job_info", jobid=0, rule_name="all", wildcards={}))
    handler.emit(_record(event="job_finished", job_id=0))
    approve(capsys.readouterr().err)


@pytest.mark.parametrize("report", [True, False])
def test_nothing_to_do_ends_in_the_same_form(
    planned: Planned, capsys: pytest.CaptureFixture[str], approve: Approve, report: bool
) -> None:
    Handler(planned(), report).emit(_record("Nothing to be done (all requested files are present and up to date)."))
    approve(capsys.readouterr().err)


@pytest.mark.parametrize("last", ["hypersphere: a: stopped by SIGTERM", "hypersphere: [no] room"])
def test_a_rebuild_that_ends_early_says_how_far_it_came(
    handler: Handler, capsys: pytest.CaptureFixture[str], approve: Approve, tmp_path: Path, last: str
) -> None:
    """The end of a failed job's log is shown; what was asked to stop did not fail. Warnings are shown whole."""
    (tmp_path / "x.log").write_text("\n".join(f"line {i}" for i in range(50)) + f"\n{last}\n")
    handler.emit(_record(event="run_info", stats={"total": 2, "pretrain": 2}))
    _start(handler, 1, log=str(tmp_path / "x.log"))
    handler.emit(_record("RuleException:\nCalledProcessError in file x:\nCommand y failed", level=logging.ERROR))
    for _ in range(2):  # Snakemake may report one failure twice
        handler.emit(_record(event="job_error", jobid=1, log=[str(tmp_path / "x.log")]))
    handler.emit(_record(f"/a/{'long/' * 30}path: cannot be written", level=logging.ERROR))
    message = "WorkflowError:\nAt least one job did not complete successfully."
    handler.emit(_record(message, level=logging.ERROR, event="error"))
    approve(capsys.readouterr().err)


PAGES = {"scorecard.html": "", "../report/index.html": ""}
TABLE = {"tables/p/table.md": "", "tables/p/table.tex": ""}
ENDINGS: dict[str, tuple[dict[str, str], list[str], bool]] = {
    "all": (PAGES, [], False),
    "nothing": ({}, [], False),
    "the report": (PAGES, [], True),
    "one table": (PAGES | TABLE, ["p/table"], False),
}


@pytest.mark.parametrize("made", ENDINGS)
def test_files_and_the_next_command(planned: Planned, approve: Approve, made: str) -> None:
    """What does not exist is not named."""
    written, only, report = ENDINGS[made]
    plan = planned(config={"only": only})
    for name, text in written.items():
        files.write_text(plan.config.results / name, text)
    approve("\n".join(console.ending(plan, report=report)))


@pytest.mark.parametrize(
    "overrides", [{}, {"epochs": 3, "seeds": [0, 1]}, {"device": "cpu"}, {"scale": "small", "only": ["p"]}], ids=str
)
def test_the_next_command_has_the_settings_of_this_one(
    project: Project, approve: Approve, overrides: dict[str, Any]
) -> None:
    approve(console.ending(planning.make(project(config={"device": "auto"}), overrides))[-1])


# After a kill

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
