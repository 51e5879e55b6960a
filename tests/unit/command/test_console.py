"""The calm console: one line per finished job, a failed job's log, a summary at the end, nothing else."""

import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hypersphere.command import console as module
from hypersphere.declared.plan import Plan


class Clock:
    """Seconds, set by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def _handler(plan: Plan | None = None, now: Clock | None = None) -> tuple[module.Handler, io.StringIO]:
    text = io.StringIO()
    return module.Handler(Console(file=text, width=200, force_terminal=False), plan, now or Clock()), text


def _record(message: str | None = None, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update(fields)
    return record


def _start(handler: module.Handler, job: int) -> None:
    log = [f"logs/quick/pretrain/simclr-x{job}.log"]
    handler.emit(
        _record(event="job_info", jobid=job, rule_name="pretrain", wildcards={"batch": f"simclr-x{job}"}, log=log)
    )


def test_a_finished_job_is_one_line_with_its_place_and_the_time_elapsed_and_left() -> None:
    """One of two jobs took 65 s, so the other takes as long again: 1:05 left."""
    clock = Clock()
    handler, text = _handler(now=clock)
    handler.emit(_record(event="run_info", stats={"total": 3, "pretrain": 2, "all": 1}))
    clock.time = 5.0
    _start(handler, 7)
    clock.time = 70.0
    handler.emit(_record(event="job_finished", job_id=7))
    _start(handler, 8)
    clock.time = 140.0
    handler.emit(_record(event="job_finished", job_id=8))
    handler.emit(_record(event="job_info", jobid=0, rule_name="all", wildcards={}))
    handler.emit(_record(event="job_finished", job_id=0))
    assert text.getvalue().splitlines() == [
        "2 jobs to do; the output of each goes to a file under logs/",
        "[1/2]   1:05  pretrain simclr-x7  (1:10 elapsed, about 1:05 left)",
        "[2/2]   1:10  pretrain simclr-x8",
    ]


def test_the_end_is_said_once_all_jobs_are_done(planned: Callable[..., Plan]) -> None:
    plan, clock = planned(), Clock()
    handler, text = _handler(plan, clock)
    handler.emit(_record(event="run_info", stats={"total": 1, "pretrain": 1}))
    _start(handler, 1)
    clock.time = 61.0
    manifest = plan.run_folder(next(iter(plan.runs))) / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    handler.emit(_record(event="job_finished", job_id=1))
    assert text.getvalue().splitlines()[2:] == [
        "done in 1:01: 1 job, 1 run trained",
        "next   make verify SCALE=small",
    ]


def test_nothing_to_do_ends_in_the_same_form(planned: Callable[..., Plan]) -> None:
    handler, text = _handler(planned())
    handler.emit(_record("Nothing to be done (all requested files are present and up to date)."))
    assert text.getvalue().splitlines() == [
        "nothing to do: every result is up to date",
        "next   make verify SCALE=small",
    ]


def test_a_rebuild_with_failures_ends_with_how_far_it_came() -> None:
    handler, text = _handler()
    handler.emit(_record(event="run_info", stats={"total": 2, "pretrain": 2}))
    _start(handler, 1)
    for _ in range(2):  # Snakemake may report one failure twice
        handler.emit(_record(event="job_error", jobid=1, log=[]))
    message = "WorkflowError:\nAt least one job did not complete successfully."
    handler.emit(_record(message, level=logging.ERROR, event="error"))
    assert text.getvalue().splitlines()[-1].startswith("stopped after 0:00: 0 of 2 jobs done, 1 failed as shown above")
    assert "WorkflowError" not in text.getvalue()


@pytest.mark.parametrize(
    ("rule", "log", "expected"),
    [
        ("artifact_margins_table2", "logs/quick/artifacts/margins-table2.log", "artifact margins/table2"),
        ("artifact_embedding_norms_table5", "a/embedding_norms-table5.log", "artifact embedding_norms/table5"),
        ("simulate_lmcl", "logs/quick/simulations/lmcl.log", "simulate lmcl"),
        ("evaluate", "logs/quick/evaluate/simclr-digits-0a.log", "evaluate simclr-digits-0a"),
        ("evaluate_pixels", "logs/quick/evaluate/pixels-digits.log", "evaluate pixels-digits"),
        ("prepare", "logs/data/digits-0a.log", "prepare digits-0a"),
        ("claims", "logs/quick/claims.log", "claims"),
        ("rule", None, "rule"),
    ],
)
def test_a_job_is_called_as_the_command_takes_it(rule: str, log: str | None, expected: str) -> None:
    assert module.label(rule, [log] if log else []) == expected


def test_chatter_is_left_out_and_warnings_are_not() -> None:
    handler, text = _handler()
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    assert text.getvalue() == ""
    handler.emit(_record("disk is full", level=logging.ERROR))
    assert text.getvalue() == "disk is full\n"


def test_a_failed_job_shows_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("\n".join(f"line {i}" for i in range(50)) + "\nhypersphere: [the] sentence\n")
    handler, text = _handler()
    handler.emit(_record(event="job_info", jobid=1, rule_name="prepare", wildcards={}))
    handler.emit(_record(event="job_error", jobid=1, log=[str(log)]))
    shown = text.getvalue()
    assert "failed: prepare" in shown
    assert "hypersphere: [the] sentence" in shown
    assert "line 49" in shown
    assert "line 10" not in shown


def test_long_lines_are_not_broken_and_a_failed_commands_own_words_are_left_out() -> None:
    text = io.StringIO()
    handler = module.Handler(Console(file=text, width=80, force_terminal=False))
    sentence = f"/a/{'long/' * 30}path: cannot be written"
    handler.emit(_record(sentence, level=logging.ERROR))
    handler.emit(_record("RuleException:\nCalledProcessError in file x:\nCommand y failed", level=logging.ERROR))
    assert text.getvalue() == f"{sentence}\n"


def test_a_note_in_the_log_of_a_job_that_went_well_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("much\nnote: the state is damaged; starting over\nthe word note: in a line\n")
    handler, text = _handler()
    handler.emit(_record(event="job_info", jobid=1, rule_name="pretrain", wildcards={}, log=[str(log)]))
    handler.emit(_record(event="job_finished", job_id=1))
    assert text.getvalue().splitlines()[1:] == ["  note: the state is damaged; starting over"]


def test_a_note_for_the_person_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    module.attach(logging.Logger("test"), note="the locks are removed")
    assert capsys.readouterr().err == "the locks are removed\n"


def test_attached_once() -> None:
    logger = logging.Logger("test")
    module.attach(logger)
    module.attach(logger)
    assert len(logger.handlers) == 1
