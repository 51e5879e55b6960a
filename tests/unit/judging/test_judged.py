"""Runs judged against independent tests, and what must hold of every answer."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from hypersphere.judging import judged
from hypersphere.judging.judged import BETTER, NO_DIFFERENCE, UNDECIDED, WORSE, Judged, Question
from hypersphere.judging.reading import Runs
from hypersphere.statistics.effects import Sample

RULES = judged.rules()
BASE = [90.1, 90.4, 89.9, 90.3]


def runs(lost: Counter[tuple[str, str]] | None = None, **arms: list[float]) -> Runs:
    """Runs with the seeds 0, 1, …, of one dataset."""
    samples: dict[str, Sample] = {name: dict(enumerate(values)) for name, values in arms.items()}
    return Runs(Path("r.csv"), "a table", "acc", {"": samples}, lost or Counter(), True, {})


PLAIN = Question("base")


def judge(question: Question = PLAIN, **arms: list[float]) -> Judged:
    return judged.judge(runs(**arms), question, RULES)


def test_the_packages_rules_are_those_of_the_project() -> None:
    root = Path(__file__).parents[3]
    assert judged.rules_file.load(root) == RULES


def test_a_paired_question_is_answered_by_the_paired_test() -> None:
    """As scipy's ttest_rel has it: seeds that move both arms alike hide nothing then."""
    base = [80.0, 90.0, 85.0, 70.0, 95.0]
    ours = [80.6, 90.4, 85.5, 70.6, 95.4]
    paired = stats.ttest_rel(ours, base)
    (one,) = judge(Question("base", paired=True), base=base, ours=ours).effects
    assert one.p == pytest.approx(paired.pvalue)
    interval = paired.confidence_interval(0.95)
    assert (one.low, one.high) == pytest.approx((interval.low, interval.high))
    assert one.answer == BETTER
    assert one.correlation == pytest.approx(stats.pearsonr(ours, base).statistic)
    (alone,) = judge(base=base, ours=ours).effects
    assert (alone.answer, alone.low_paired) == (UNDECIDED, pytest.approx(interval.low))


def test_power_and_runs_are_those_of_statsmodels() -> None:
    """Of equal spreads and numbers of runs, for which statsmodels has the power of the t test."""
    (one,) = judge(Question("base", margin=0.5), base=BASE, ours=[v + 0.2 for v in BASE]).effects
    std = float(np.std(BASE, ddof=1))
    power = TTestIndPower()
    assert one.power == pytest.approx(
        power.power(0.5 / std, 4, 0.05)
        - stats.nct.cdf(-stats.t.ppf(0.975, 6), 6, 0.5 / std * 2**0.5)
    )
    needed = power.solve_power(0.5 / std, power=0.8, alpha=0.05)
    assert one.runs_to_see == math.ceil(needed)
    assert one.detectable == pytest.approx(std * power.solve_power(None, 4, 0.05, 0.8), rel=1e-4)


@pytest.mark.parametrize(
    ("values", "margin", "answer"),
    [
        ([92.1, 92.4, 91.9, 92.3], 1.0, "better"),
        ([90.7, 91.0, 90.5, 90.9], 1.5, "better by less than the margin"),
        ([90.2, 90.3, 90.0, 90.4], 1.0, "no difference"),
        ([90.2, 90.3, 90.0, 90.4], None, "undecided"),
        ([89.0, 92.0, 88.0, 93.0], 1.0, "undecided"),
        ([89.5, 89.8, 89.3, 89.7], 1.5, "worse by less than the margin"),
        ([88.1, 88.4, 87.9, 88.3], 1.0, "worse"),
    ],
)
def test_each_answer(values: list[float], margin: float | None, answer: str) -> None:
    """Welch's and the two one-sided tests agree by hand: the standard error is 0.16, or 1.2 of the wide arm."""
    assert (
        judge(Question("base", margin=margin), base=BASE, ours=values).effects[0].answer == answer
    )


VALUES = st.lists(st.integers(0, 1000).map(lambda one: one / 10), min_size=2, max_size=6)
TURNED = {"better": "worse", "worse": "better"}


@settings(max_examples=60, deadline=None)
@given(base=VALUES, ours=VALUES, other=VALUES, margin=st.sampled_from([None, 1.0, 20.0]))
def test_lower_and_higher_turn_every_answer_and_order_changes_none(
    base: list[float], ours: list[float], other: list[float], margin: float | None
) -> None:
    arms = {"base": base, "ours": ours, "other": other}
    answers = {
        one.arm: one.answer for one in judge(Question("base", margin=margin), **arms).effects
    }
    turned = judge(Question("base", margin=margin, better="lower"), **arms).effects
    for one in turned:
        word, space, rest = answers[one.arm].partition(" ")
        assert one.answer == TURNED.get(word, word) + space + rest
    backwards = judge(Question("base", margin=margin), **dict(reversed(arms.items()))).effects
    assert {one.arm: one.answer for one in backwards} == answers


def test_an_arm_level_with_its_controls_is_said_so_and_two_say_nothing() -> None:
    question = Question("base", controls=("pixels",), margin=1.0)
    low = [40.0, 43.0, 41.0, 42.0]
    first = judge(question, base=low, ours=BASE, pixels=[45.0])
    assert {one.arm: one.below for one in first.arms} == {
        "base": "pixels",
        "ours": "",
        "pixels": "",
    }
    assert first.effects[0].answer == BETTER
    assert "size" in first.effects[0].why
    both = judge(question, base=low, ours=[30.0, 31.0, 30.5, 30.2], pixels=[45.0])
    assert both.effects[0].answer == UNDECIDED
    assert [one.arm for one in both.effects] == ["ours"]


