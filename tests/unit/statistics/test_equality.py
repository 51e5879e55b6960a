"""Sentences that say that there is no effect: tests of equivalence, compared with statsmodels' two one-sided tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.weightstats import ttost_ind

from hypersphere.config import rules
from hypersphere.config.claims import Claim
from hypersphere.statistics import studies, verdicts
from hypersphere.statistics.effects import welch

from .world import RULES, World, at, claim

Make = Callable[..., World]


def no_effect(identifier: str = "none", **changed: Any) -> dict[str, Any]:
    """A claim of the small project that cut weights change nothing, on ten."""
    row = {"kind": "comparison", "variant": "cut3", "baseline": "default", "direction": "equal", "reported": ""}
    return claim(identifier, **row | changed)


PRINTED = [claim("cut", variant="cut3", reported="51.0"), claim("plain", variant="default", reported="51.3")]


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
        ((float("nan"),) * 2, (float("nan"),) * 2, "inconclusive", "unclear"),
    ],
)
def test_intervals_against_a_margin_of_one(
    confident: tuple[float, float], primary: tuple[float, float], verdict: str, direction: str
) -> None:
    equal = Claim.model_construct(direction="equal", level=90.0, metric="knn_top1")
    ours = rules.load(RULES.parents[1])
    margin_of_one = ours.model_copy(update={"margin": ours.margin.model_copy(update={"at_least_high": 1.0})})
    judged, read = verdicts.compare(equal, verdicts.Intervals((5.0, 6.0), primary, confident), margin_of_one)
    assert (judged.verdict, read, judged.margin) == (verdict, direction, 1.0)


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
    ahead = Claim.model_construct(direction="larger", metric="knn_top1", margin=1.0)
    intervals = verdicts.Intervals(adjusted, adjusted, confident)
    judged, read = verdicts.compare(ahead, intervals, rules.load(RULES.parents[1]))
    assert (read, judged.margin) == (direction, 1.0)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([51.0, 51.1, 51.2], "reproduced"),
        ([56.0, 56.1, 56.2], "not reproduced"),
        ([50.0, 51.1, 52.2], "inconclusive"),  # not significant, and not shown to be absent
    ],
)
def test_no_effect_at_the_published_scale(make_world: Make, values: list[float], verdict: str) -> None:
    world = make_world()
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.say("table5", at(variant="cut3"), values)
    world.measure("table5")
    row = world.judged(no_effect(), *PRINTED)["none"]
    assert (row["verdict"], row["reported"], row["margin"], row["direction"]) == (verdict, "equal", "1.5", "")


@pytest.mark.parametrize(("plain", "margin"), [("79.9", "1.5"), ("80", "1")])
def test_the_margin_is_that_of_the_printed_baseline(make_world: Make, plain: str, margin: str) -> None:
    world = make_world()
    world.measure("table5")
    printed = [PRINTED[0], PRINTED[1] | {"reported": plain}]
    assert float(world.judged(no_effect(), *printed)["none"]["margin"]) == float(margin)


def test_no_effect_below_the_published_scale_has_only_a_direction(make_world: Make) -> None:
    world = make_world(level="quick")
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.say("table5", at(variant="cut3"), [51.1, 51.2, 51.3])
    world.measure("table5")
    row = world.judged(no_effect(), *PRINTED)["none"]
    assert (row["verdict"], row["direction"]) == ("quick only", "same")


def test_two_arms_of_an_exact_study() -> None:
    row = {**no_effect(), "setting": "", "level": 85.0, "reported": 0.1, "reported_std": None, "reported_n": None}
    said = Claim.model_validate(row)
    ours = rules.load(RULES.parents[1])
    arms = {"variant": np.array([85.1, 85.0, 84.9]), "baseline": np.array([85.0, 85.1, 84.9])}
    assert studies.effects([(said, arms)], ours)["none"]["verdict"] == "reproduced"
    apart = {**arms, "variant": arms["variant"] + 3}
    assert studies.effects([(said, apart)], ours)["none"]["verdict"] == "not reproduced"
