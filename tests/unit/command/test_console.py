"""The calm console: one line per finished job, a failed job's log, a summary at the end, nothing else."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


def test_a_finished_job_is_one_line_with_its_place_and_the_time_elapsed(
    handler: Handler, clock: SimpleNamespace, capsys: pytest.CaptureFixture[str], approve: Approve
) -> None:
    """Chatter is left out, and so are jobs that only name others."""
    handler.emit(_record(event="run_info", stats={"total": 4, "pretrain": 2, "all": 1, "evaluate": 1}))
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    for job, time in ((7, 65.0), (8, 135.0)):
        _start(handler, job)
        clock.time = time
        handler.emit(_record(event="job_finished", job_id=job))
    handler.emit(_record(event="job_info", jobid=0, rule_name="all", wildcards={}))
    handler.emit(_record(event="job_finished", job_id=0))
    approve(capsys.readouterr().err)


@pytest.mark.parametrize("rule", ["pretrain", "record"])
def test_the_end_is_said_once_all_jobs_are_done(
    handler: Handler, clock: SimpleNamespace, capsys: pytest.CaptureFixture[str], approve: Approve, rule: str
) -> None:
    """After records, no page is there to open."""
    handler.emit(_record(event="run_info", stats={"total": 1, rule: 1}))
    _start(handler, 1, rule)
    clock.time = 61.0
    files.write_text(handler.plan.run_folder(next(iter(handler.plan.runs))) / "manifest.json", "")
    handler.emit(_record(event="job_finished", job_id=1))
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
    """The end of a failed job's log is shown; what was asked to stop did not fail."""
    (tmp_path / "x.log").write_text("\n".join(f"line {i}" for i in range(50)) + f"\n{last}\n")
    handler.emit(_record(event="run_info", stats={"total": 2, "pretrain": 2}))
    _start(handler, 1, log=str(tmp_path / "x.log"))
    for _ in range(2):  # Snakemake may report one failure twice
        handler.emit(_record(event="job_error", jobid=1, log=[str(tmp_path / "x.log")]))
    message = "WorkflowError:\nAt least one job did not complete successfully."
    handler.emit(_record(message, level=logging.ERROR, event="error"))
    approve(capsys.readouterr().err)


def test_warnings_and_notes_are_shown_whole(
    handler: Handler, capsys: pytest.CaptureFixture[str], approve: Approve, tmp_path: Path
) -> None:
    """And a failed command's own words are not: its log is shown."""
    handler.emit(_record(f"/a/{'long/' * 30}path: cannot be written", level=logging.ERROR))
    handler.emit(_record("RuleException:\nCalledProcessError in file x:\nCommand y failed", level=logging.ERROR))
    (tmp_path / "x.log").write_text("much\nnote: the state is damaged; starting over\nthe word note: in a line\n")
    _start(handler, 1, log=str(tmp_path / "x.log"))
    handler.emit(_record(event="job_finished", job_id=1))
    approve(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("rule", "log", "expected"),
    [
        ("artifact_margins_table2", "logs/quick/artifacts/margins-table2.log", "artifact margins/table2"),
        ("artifact_embedding_norms_table5", "a/embedding_norms-table5.log", "artifact embedding_norms/table5"),
        ("simulate_lmcl", "logs/quick/simulations/lmcl.log", "simulate lmcl"),
        ("evaluate", "logs/quick/evaluate/simclr-digits-0a.log", "evaluate simclr-digits-0a"),
        ("prepare", "logs/data/digits-0a.log", "prepare digits-0a"),
        ("claims", "logs/quick/claims.log", "claims"),
        ("rule", None, "rule"),
    ],
)
def test_a_job_is_called_as_the_command_takes_it(rule: str, log: str | None, expected: str) -> None:
    assert console.label(rule, [Path(log)] if log else []) == expected


ROWS = ["a,printed,not run", "b,printed,refuted", "c,printed,not run", "d,ours,refuted", "e,corrected,exact (erratum)"]
CLAIMS = "\n".join(["id,origin,verdict", *ROWS, ""])
SCALE = {"claims.csv": CLAIMS, "scorecard.html": ""}
REPORT = {"../report/index.html": ""}
CHOSEN = {"tables/p/table.md": "", "tables/p/table.tex": "", "statistics/p/table/claims.csv": CLAIMS}
ENDINGS: dict[str, tuple[dict[str, str], list[str], bool]] = {
    "all": (SCALE | REPORT, [], False),
    "nothing": ({}, [], False),
    "the report": (REPORT, [], True),
    # claims.csv of the scale is not made then: one that exists may be of other results
    "one table": (
        {"claims.csv": CLAIMS.replace("not run", "exact"), "scorecard.html": "", **CHOSEN},
        ["p/table"],
        False,
    ),
}


@pytest.mark.parametrize("made", ENDINGS)
def test_verdicts_files_and_the_next_command(planned: Planned, approve: Approve, made: str) -> None:
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
    approve(console.next_command(planning.make(project(config={"device": "auto"}), overrides).config))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (65, "1:05"), (59.6, "1:00"), (3600, "1:00:00"), (7210, "2:00:10")]
)
def test_clock(seconds: float, text: str) -> None:
    assert console.clock(seconds) == text
