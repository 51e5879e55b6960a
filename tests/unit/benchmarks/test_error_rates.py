"""The simulated error rates of the rule: near the nominal one, and what they are without each of its parts."""

import pytest

from benchmarks.error_rates import MANY, dunnett, many_to_one, share_wrong
from hypersphere.statistics import effects

pytestmark = pytest.mark.heavy

DRAWS = 300
EQUAL, UNEQUAL = (1.0, 1.0, 1.0, 1.0), (1.0, 3.0, 1.0, 1.0)
COLLAPSED, TIGHT, NO_BASELINE = (1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.01, 0.01), (0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("seeds", "spreads"),
    [(2, EQUAL), (5, UNEQUAL), (2, COLLAPSED), (5, COLLAPSED), (5, TIGHT), (2, NO_BASELINE)],
)
def test_the_rule_is_wrong_no_more_often_than_it_says(
    spreads: tuple[float, ...], seeds: int
) -> None:
    """Nominal 2.5 %; four standard errors of 300 draws above it are 6.1."""
    assert share_wrong(effects.primary, spreads, seeds, DRAWS) < 6.1


def test_collapsed_arms_in_the_pool_would_make_it_wrong_more_often() -> None:
    """The same draws: with five runs an arm, the two collapsed ones halve the variance."""
    beside = share_wrong(effects.pooled_test, COLLAPSED, 4, DRAWS, all_pooled=True)
    assert beside > share_wrong(effects.primary, COLLAPSED, 4, DRAWS) + 1


def test_a_real_effect_is_no_error_of_the_simulation() -> None:
    """With a spread of next to nothing beside a gain, every table would count: the count can rise."""
    shifted = share_wrong(lambda v, b, pooled: effects.Test("pooled", 1e-9, 8), EQUAL, 3, 50)
    assert shifted > 80


@pytest.mark.parametrize("name", MANY)
def test_studies_of_many_arms_are_wrong_no_more_often_than_they_say(name: str) -> None:
    """Nominal 5 %, of the family; four standard errors of 100 draws above it are 13.7."""
    assert many_to_one(MANY[name], 5, 100).wrong < 13.7


def test_a_noisy_arm_hides_no_other_arms_gain() -> None:
    """The same draws but for that arm: each study finds the gain in both or in none, but for Holm's step."""
    equal, noisy = (
        many_to_one(MANY[name], 10, 100).found for name in ("equal spreads", "one noisy arm")
    )
    assert abs(equal - noisy) < 5
    assert (
        dunnett(MANY["equal spreads"], 10, 1000).found
        > 2 * dunnett(MANY["one noisy arm"], 10, 1000).found
    )
    assert dunnett(MANY["12 of 15 arms collapsed"], 10, 1000).wrong > 25
