"""Verdicts. Expected ones follow by hand from docs/statistics.md; equivalence is checked against statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW, ttost_ind

from hypersphere.config import claims as ledger
from hypersphere.config.claims import Claim
from hypersphere.config.measures import MEASURES
from hypersphere.config.rules import Answer, Verdict
from hypersphere.provenance import tables
from hypersphere.statistics import judge, verdicts
from hypersphere.statistics.effects import welch
from hypersphere.statistics.verdicts import Size
from hypersphere.t_test import t_interval

from ...golden.released import from_records
from .world import RULES, Make, claim, gain

NAN = math.nan


@pytest.mark.parametrize(
    ("published", "adjusted", "primary", "verdict", "direction"),
    [
        (10.0, (1.0, 9.0), (2.0, 8.0), "reproduced", "same"),
        # the primary interval reaches 5, half of 10
        (10.0, (1.0, 6.0), (2.0, 5.0), "reproduced", "same"),
        (10.0, (1.0, 6.0), (2.0, 4.9), "direction only", "same"),  # and here it does not
        (10.0, (19.0, 30.0), (20.0, 29.0), "reproduced", "same"),  # it begins at twice 10
        (10.0, (19.0, 30.0), (20.1, 29.0), "direction only", "same"),  # wholly above
        (10.0, (-1.0, 9.0), (0.5, 7.0), "inconclusive", "unclear"),
        # the primary interval is below 5
        (10.0, (-2.0, 5.5), (-1.0, 4.9), "not reproduced", "unclear"),
        (10.0, (-2.0, 5.5), (-1.0, 5.0), "inconclusive", "unclear"),  # and must be wholly so
        (10.0, (-9.0, -1.0), (-8.0, -2.0), "not reproduced", "opposite"),  # the other way round
        (10.0, (0.0, 9.0), (1.0, 8.0), "inconclusive", "unclear"),  # touching 0 does not exclude it
        (-10.0, (0.0, 9.0), (1.0, 8.0), "not reproduced", "unclear"),
        (0.0, (1.0, 9.0), (2.0, 8.0), "inconclusive", "unclear"),  # no published direction
        (10.0, (NAN, NAN), (NAN, NAN), "inconclusive", "unclear"),
    ],
)
def test_effects(
    published: float,
    adjusted: tuple[float, float],
    primary: tuple[float, float],
    verdict: str,
    direction: str,
) -> None:
    judged = verdicts.of_effect(published, Size.of(published, RULES), adjusted, primary)
    assert (judged.verdict, judged.direction) == (verdict, direction)
    shown = primary if verdict == "not reproduced" else adjusted
    assert (judged.low, judged.high) == pytest.approx(shown, nan_ok=True)


@settings(max_examples=200, deadline=None)
@given(st.floats(-20, 20), st.floats(0, 5), st.floats(0, 5), st.floats(0, 5), st.floats(0.1, 20))
def test_verdicts_and_directions_turn_with_the_sign(
    middle: float, narrow: float, wider: float, skew: float, published: float
) -> None:
    """Swapping variant and baseline changes no verdict: it negates the effect, its intervals and the published one."""
    primary = (middle - narrow, middle + narrow + skew)
    adjusted = (primary[0] - wider, primary[1] + wider)
    size = Size.of(published, RULES)
    there = verdicts.of_effect(published, size, adjusted, primary)
    back = verdicts.of_effect(
        -published, size, (-adjusted[1], -adjusted[0]), (-primary[1], -primary[0])
    )
    assert there.verdict == back.verdict
    assert back.direction == there.direction
    opposite = {"same": "opposite", "opposite": "same", "unclear": "unclear"}
    assert (
        verdicts.of_effect(-published, size, adjusted, primary).direction
        == opposite[there.direction]
    )
    # A verdict for the published direction needs that direction, whatever the size.
    assert (there.verdict in (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY)) == (
        there.direction == "same"
    )


# t(0.95, 10) = 1.8125 and t(0.975, 10) = 2.2281 from tables; with error 0.5: half widths 0.906 and 1.114
@pytest.mark.parametrize(
    ("ours", "expected", "half"),
    [
        (60.0, "reproduced", 0.906),
        (60.55, "reproduced", 0.906),  # 61.456 < 61.5
        (60.65, "inconclusive", 0.906),  # 61.556 > 61.5
        (59.35, "inconclusive", 0.906),
        (62.5, "inconclusive", 0.906),  # 61.386 < 61.5, though the 90 % interval is outside
        (62.7, "not reproduced", 1.114),  # 61.586 > 61.5
        (57.3, "not reproduced", 1.114),
        (60.0, "inconclusive", NAN),  # by an error that is not known
    ],
)
def test_values(ours: float, expected: str, half: float) -> None:
    n, printed = (
        1 if math.isnan(half) else 4,
        Claim.model_construct(reported=60.0, reported_std=None, reported_n=None),
    )
    # ours is a mean of four, the printed one counts as one of the same spread: error sqrt(0.2 (1/4 + 1)) = 0.5
    judged = verdicts.judge(printed, ours, n, 0.2**0.5, 10, 1.5, RULES)
    assert judged["verdict"] == expected
    assert (judged["low"], judged["high"]) == pytest.approx(
        (ours - half, ours + half), abs=1e-3, nan_ok=True
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(5000, 7000), min_size=3, max_size=8), st.floats(0.5, 8))
def test_reproduced_is_two_one_sided_tests_at_five_percent(
    counts: list[int], margin: float
) -> None:
    values = np.array(counts) / 100
    assume(np.ptp(values) > 0)
    ours = DescrStatsW(values)
    # a one-sample layout: error s / sqrt(n), df n - 1, against a point, which is of a billion runs
    p, _, _ = ours.ttost_mean(60 - margin, 60 + margin)
    assume(abs(p - 0.05) > 1e-6)
    n, point = (
        len(values),
        Claim.model_construct(reported=60.0, reported_std=None, reported_n=10**9),
    )
    judged = verdicts.judge(
        point, float(ours.mean), n, float(values.std(ddof=1)), n - 1, margin, RULES
    )
    assert (judged["verdict"] == "reproduced") == (p < 0.05)
    assert judged["p"] == pytest.approx(ours.ttest_mean(60)[1], rel=1e-5)


# Sentences that say that there is no effect: tests of equivalence.


@pytest.mark.parametrize("spread", [0.2, 0.5, 0.8, 1.5])
@pytest.mark.parametrize("shift", [0.0, 0.7, 1.5, 4.0])
def test_the_verdict_is_that_of_two_one_sided_tests(spread: float, shift: float) -> None:
    """Reproduced exactly where both one-sided Welch tests reject at 5 % (statsmodels)."""
    base = np.array([-1.0, -0.3, 0.2, 0.4, 0.7]) * spread
    variant, baseline = pd.Series(50 + shift + base[::-1] * 1.3), pd.Series(50 + base)
    test, difference = welch(variant, baseline), float(variant.mean() - baseline.mean())
    judged = verdicts.of_equality(
        test.interval(difference, 0.9), test.interval(difference, 0.95), 1.5
    )
    p = ttost_ind(variant, baseline, -1.5, 1.5, usevar="unequal")[0]
    assert (judged.verdict == "reproduced") == (p <= 0.05)
    assert (judged.verdict == "not reproduced") == (
        abs(difference) - np.ptp(test.interval(difference, 0.95)) / 2 > 1.5
    )


@pytest.mark.parametrize(
    ("confident", "primary", "verdict", "direction"),
    [
        ((-0.9, 0.9), (-1.2, 1.2), "reproduced", "no effect"),
        ((-0.2, 1.1), (-0.4, 1.3), "inconclusive", "unclear"),
        ((0.9, 1.9), (0.8, 2.0), "inconclusive", "unclear"),
        ((1.2, 1.9), (1.1, 2.0), "not reproduced", "unclear"),
        ((-1.9, -1.2), (-2.0, -1.1), "not reproduced", "unclear"),
        ((NAN, NAN), (NAN, NAN), "inconclusive", "unclear"),
    ],
)
def test_intervals_against_a_margin_of_one(
    confident: tuple[float, float], primary: tuple[float, float], verdict: str, direction: str
) -> None:
    equal = Claim.model_construct(direction="equal", level=90.0, metric="knn_top1")
    margin_of_one = RULES.model_copy(
        update={"margin": RULES.margin.model_copy(update={"at_least_high": 1.0})}
    )
    judged = verdicts.compare(
        equal, verdicts.Intervals((5.0, 6.0), primary, confident), margin_of_one
    )
    assert (judged.verdict, judged.direction, judged.margin) == (verdict, direction, 1.0)


@pytest.mark.parametrize(
    ("measure", "published", "margin"),
    [
        ("knn_top1", 80.0, 1.0),
        ("knn_top1", 79.9, 1.5),
        ("knn_top1", None, 1.5),  # an accuracy that is not printed
        ("opposite_halves", 0.0, 1.0),  # as an accuracy of 100
        ("opposite_halves", 20.0, 1.0),  # of 80
        ("opposite_halves", 20.1, 1.5),
        ("opposite_halves", 80.0, 1.0),
        ("mce", 100.02, 1.0),
        ("relative_mce", 60.0, 1.5),
        ("norm", 81.0, 4.05),  # 5 %
        ("norm", 0.1, 0.01),  # 5 % would be less than the last decimal
        ("entropy", 0.5, 0.1),
        ("entropy", 8.3, 0.415),
        ("norm", None, NAN),
        ("opposite_halves", None, NAN),
        ("steps", 100.0, NAN),
    ],
)
def test_each_measure_has_its_margin(measure: str, published: float | None, margin: float) -> None:
    assert verdicts.margin_of(MEASURES[measure], published, RULES) == pytest.approx(
        margin, nan_ok=True
    )


@pytest.mark.parametrize(
    ("confident", "primary", "verdict"),
    [((-0.9, 0.9), (-1.2, 1.2), "reproduced"), ((1.2, 1.9), (1.1, 2.0), "not reproduced")],
)
def test_a_rate_that_stays_the_same_has_the_margin_of_its_baseline(
    confident: tuple[float, float], primary: tuple[float, float], verdict: str
) -> None:
    equal = Claim.model_construct(direction="equal", level=86.14, metric="relative_mce")
    judged = verdicts.compare(equal, verdicts.Intervals((5.0, 6.0), primary, confident), RULES)
    assert (judged.verdict, judged.margin) == (verdict, 1.0)


@pytest.mark.parametrize(
    ("adjusted", "confident", "direction", "answer"),
    [
        ((-0.5, 0.7), (-0.3, 0.5), "no effect", Answer.FAILS),
        ((0.1, 0.9), (0.2, 0.8), "same", Answer.DIRECTION_ONLY),  # clear, and less than the margin
        ((0.1, 1.5), (0.3, 1.2), "same", Answer.HOLDS),
        ((-1.5, -0.1), (-1.2, -0.3), "opposite", Answer.OPPOSITE),
        # no gain of the margin, whatever its sign
        ((-1.5, 0.7), (-1.2, 0.4), "unclear", Answer.FAILS),
        ((-1.5, 1.7), (-1.2, 1.4), "unclear", Answer.CANNOT_TELL),
    ],
)
def test_a_study_has_its_own_margin(
    adjusted: tuple[float, float], confident: tuple[float, float], direction: str, answer: Answer
) -> None:
    """An arm that is supposed behind is judged as its mirror image is that is supposed ahead."""
    found = []
    for said, turned in (
        ("larger", lambda low, high: (low, high)),
        ("smaller", lambda low, high: (-high, -low)),
    ):
        claim = Claim.model_construct(direction=said, reported=None, metric="knn_top1", margin=1.0)
        intervals = verdicts.Intervals(turned(*adjusted), turned(*adjusted), turned(*confident))
        judged = verdicts.compare(claim, intervals, RULES)
        assert (judged.direction, judged.answer, judged.margin) == (direction, answer, 1.0)
        found.append((judged.verdict, *turned(judged.low, judged.high)))
    assert found[0] == found[1]


def said_with(n: int, claim: Claim, effect: float, std: float, family: int) -> Answer:
    """The answer with ``n`` runs an arm, all of one estimate and spread, by Welch's intervals and Holm's first step."""
    error, df = std * math.sqrt(2 / n), 2 * n - 2
    levels = (1 - RULES.alpha / family, RULES.confidence, RULES.equivalence)
    adjusted, primary, confident = (t_interval(effect, error, df, level) for level in levels)
    return verdicts.compare(claim, verdicts.Intervals(adjusted, primary, confident), RULES).answer


def turns(claim: Claim, effect: float, std: float, family: int) -> list[tuple[Answer, Answer]]:
    """The answers that more runs at the same estimate and spread turn into their contrary."""
    said = [
        said_with(n, claim, effect, std, family)
        for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 40, 100, 1000)
    ]
    return [
        (few, many) for at, few in enumerate(said) for many in said[at:] if few.contradicts(many)
    ]


SAID = st.one_of(
    st.builds(dict, reported=st.floats(-20, 20), direction=st.none(), margin=st.none()),
    st.builds(
        dict,
        reported=st.none(),
        direction=st.sampled_from(["larger", "smaller", "equal"]),
        margin=st.one_of(st.none(), st.floats(0.1, 3)),
    ),
)


@settings(max_examples=300, deadline=None)
@given(SAID, st.floats(20, 99), st.floats(-12, 12), st.floats(0.05, 4), st.integers(1, 44))
def test_more_runs_turn_no_answer_into_its_contrary(
    said: dict[str, float | str | None], level: float, effect: float, std: float, family: int
) -> None:
    claim = Claim.model_construct(level=level, metric="knn_top1", **said)
    assert turns(claim, effect, std, family) == []


def test_more_runs_turn_no_answer_of_the_records_into_its_contrary() -> None:
    """Every comparison of the released claims, at each estimate and spread of the laptop's records."""
    plan = from_records("laptop")
    found = judge.of_encoders(plan)
    compared = found[(found["kind"] == "comparison") & (found["spread"] > 0)]
    assert not compared.empty
    listed = {
        claim.id: claim for name in plan.config.papers for claim in ledger.of(plan.config, name)
    }
    for row in tables.rows(compared):
        assert turns(listed[row["id"]], float(row["measured"]), row["spread"], 44) == [], row["id"]


