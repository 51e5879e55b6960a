"""The time left, worked by hand with a clock of our own."""

from collections.abc import Callable

import pytest

from hypersphere.command.progress import PER_EPOCH, PRIORS, START, Progress, clock, expected_seconds, kind_of_job
from hypersphere.declared.plan import Plan

A, B = ("pretrain", "a"), ("pretrain", "b")


def begun(**rules: int) -> Progress:
    """Batch b is expected to take three times as long as batch a."""
    progress = Progress({A: 20.0, B: 60.0})
    progress.plan(rules)
    return progress


def test_jobs_that_only_collect_files_are_not_counted() -> None:
    progress = begun(all=1, reproduce=1, total=5, pretrain=2, claims=1)
    assert progress.total == 3
    progress.start(0, "all", "", 0.0)
    assert not progress.running


def test_a_longer_job_of_the_same_kind_counts_for_more() -> None:
    """a took 40 s where 20 were expected, so b is to take 120 and not 40; one job at a time."""
    progress = begun(pretrain=2)
    progress.start(1, "pretrain", "a", 0.0)
    assert progress.finish(1, 40.0) == 40.0
    assert progress.left(40.0) == pytest.approx(120.0)
    progress.start(2, "pretrain", "b", 40.0)
    assert progress.left(70.0) == pytest.approx(90.0)


def test_kinds_are_not_measured_by_one_another() -> None:
    """Two claims' time, by the prior, and not by that of a slow dataset."""
    progress = begun(prepare=1, claims=2)
    progress.start(1, "prepare", "", 0.0)
    progress.finish(1, 100 * PRIORS["prepare"])
    assert progress.left(100 * PRIORS["prepare"]) == pytest.approx(2 * PRIORS["claims"])


def test_each_finished_job_updates_the_mean_of_its_kind() -> None:
    """Artifacts took 9 and 27 s where 9 were expected: the third is to take 18."""
    progress = begun(artifact_p_a=1, artifact_p_b=1, artifact_p_c=1)
    for job, (rule, seconds) in enumerate({"artifact_p_a": 9.0, "artifact_p_b": 27.0}.items()):
        progress.start(job, rule, "", 0.0)
        progress.finish(job, seconds)
    progress.first_start = -9.0  # one after the other: 36 s of work in 36 s
    assert progress.left(27.0) == pytest.approx(18.0)


def test_work_is_divided_by_the_jobs_at_work() -> None:
    """Two at a time, so that the four that wait take the time of two."""
    progress = begun(evaluate=6)
    for job in (1, 2):
        progress.start(job, "evaluate", "", 0.0)
    for job in (1, 2):
        progress.finish(job, 24.0)
    assert progress.left(24.0) == pytest.approx(4 * 24.0 / 2)


def test_the_longest_job_is_not_divided() -> None:
    progress = begun(evaluate=2, simulate_lmcl=1)
    for job in (1, 2):
        progress.start(job, "evaluate", "", 0.0)
        progress.finish(job, 24.0)
    assert progress.left(24.0) == PRIORS["simulate_lmcl"]


def test_nothing_is_shown_before_a_twentieth_is_done() -> None:
    """19 s after the first of 20 equal jobs began, 24 s each: 19 of 480 s are done; at 24 s a twentieth is."""
    progress = begun(evaluate=20)
    assert progress.left(0.0) is None
    progress.start(1, "evaluate", "", 0.0)
    assert progress.left(19.0) is None
    progress.finish(1, 24.0)
    assert progress.left(24.0) == pytest.approx(19 * 24.0)


def test_a_first_job_that_is_slower_than_expected_says_so_while_it_works() -> None:
    """A scale of hours: after 100 times the expected seconds no job of this kind can be short."""
    progress = begun(pretrain=2)
    progress.start(1, "pretrain", "a", 0.0)
    left = progress.left(2000.0)
    assert left == pytest.approx(100 * 60.0)


def test_a_failed_job_is_no_measure() -> None:
    progress = begun(pretrain=2)
    progress.start(1, "pretrain", "a", 0.0)
    progress.fail(1)
    progress.fail(1)
    progress.start(2, "pretrain", "b", 0.0)
    assert progress.left(30.0) == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("rule", "kind"), [("artifact_margins_table2", "artifact"), ("simulate_lmcl", "simulate"), ("evaluate_pixels",) * 2]
)
def test_kinds(rule: str, kind: str) -> None:
    assert kind_of_job(rule) == kind
    assert kind in PRIORS


def test_a_batch_is_expected_to_take_longer_the_more_epochs_its_runs_have(planned: Callable[..., Plan]) -> None:
    plan = planned(scale={"epochs": 3})
    seconds = expected_seconds(plan)
    assert seconds.keys() == {(rule, batch.id) for rule in ("pretrain", "evaluate") for batch in plan.batches}
    for batch in plan.batches:
        assert seconds["pretrain", batch.id] == START + PER_EPOCH * 3 * len(batch.runs)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (65, "1:05"), (59.6, "1:00"), (3600, "1:00:00"), (7210, "2:00:10")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text