def test_a_lower_control_is_the_worse_one_where_lower_is_better() -> None:
    question = Question("base", controls=("pixels",), better="lower")
    found = judge(question, base=[9.0, 9.5, 9.2], ours=[5.0, 5.1, 5.3], pixels=[8.0])
    assert {one.arm: one.below for one in found.arms} == {
        "base": "pixels",
        "ours": "",
        "pixels": "",
    }


def test_an_arm_that_lost_a_quarter_of_its_runs_settles_nothing() -> None:
    """The rules allow a fifth: one of five, and not one of four."""
    ours = [92.1, 92.4, 91.9, 92.0]
    for kept, answer in ((4, BETTER), (3, UNDECIDED)):
        table = runs(Counter({("", "ours"): 1}), base=BASE, ours=ours[:kept])
        assert judged.judge(table, Question("base"), RULES).effects[0].answer == answer


def test_runs_that_do_not_differ_say_nothing() -> None:
    (one,) = judge(base=[1.0, 1.0, 1.0], ours=[2.0, 2.0, 2.0]).effects
    assert (one.answer, one.why) == (UNDECIDED, judged.NOTHING_VARIES)
    (one,) = judge(Question("base", paired=True), base=[1.0, 2.0], ours=[3.0]).effects
    assert (one.answer, one.why) == (UNDECIDED, judged.NO_SHARED_SEEDS)


def test_the_error_of_a_test_set_is_binomial_in_percent_and_in_shares() -> None:
    question = Question("base", test_size=10_000)
    error = math.sqrt(0.9 * 0.1 / 10_000)
    percents = judge(question, base=[90.0, 90.0], ours=[50.0, 50.0])
    assert percents.arms[0].test_set_error == pytest.approx(100 * error)
    assert percents.effects[0].test_set_error == pytest.approx(math.hypot(100 * error, 0.5))
    shares = judge(question, base=[0.9, 0.9], ours=[0.5, 0.5])
    assert shares.arms[0].test_set_error == pytest.approx(error)


def test_a_plans_family_counts_comparisons_that_were_not_run() -> None:
    ours = [90.9, 91.4, 90.8, 91.2]
    (alone,) = judge(base=BASE, ours=ours).effects
    (planned,) = judge(Question("base", family=5), base=BASE, ours=ours).effects
    assert planned.p_holm == pytest.approx(5 * alone.p)
    assert (alone.answer, planned.answer) == (
        BETTER,
        BETTER if planned.p_holm <= 0.05 else UNDECIDED,
    )


@pytest.mark.parametrize("spread", [1.0, 2.0], ids=["equal", "unequal"])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_an_honest_null_is_seldom_called_different(n: int, spread: float) -> None:
    """Of 1,000 tables at most 5 %, and two standard errors of so many tables beyond it."""
    drawn = np.random.default_rng([n, int(spread)]).standard_normal((1000, 2, n))
    called = 0
    for base, ours in drawn:
        (one,) = judge(base=list(base), ours=list(spread * ours)).effects
        called += one.answer in (BETTER, WORSE)
    assert called <= 50 + 2 * math.sqrt(1000 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("n", "other", "spread", "low", "high"),
    [
        *[(n, n, 1.0, 3.0, 5.0) for n in (3, 5, 10)],
        *[(n, n, 4.0, 5.0, 6.0) for n in (3, 5, 10)],
        (3, 10, 1.0, 6.0, 7.0),
        (10, 3, 4.0, 6.0, 7.0),
    ],
)
def test_the_page_says_how_often_welchs_test_is_wrong(
    n: int, other: int, spread: float, low: float, high: float
) -> None:
    """scipy's, which decides as ours does; of 100,000 tables, whose share has a standard error of 0.07 points."""
    draws = np.random.default_rng([n, other])
    arms = draws.standard_normal((100_000, n)), spread * draws.standard_normal((100_000, other))
    wrong = 100 * np.mean(stats.ttest_ind(*arms, axis=1, equal_var=False).pvalue <= 0.05)
    assert low - 0.2 < wrong < high + 0.2


def test_the_control_a_true_effect_is_found_as_often_as_its_power_says() -> None:
    drawn = np.random.default_rng(1).standard_normal((400, 2, 5))
    expected = TTestIndPower().power(2.0, 5, 0.05)
    found = [judge(base=list(base), ours=list(2.0 + ours)).effects[0] for base, ours in drawn]
    share = sum(one.answer == BETTER for one in found) / 400
    assert share == pytest.approx(expected, abs=0.06)


def test_equal_arms_are_called_equal_as_often_as_runs_to_equate_says() -> None:
    drawn = np.random.default_rng(2).standard_normal((200, 2, 10))
    question = Question("base", margin=1.4)
    answers = [judge(question, base=list(a), ours=list(b)).effects[0] for a, b in drawn]
    assert judged.effects.runs_to_equate(1.4, 1.0, RULES) == 10
    share = sum(one.answer == NO_DIFFERENCE for one in answers) / 200
    assert 0.7 < share < 0.95
