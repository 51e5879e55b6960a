"""The calm console: one line per finished job, a failed job's log, a summary at the end, nothing else."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import console
from hypersphere.command.console import Handler
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

Planned = Callable[..., Plan]


class Clock:
    """Seconds, set by hand."""

    time = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(console.time, "time", lambda: clock.time)
    return clock


@pytest.fixture
def handler(planned: Planned, clock: Clock) -> Handler:
    return Handler(planned())


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed on standard error since the last call."""
    return lambda: capsys.readouterr().err


def _record(message: str | None = None, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update(fields)
    return record


def _start(handler: Handler, job: int, rule: str = "pretrain", log: str = "") -> None:
    log = log or f"logs/quick/{rule}/simclr-x{job}.log"
    handler.emit(_record(event="job_info", jobid=job, rule_name=rule, wildcards={}, log=[log]))


def test_a_finished_job_is_one_line_with_its_place_and_the_time_elapsed(
    handler: Handler, clock: Clock, said: Callable[[], str]
) -> None:
    handler.emit(_record(event="run_info", stats={"total": 4, "pretrain": 2, "all": 1, "evaluate": 1}))
    _start(handler, 7)
    clock.time = 65.0
    handler.emit(_record(event="job_finished", job_id=7))
    _start(handler, 8)
    clock.time = 135.0
    handler.emit(_record(event="job_finished", job_id=8))
    handler.emit(_record(event="job_info", jobid=0, rule_name="all", wildcards={}))
    handler.emit(_record(event="job_finished", job_id=0))
    assert said().splitlines() == [
        "3 jobs to do; the output of each goes to a file under logs/",
        "[1/3]   1:05  pretrain simclr-x7  (1:05 elapsed)",
        "[2/3]   1:10  pretrain simclr-x8  (2:15 elapsed)",
    ]


@pytest.mark.parametrize(("rule", "next"), [("pretrain", ["next   make verify SCALE=small"]), ("record", [])])
def test_the_end_is_said_once_all_jobs_are_done(
    handler: Handler, clock: Clock, said: Callable[[], str], rule: str, next: list[str]
) -> None:
    """After records, no page is there to open."""
    handler.emit(_record(event="run_info", stats={"total": 1, rule: 1}))
    _start(handler, 1, rule)
    clock.time = 61.0
    manifest = handler.plan.run_folder(next_of(handler)) / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    handler.emit(_record(event="job_finished", job_id=1))
    assert said().splitlines()[2:] == ["done in 1:01: 1 job, 1 run trained", *next]


def next_of(handler: Handler) -> str:
    """A run of the plan."""
    return next(iter(handler.plan.runs))


def test_nothing_to_do_ends_in_the_same_form(handler: Handler, said: Callable[[], str]) -> None:
    handler.emit(_record("Nothing to be done (all requested files are present and up to date)."))
    assert said().splitlines() == ["nothing to do: every result is up to date", "next   make verify SCALE=small"]


@pytest.mark.parametrize("last", ["hypersphere: a: stopped by SIGTERM", "hypersphere: no room"])
def test_a_rebuild_that_ends_early_says_how_far_it_came(
    handler: Handler, said: Callable[[], str], tmp_path: Path, last: str
) -> None:
    """What was asked to stop did not fail."""
    (tmp_path / "x.log").write_text(f"training\n{last}\n")
    handler.emit(_record(event="run_info", stats={"total": 2, "pretrain": 2}))
    _start(handler, 1, log=str(tmp_path / "x.log"))
    for _ in range(2):  # Snakemake may report one failure twice
        handler.emit(_record(event="job_error", jobid=1, log=[str(tmp_path / "x.log")]))
    message = "WorkflowError:\nAt least one job did not complete successfully."
    handler.emit(_record(message, level=logging.ERROR, event="error"))
    shown = said()
    assert "WorkflowError" not in shown
    assert ("failed: pretrain x" in shown) == ("no room" in last)
    assert "0 of 2 jobs done" + (", 1 failed" if "no room" in last else ". Run") in shown.splitlines()[-1]


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
    assert console.label(rule, [Path(log)] if log else []) == expected


def test_chatter_is_left_out_and_warnings_are_not(handler: Handler, said: Callable[[], str]) -> None:
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    assert said() == ""
    handler.emit(_record("disk is full", level=logging.ERROR))
    assert said() == "disk is full\n"


def test_a_failed_job_shows_the_end_of_its_log(handler: Handler, tmp_path: Path, said: Callable[[], str]) -> None:
    log = tmp_path / "job.log"
    log.write_text("\n".join(f"line {i}" for i in range(50)) + "\nhypersphere: [the] sentence\n")
    handler.emit(_record(event="job_info", jobid=1, rule_name="prepare", wildcards={}, log=[str(log)]))
    handler.emit(_record(event="job_error", jobid=1, log=[str(log)]))
    shown = said()
    assert "failed: prepare" in shown
    assert "hypersphere: [the] sentence" in shown
    assert "line 49" in shown
    assert "line 10" not in shown


def test_long_lines_are_whole_and_a_failed_commands_own_words_are_left_out(
    handler: Handler, said: Callable[[], str]
) -> None:
    sentence = f"/a/{'long/' * 30}path: cannot be written"
    handler.emit(_record(sentence, level=logging.ERROR))
    handler.emit(_record("RuleException:\nCalledProcessError in file x:\nCommand y failed", level=logging.ERROR))
    assert said() == f"{sentence}\n"


def test_a_note_in_the_log_of_a_job_that_went_well_is_shown(
    handler: Handler, tmp_path: Path, said: Callable[[], str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text("much\nnote: the state is damaged; starting over\nthe word note: in a line\n")
    handler.emit(_record(event="job_info", jobid=1, rule_name="pretrain", wildcards={}, log=[str(log)]))
    handler.emit(_record(event="job_finished", job_id=1))
    assert said().splitlines()[1:] == ["  note: the state is damaged; starting over"]


def write(plan: Plan, **files: str) -> None:
    for name, text in files.items():
        path = plan.config.results / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_was_done_the_verdicts_the_files_and_the_next_command(planned: Planned) -> None:
    plan = planned()
    rows = ["id,origin,verdict", "a,printed,not run", "b,printed,refuted", "c,printed,not run", "d,ours,refuted"]
    write(
        plan,
        claims_dot_csv="\n".join([*rows, "e,corrected,exact (erratum)\n"]),
        scorecard_dot_html="",
        **{"../report/index_dot_html": ""},
    )
    assert console.ending(plan) == [
        "3 printed claims: 2 not run, 1 refuted",
        "open   results/report/index.html and results/small/scorecard.html",
        "next   make verify SCALE=small",
    ]


def test_what_does_not_exist_is_not_named(planned: Planned) -> None:
    assert console.ending(planned()) == [
        "next   make verify SCALE=small",
    ]


def test_after_the_report_alone_the_scale_is_made_next(planned: Planned) -> None:
    plan = planned()
    write(plan, **{"../report/index_dot_html": ""})
    assert console.ending(plan, report=True) == [
        "open   results/report/index.html",
        "next   make reproduce SCALE=small",
    ]


def test_the_report_names_the_same_command_with_nothing_to_do(planned: Planned, said: Callable[[], str]) -> None:
    for report, command in ((True, "make reproduce"), (False, "make verify")):
        Handler(planned(), report).emit(_record("Nothing to be done (all requested files are present)."))
        assert f"next   {command}" in said()


def test_of_chosen_artifacts_their_own_files_and_verdicts_are_named_and_how_to_make_the_rest(planned: Planned) -> None:
    """claims.csv of the scale is not made then: one that exists may be of other results."""
    plan = planned(config={"only": ["p/table"]})
    write(plan, claims_dot_csv="id,origin,verdict\na,printed,refuted\n", scorecard_dot_html="")
    write(plan, tables__p__table_dot_md="", tables__p__table_dot_tex="")
    write(plan, statistics__p__table__claims_dot_csv="id,origin,verdict\na,printed,quick only\nb,ours,not run\n")
    assert console.ending(plan) == [
        "1 printed claim: 1 quick only",
        "open   results/small/tables/p/table.md",
        "next   make verify SCALE=small ONLY=p/table",
        "rest   make reproduce SCALE=small",
    ]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({}, "SCALE=small"),
        ({"epochs": 3, "seeds": [0, 1]}, "SCALE=small 'SET=epochs=3 '\"'\"'seeds=[0,1]'\"'\"''"),
        ({"device": "cpu"}, "SCALE=small SET=device=cpu"),
        ({"scale": "small", "only": ["p"]}, "SCALE=small ONLY=p"),
    ],
)
def test_the_next_command_has_the_settings_of_this_one(
    project: Callable[..., Path], overrides: dict[str, Any], words: str
) -> None:
    config = planning.make(project(config={"device": "auto"}), overrides).config
    assert console.next_command(config) == f"make verify {words}"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (65, "1:05"), (59.6, "1:00"), (3600, "1:00:00"), (7210, "2:00:10")]
)
def test_clock(seconds: float, text: str) -> None:
    assert console.clock(seconds) == text
