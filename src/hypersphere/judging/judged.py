"""Runs judged: each arm with its interval, each effect with its answer. Every decision is one of ``statistics``.

Values, effects, intervals and errors are in the unit of the table. docs/judge.md states what each number means.
"""

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from hypersphere import foreign
from hypersphere.audit.chance import binomial_error
from hypersphere.config import coordinates
from hypersphere.config import rules as rules_file
from hypersphere.config.cells import CONTROL
from hypersphere.config.measures import Measure
from hypersphere.config.rules import Direction, Rules, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.judging.runs import Runs
from hypersphere.statistics import effects, verdicts
from hypersphere.statistics.effects import Moments, Sample, moments
from hypersphere.statistics.verdicts import Floored, Intervals
from hypersphere.t_test import t_interval

Better = Literal["higher", "lower"]
BETTER, WORSE = "better", "worse"
BY_LESS = " by less than the margin"
"""What follows on better or worse if an interval reaches no margin."""
NO_DIFFERENCE, UNDECIDED = "no difference", "undecided"
ANSWERS: Mapping[Direction, str] = {
    "same": BETTER,
    "opposite": WORSE,
    "no effect": NO_DIFFERENCE,
    "unclear": UNDECIDED,
}
"""What is said of an arm, by the direction of its effect as seen from a gain."""
FLOORED: Mapping[tuple[bool, bool], Floored] = {
    (False, False): "",
    (True, False): "variant",
    (False, True): "baseline",
    (True, True): "both",
}
"""By whether the arm and the baseline are not shown to be above a control."""
NOTHING_VARIES = (
    "runs, or their differences in pairs, are all equal, so that nothing tells how large chance is"
)
LOST_TOO_MANY = "an arm lost more of its runs than the rules allow"
NO_SHARED_SEEDS = "fewer than two seeds are in both arms, so that there are no pairs to compare"


class Question(NamedTuple):
    """How runs are judged."""

    baseline: str
    controls: tuple[str, ...] = ()
    margin: float | None = None
    """How far apart two means may be and still count as equal; None: no arm is called equal."""
    better: Better = "higher"
    paired: bool = False
    test_size: int | None = None
    """Test examples, of which each value is a share."""
    family: int = 0
    """Comparisons that a plan declared; Holm's family is at least so large."""


class JudgedArm(NamedTuple):
    """An arm on a dataset, or a control."""

    dataset: str
    arm: str
    n: int
    lost: int
    """Runs without a value."""
    mean: float
    std: float
    low: float
    """The interval of the mean at 95 %; nan for one run, or where nothing varies."""
    high: float
    below: str
    """The first control that it is not shown to be above; empty: it is above all, or there are none."""
    test_set_error: float
    """The binomial standard error that the size of the test set gives to one run; nan if the size is unknown."""


class JudgedEffect(NamedTuple):
    """An arm minus the baseline, on a dataset."""

    dataset: str
    arm: str
    answer: str
    why: str
    """Why it is undecided, or has no size; empty where its interval says all."""
    effect: float
    low: float
    """The interval at the level of Holm's step, which decides better or worse."""
    high: float
    low_alone: float
    """The interval at 95 % without correction, which decides whether a gain reaches the margin."""
    high_alone: float
    low_equal: float
    """The interval at 90 %, which decides whether there is no difference, by two one-sided tests."""
    high_equal: float
    p: float
    p_holm: float
    test: str
    df: float
    n: int
    n_baseline: int
    low_power: bool
    detectable: float
    """The true effect that this test finds with a probability of 80 %."""
    power: float
    """The probability with which this test finds a true effect of one margin; nan without a margin."""
    runs_to_see: float
    """Runs an arm that find a true effect of one margin, else as large as this one, with 80 %; nan: too many, or of
    pairs."""
    runs_to_equate: float
    """Runs an arm that show two equal arms to be equal within the margin, with 80 %; nan likewise, or without one."""
    n_pairs: int
    correlation: float
    """Over the seeds of both arms: pairing gains where it is high."""
    low_paired: float
    high_paired: float
    test_set_error: float
    """The standard error of the difference that the test set's size gives (unpaired); nan if the size is unknown."""


class Judged(NamedTuple):
    """What is known of a table of runs."""

    runs: Runs
    question: Question
    arms: list[JudgedArm]
    effects: list[JudgedEffect]


def rules() -> Rules:
    """The rules of all verdicts: config/statistics.yaml, which the package holds, too."""
    return rules_file.load(foreign.PACKAGE)


def judge(runs: Runs, question: Question, by: Rules) -> Judged:
    """Judge every arm against the baseline of its dataset, Holm-corrected over the whole table."""
    arms = []
    rows = []
    for dataset, of_dataset in runs.arms.items():
        arms += [_arm(runs, question, dataset, arm, by) for arm in of_dataset]
        trained = {arm: of for arm, of in of_dataset.items() if arm not in question.controls}
        baseline = trained[question.baseline]
        for arm, sample in trained.items():
            if arm != question.baseline:
                row = effects.effect(sample, baseline, trained, by, question.paired)
                row |= {"dataset": dataset, "arm": arm}
                rows.append(row)
    effects.adjust(rows, max(len(rows), question.family), by)
    about = {(one.dataset, one.arm): one for one in arms}
    judged = []
    for row in rows:
        pair = about[row["dataset"], row["arm"]], about[row["dataset"], question.baseline]
        judged.append(_effect(row, *pair, question, by))
    return Judged(runs, question, arms, judged)


