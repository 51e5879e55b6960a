"""Verdicts. Expected ones follow by hand from docs/statistics.md; equivalence is checked against statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW, ttost_ind

from hypersphere.config.claims import Claim
from hypersphere.config.rules import Verdict
from hypersphere.statistics import verdicts
from hypersphere.statistics.effects import welch

from .world import RULES, Make, claim, gain

NAN = math.nan


@pytest.mark.parametrize(
    ("published", "adjusted", "primary", "verdict", "direction"),
    [
        (10.0, (1.0, 9.0), (2.0, 8.0), "reproduced", "same"),
        (10.0, (1.0, 5.0), (2.0, 4.0), "reproduced", "same"),  # it reaches 5, half of 10
        (10.0, (1.0, 4.9), (2.0, 4.0), "direction only", "same"),  # and here it does not
        (10.0, (20.0, 30.0), (21.0, 29.0), "reproduced", "same"),  # it begins at twice 10
        (10.0, (20.1, 30.0), (21.0, 29.0), "direction only", "same"),  # wholly above
        (10.0, (-1.0, 9.0), (0.5, 7.0), "inconclusive", "unclear"),
        (10.0, (-2.0, 5.5), (-1.0, 4.9), "not reproduced", "unclear"),  # the primary interval is below 5
        (10.0, (-2.0, 5.5), (-1.0, 5.0), "inconclusive", "unclear"),  # and must be wholly so
        (10.0, (-9.0, -1.0), (-8.0, -2.0), "not reproduced", "opposite"),  # the other way round
        (10.0, (0.0, 9.0), (1.0, 8.0), "inconclusive", "unclear"),  # touching 0 does not exclude it
        (-10.0, (0.0, 9.0), (1.0, 8.0), "not reproduced", "unclear"),
        (0.0, (1.0, 9.0), (2.0, 8.0), "inconclusive", "unclear"),  # no published direction
        (10.0, (NAN, NAN), (NAN, NAN), "inconclusive", "unclear"),
    ],
)
def test_effects(
    published: float, adjusted: tuple[float, float], primary: tuple[float, float], verdict: str, direction: str
) -> None:
    judged = verdicts.of_effect(published, adjusted, primary, RULES)
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
    there = verdicts.of_effect(published, adjusted, primary, RULES)
    back = verdicts.of_effect(-published, (-adjusted[1], -adjusted[0]), (-primary[1], -primary[0]), RULES)
    assert there.verdict == back.verdict
    assert back.direction == there.direction
    opposite = {"same": "opposite", "opposite": "same", "unclear": "unclear"}
    assert verdicts.of_effect(-published, adjusted, primary, RULES).direction == opposite[there.direction]
    # A verdict for the published direction needs that direction, whatever the size.
    assert (there.verdict in (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY)) == (there.direction == "same")


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
    n, printed = 1 if math.isnan(half) else 4, Claim.model_construct(reported=60.0, reported_std=None, reported_n=None)
    # ours is a mean of four, the printed one counts as one of the same spread: error sqrt(0.2 (1/4 + 1)) = 0.5
    judged = verdicts.judge(printed, ours, n, 0.2**0.5, 10, 1.5, RULES)
    assert judged["verdict"] == expected
    assert (judged["low"], judged["high"]) == pytest.approx((ours - half, ours + half), abs=1e-3, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(5000, 7000), min_size=3, max_size=8), st.floats(0.5, 8))
def test_reproduced_is_two_one_sided_tests_at_five_percent(counts: list[int], margin: float) -> None:
    values = np.array(counts) / 100
    assume(np.ptp(values) > 0)
    ours = DescrStatsW(values)
    # a one-sample layout: error s / sqrt(n), df n - 1, against a point, which is of a billion runs
    p, _, _ = ours.ttost_mean(60 - margin, 60 + margin)
    assume(abs(p - 0.05) > 1e-6)
    n, point = len(values), Claim.model_construct(reported=60.0, reported_std=None, reported_n=10**9)
    judged = verdicts.judge(point, float(ours.mean), n, float(values.std(ddof=1)), n - 1, margin, RULES)
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
    judged = verdicts.of_equality(test.interval(difference, 0.9), test.interval(difference, 0.95), 1.5)
    p = ttost_ind(variant, baseline, -1.5, 1.5, usevar="unequal")[0]
    assert (judged.verdict == "reproduced") == (p <= 0.05)
    assert (judged.verdict == "not reproduced") == (abs(difference) - np.ptp(test.interval(difference, 0.95)) / 2 > 1.5)


@pytest.mark.parametrize(
    ("confident", "primary", "verdict", "direction"),
    [
        ((-0.9, 0.9), (-1.2, 1.2), "reproduced", "same"),
        ((-0.2, 1.1), (-0.4, 1.3), "inconclusive", "unclear"),
        ((0.9, 1.9), (0.8, 2.0), "inconclusive", "unclear"),
        ((1.2, 1.9), (1.1, 2.0), "not reproduced", "opposite"),
        ((-1.9, -1.2), (-2.0, -1.1), "not reproduced", "opposite"),
        ((NAN, NAN), (NAN, NAN), "inconclusive", "unclear"),
    ],
)
def test_intervals_against_a_margin_of_one(
    confident: tuple[float, float], primary: tuple[float, float], verdict: str, direction: str
) -> None:
    equal = Claim.model_construct(direction="equal", level=90.0, metric="knn_top1")
    margin_of_one = RULES.model_copy(update={"margin": RULES.margin.model_copy(update={"at_least_high": 1.0})})
    judged = verdicts.compare(equal, verdicts.Intervals((5.0, 6.0), primary, confident), margin_of_one)
    assert (judged.verdict, judged.direction, judged.margin) == (verdict, direction, 1.0)


@pytest.mark.parametrize(
    ("adjusted", "confident", "direction"),
    [
        ((-0.5, 0.7), (-0.3, 0.5), "no effect"),
        ((0.1, 0.9), (0.2, 0.8), "no effect"),  # clear, and too small to count
        ((0.1, 1.5), (0.3, 1.2), "same"),
        ((-1.5, -0.1), (-1.2, -0.3), "opposite"),
        ((-1.5, 0.7), (-1.2, 0.4), "unclear"),
    ],
)
def test_a_study_has_its_own_margin(
    adjusted: tuple[float, float], confident: tuple[float, float], direction: str
) -> None:
    """An arm that is supposed behind is judged as its mirror image is that is supposed ahead."""
    found = []
    for said, turned in (("larger", lambda low, high: (low, high)), ("smaller", lambda low, high: (-high, -low))):
        claim = Claim.model_construct(direction=said, reported=None, metric="knn_top1", margin=1.0)
        intervals = verdicts.Intervals(turned(*adjusted), turned(*adjusted), turned(*confident))
        judged = verdicts.compare(claim, intervals, RULES)
        assert (judged.direction, judged.margin) == (direction, 1.0)
        found.append((judged.verdict, *turned(judged.low, judged.high)))
    assert found[0] == found[1]


def test_the_margin_is_that_of_the_printed_baseline(make_world: Make) -> None:
    world = make_world()
    world.measure("table5")
    equal = gain("none", direction="equal", reported="")
    for plain, margin in (("79.9", 1.5), ("80", 1.0)):
        found = world.judged(equal, claim("cut", variant="cut3", reported="51.0"), claim("plain", reported=plain))
        assert float(found["none"]["margin"]) == margin
