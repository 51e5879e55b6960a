"""The calm console: one line per finished job, a failed job's log, a summary at the end, nothing else."""

import heapq
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import console as module
from hypersphere.config.plan import Plan


class Clock:
    """Seconds, set by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed on standard error since the last call."""
    return lambda: capsys.readouterr().err


def _record(message: str | None = None, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update(fields)
    return record


def _start(handler: module.Handler, job: int) -> None:
    log = [f"logs/quick/pretrain/simclr-x{job}.log"]
    handler.emit(
        _record(event="job_info", jobid=job, rule_name="pretrain", wildcards={"batch": f"simclr-x{job}"}, log=log)
    )


def test_a_finished_job_is_one_line_with_its_place_and_the_time_elapsed_and_left(said: Callable[[], str]) -> None:
    """One of two jobs took 65 s, so the other takes as long again: 1:05 left."""
    clock = Clock()
    handler = module.Handler(now=clock)
    handler.emit(_record(event="run_info", stats={"total": 3, "pretrain": 2, "all": 1}))
    _start(handler, 7)
    clock.time = 65.0
    handler.emit(_record(event="job_finished", job_id=7))
    _start(handler, 8)
    clock.time = 135.0
    handler.emit(_record(event="job_finished", job_id=8))
    handler.emit(_record(event="job_info", jobid=0, rule_name="all", wildcards={}))
    handler.emit(_record(event="job_finished", job_id=0))
    assert said().splitlines() == [
        "2 jobs to do; the output of each goes to a file under logs/",
        "[1/2]   1:05  pretrain simclr-x7  (1:05 elapsed, about 1:05 left)",
        "[2/2]   1:10  pretrain simclr-x8  (2:15 elapsed)",
    ]


def _simulated(waiting: list[tuple[str, float]]) -> Iterator[tuple[float, float | None]]:
    """Jobs by rule and seconds, two at a time in this order; after each, its end and the time left as shown."""
    clock = Clock()
    handler = module.Handler(now=clock)
    handler.emit(_record(event="run_info", stats=Counter(kind for kind, _ in waiting)))
    at_work: list[tuple[float, int]] = []
    for job, (kind, seconds) in enumerate([*waiting, ("", 0.0), ("", 0.0)]):
        if len(at_work) == 2 or not kind:
            clock.time, ended = heapq.heappop(at_work)
            handler.emit(_record(event="job_finished", job_id=ended))
            yield clock.time, handler.left()
        if kind:
            handler.emit(_record(event="job_info", jobid=job, rule_name=kind, log=[]))
            heapq.heappush(at_work, (clock.time + seconds, job))


LAST = [("claims", 17.0), ("scorecard", 13.0), ("paper", 14.0)]


def test_the_time_left_is_shown_from_a_quarter_of_the_work_on() -> None:
    """40 jobs of 10 s, two at a time: after each, what is left to do takes the two 5 s a job."""
    shown = [(end, left) for end, left in _simulated([("evaluate", 10.0)] * 40) if left is not None]
    assert shown[0][0] == 50.0
    for end, left in shown:
        assert left == pytest.approx(200.0 - end, abs=10.0)


def test_no_time_left_is_shown_while_jobs_of_kinds_not_yet_seen_wait() -> None:
    """Trainings say nothing of how long twenty tables take. Three last pages are too few to matter."""
    ends = list(_simulated([*[("pretrain", 30.0)] * 20, *[("artifact_a_b", 10.0)] * 20, *LAST]))
    assert all(left is None for _, left in ends[:20])
    assert all(left is not None for _, left in ends[21:25])


@pytest.mark.parametrize("seed", range(5))
def test_the_time_left_is_right_within_a_factor_of_two(seed: int) -> None:
    """The simulation knows when it ends. Jobs of a kind differ by a factor of four, kinds by one of six."""
    draw = random.Random(seed)
    trained = [("pretrain", 60.0)] * 40
    measured = [*[("evaluate", 24.0)] * 40, *[("artifact_a_b", 10.0)] * 60]
    draw.shuffle(measured)
    jobs = [(kind, mean * draw.uniform(0.4, 1.6)) for kind, mean in [*trained, *measured]]
    ends = list(_simulated([*jobs, *LAST]))
    last = max(end for end, _ in ends)
    shown = [(last - end, left) for end, left in ends if left is not None and last - end > 60]
    assert len(shown) > 30
    assert all(0.5 < left / true < 2 for true, left in shown)


def test_a_failed_job_is_no_measure() -> None:
    clock = Clock()
    handler = module.Handler(now=clock)
    handler.emit(_record(event="run_info", stats={"pretrain": 2}))
    _start(handler, 1)
    clock.time = 100.0
    for _ in range(2):
        handler.emit(_record(event="job_error", jobid=1, log=[]))
    assert (handler.left(), handler.done, handler.at_work) == (None, 0, {})


def test_the_end_is_said_once_all_jobs_are_done(planned: Callable[..., Plan], said: Callable[[], str]) -> None:
    plan, clock = planned(), Clock()
    handler = module.Handler(plan, clock)
    handler.emit(_record(event="run_info", stats={"total": 1, "pretrain": 1}))
    _start(handler, 1)
    clock.time = 61.0
    manifest = plan.run_folder(next(iter(plan.runs))) / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    handler.emit(_record(event="job_finished", job_id=1))
    assert said().splitlines()[2:] == [
        "done in 1:01: 1 job, 1 run trained",
        "next   make verify SCALE=small",
    ]


def test_nothing_to_do_ends_in_the_same_form(planned: Callable[..., Plan], said: Callable[[], str]) -> None:
    handler = module.Handler(planned())
    handler.emit(_record("Nothing to be done (all requested files are present and up to date)."))
    assert said().splitlines() == [
        "nothing to do: every result is up to date",
        "next   make verify SCALE=small",
    ]


def test_a_rebuild_with_failures_ends_with_how_far_it_came(said: Callable[[], str]) -> None:
    handler = module.Handler(now=Clock())
    handler.emit(_record(event="run_info", stats={"total": 2, "pretrain": 2}))
    _start(handler, 1)
    for _ in range(2):  # Snakemake may report one failure twice
        handler.emit(_record(event="job_error", jobid=1, log=[]))
    message = "WorkflowError:\nAt least one job did not complete successfully."
    handler.emit(_record(message, level=logging.ERROR, event="error"))
    shown = said()
    assert shown.splitlines()[-1].startswith("stopped after 0:00: 0 of 2 jobs done, 1 failed as shown above")
    assert "WorkflowError" not in shown


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


def test_chatter_is_left_out_and_warnings_are_not(said: Callable[[], str]) -> None:
    handler = module.Handler(now=Clock())
    handler.emit(_record("Select jobs to execute..."))
    handler.emit(_record("shell", event="shellcmd"))
    assert said() == ""
    handler.emit(_record("disk is full", level=logging.ERROR))
    assert said() == "disk is full\n"


def test_a_failed_job_shows_the_end_of_its_log(tmp_path: Path, said: Callable[[], str]) -> None:
    log = tmp_path / "job.log"
    log.write_text("\n".join(f"line {i}" for i in range(50)) + "\nhypersphere: [the] sentence\n")
    handler = module.Handler(now=Clock())
    handler.emit(_record(event="job_info", jobid=1, rule_name="prepare", wildcards={}))
    handler.emit(_record(event="job_error", jobid=1, log=[str(log)]))
    shown = said()
    assert "failed: prepare" in shown
    assert "hypersphere: [the] sentence" in shown
    assert "line 49" in shown
    assert "line 10" not in shown


def test_long_lines_are_not_broken_and_a_failed_commands_own_words_are_left_out(said: Callable[[], str]) -> None:
    handler = module.Handler()
    sentence = f"/a/{'long/' * 30}path: cannot be written"
    handler.emit(_record(sentence, level=logging.ERROR))
    handler.emit(_record("RuleException:\nCalledProcessError in file x:\nCommand y failed", level=logging.ERROR))
    assert said() == f"{sentence}\n"


def test_a_note_in_the_log_of_a_job_that_went_well_is_shown(tmp_path: Path, said: Callable[[], str]) -> None:
    log = tmp_path / "job.log"
    log.write_text("much\nnote: the state is damaged; starting over\nthe word note: in a line\n")
    handler = module.Handler(now=Clock())
    handler.emit(_record(event="job_info", jobid=1, rule_name="pretrain", wildcards={}, log=[str(log)]))
    handler.emit(_record(event="job_finished", job_id=1))
    assert said().splitlines()[1:] == ["  note: the state is damaged; starting over"]


def test_a_note_for_the_person_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    module.attach(logging.Logger("test"), note="the locks are removed")
    assert capsys.readouterr().err == "the locks are removed\n"


def test_attached_once() -> None:
    logger = logging.Logger("test")
    module.attach(logger)
    module.attach(logger)
    assert len(logger.handlers) == 1