def _arm(runs: Runs, question: Question, dataset: str, arm: str, by: Rules) -> JudgedArm:
    of = moments(runs.arms[dataset][arm])
    low, high = t_interval(of.mean, of.std / math.sqrt(of.n), of.n - 1, by.confidence)
    is_control = arm in question.controls
    controls = {} if is_control else _levels(runs.arms[dataset], question.controls)
    error = _test_set_error(runs, question, dataset, of)
    below = _below((low, high), controls, question.better)
    return JudgedArm(dataset, arm, of.n, runs.lost[dataset, arm], *of[1:], low, high, below, error)


def _levels(arms: Mapping[str, Sample], controls: Collection[str]) -> dict[str, float]:
    """The means of the controls that a dataset has."""
    return {name: moments(arms[name]).mean for name in controls if name in arms}


def _below(interval: verdicts.Interval, controls: Mapping[str, float], better: Better) -> str:
    """The first control that an arm is not shown to be above (``verdicts.floor_of``, in its coordinates)."""
    measure = Measure(label="", unit="", decimals=0, better=better, what="")
    numbered = {f"control{at}": name for at, name in enumerate(controls)}
    means = {
        coordinates.text({"method": CONTROL, "variant": number}): controls[name]
        for number, name in numbered.items()
    }
    floor = verdicts.floor_of("method=arm", interval, measure, means, numbered)
    return numbered.get(floor, "")


def _test_set_error(runs: Runs, question: Question, dataset: str, of: Moments) -> float:
    """The binomial standard error of one run, in the table's unit: percent, or shares if no mean is above 1."""
    if question.test_size is None:
        return math.nan
    means = [moments(sample).mean for sample in runs.arms[dataset].values()]
    whole = 100.0 if max(means) > 1 else 1.0
    if not 0 <= of.mean <= whole:
        raise HypersphereError(
            f"{runs.file}: --test-size: values must be shares of the test examples (a mean is {of.mean:g})"
        )
    return whole / 100 * binomial_error(100 / whole * of.mean, question.test_size)


def _effect(
    row: Mapping[str, Any], arm: JudgedArm, baseline: JudgedArm, question: Question, by: Rules
) -> JudgedEffect:
    """An effect with its answer, by the numbers of ``effects.effect``."""
    floored = FLOORED[bool(arm.below), bool(baseline.below)]
    margin = question.margin or math.nan
    answer, why = _answer(row, floored, question)
    if row["n_pairs"] < 2 and question.paired:
        why = NO_SHARED_SEEDS
    elif not row["test"]:
        why = NOTHING_VARIES
    if any(one.lost > by.most_diverged * (one.lost + one.n) for one in (arm, baseline)):
        answer, why = UNDECIDED, LOST_TOO_MANY
    sought = question.margin or row["effect"]
    # of arms that are not paired; how much pairing gains is another study's to say
    spread = math.nan if question.paired else math.sqrt((arm.std**2 + baseline.std**2) / 2)
    return JudgedEffect(
        dataset=arm.dataset,
        arm=arm.arm,
        answer=answer,
        why=why,
        effect=row["effect"],
        low=row["low_holm"],
        high=row["high_holm"],
        low_alone=row["low"],
        high_alone=row["high"],
        low_equal=row["low_equal"],
        high_equal=row["high_equal"],
        p=row["p"],
        p_holm=row["p_holm"],
        test=row["test"],
        df=row["df"],
        n=row["n_variant"],
        n_baseline=row["n_baseline"],
        low_power=row["low_power"],
        detectable=row["detectable"],
        power=effects.power(row["primary"], margin, by),
        runs_to_see=effects.runs_to_see(sought, spread, by),
        runs_to_equate=effects.runs_to_equate(margin, spread, by) if question.margin else math.nan,
        n_pairs=row["n_pairs"],
        correlation=row["correlation"],
        low_paired=row["paired_low"],
        high_paired=row["paired_high"],
        test_set_error=math.hypot(arm.test_set_error, baseline.test_set_error),
    )


def _answer(row: Mapping[str, Any], floored: Floored, question: Question) -> tuple[str, str]:
    """What is said of an arm, and why it is not more.

    The engine is asked whether the arm is better, by the margin if there is one; and if it is worse, then whether it is
    worse by the margin, too.
    """
    sign = 1.0 if question.better == "higher" else -1.0
    ours = Intervals.of(row)
    judged = verdicts.of_direction(sign, question.margin, ours)
    answer = ANSWERS[judged.direction]
    if answer == WORSE:
        judged = verdicts.of_direction(-sign, question.margin, ours)
    is_small = judged.direction == "same" and judged.verdict is Verdict.DIRECTION_ONLY
    said = verdicts.with_floor(judged, floored, has_size=True)
    if said.direction == "unclear":
        return UNDECIDED, said.why
    return f"{answer}{BY_LESS}" if is_small else answer, said.why