def test_a_sign_and_a_size_by_hand() -> None:
    """GradScale's +0.6 of a printed +4.8 is less than half of it with five runs and with ten, and has its sign."""
    claim = Claim.model_construct(
        reported=4.8, direction=None, level=47.0, metric="knn_top1", margin=None
    )
    assert [said_with(n, claim, 0.6, 0.4, 9) for n in (5, 10, 1000)] == [
        Answer.FAILS,
        Answer.DIRECTION_ONLY,
        Answer.DIRECTION_ONLY,
    ]


def test_a_sign_is_read_if_one_arm_is_above_its_controls() -> None:
    claim = Claim.model_construct(
        reported=3.0, direction=None, level=50.0, metric="knn_top1", margin=None
    )
    arms: tuple[verdicts.Floored, ...] = ("", "variant", "baseline", "both")
    lost, gained = (verdicts.Intervals(*[ends] * 3) for ends in ((-9.0, -7.0), (2.0, 4.0)))
    lost_by = [verdicts.compare(claim, lost, RULES, floored).answer for floored in arms]
    gained_by = [verdicts.compare(claim, gained, RULES, floored).answer for floored in arms]
    assert lost_by == [*[Answer.OPPOSITE] * 3, Answer.CANNOT_TELL]
    assert gained_by == [Answer.HOLDS, Answer.HOLDS, Answer.DIRECTION_ONLY, Answer.CANNOT_TELL]


def test_the_margin_is_that_of_the_printed_baseline(make_world: Make) -> None:
    world = make_world()
    world.measure("table5")
    equal = gain("none", direction="equal", reported="")
    for plain, margin in (("79.9", 1.5), ("80", 1.0)):
        found = world.judged(
            equal, claim("cut", variant="cut3", reported="51.0"), claim("plain", reported=plain)
        )
        assert float(found["none"]["margin"]) == margin
