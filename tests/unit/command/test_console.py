"""The calm console: one line per finished job, a failed job's log, nothing else."""

import io
import logging
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hypersphere.command import console as module


def _handler() -> tuple[module.Handler, io.StringIO]:
    text = io.StringIO()
    return module.Handler(Console(file=text, width=200, force_terminal=False)), text


def _record(message: str | None = None, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update(fields)
    return record


def test_a_finished_job_is_one_line_with_its_place_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two jobs took 65 s, so the other takes as long again: 1:05 left."""
    clock = iter([0.0, 0.0, 65.0, 65.0, 65.0, 130.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    handler, text = _handler()
    handler.emit(_record(event="run_info", stats={"total": 2}))
    handler.emit(_record(event="job_info", jobid=7, rule_name="pretrain", wildcards={"batch": "simclr-x"}))
    handler.emit(_record(event="job_finished", job_id=7))
    assert text.getvalue().splitlines()[1:] == ["[1/2]   1:05  pretrain simclr-x  (about 1:05 left)"]


def test_chatter_is_left_out_and_warnings_are_not() -> None:
    handler, text = _handler()
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    assert text.getvalue() == ""
    handler.emit(_record("Nothing to be done (all requested files are present and up to date)."))
    handler.emit(_record("disk is full", level=logging.ERROR))
    assert [line.split()[0] for line in text.getvalue().splitlines()] == ["Nothing", "disk"]


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
    module.attach(logging.Logger("test"), "the locks are removed")
    assert capsys.readouterr().err == "the locks are removed\n"


def test_attached_once() -> None:
    logger = logging.Logger("test")
    module.attach(logger)
    module.attach(logger)
    assert len(logger.handlers) == 1
