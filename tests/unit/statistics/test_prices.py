"""Numbers of runs, against statsmodels and simulated runs."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from hypersphere.statistics import effects

from .world import RULES


@pytest.mark.parametrize("effect", [0.2, 0.5, -1.0, 1.5])
def test_runs_to_see_an_effect_are_those_of_statsmodels(effect: float) -> None:
    """Its one-sided test at alpha / 2 finds an effect on its side, as ours."""
    n = TTestIndPower().solve_power(abs(effect), alpha=RULES.alpha / 2, power=RULES.power, alternative="larger")
    assert effects.runs_to_see(effect, 1.0, RULES) == math.ceil(n)
    assert effects.runs_to_see(3 * effect, 3.0, RULES) == math.ceil(n)


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_equal_arms_of_so_many_runs_are_found_equal_with_the_stated_power(margin: float) -> None:
    """20,000 simulated pairs: their share is within 0.02 of its expectation but for 1 in 10^8 (Hoeffding: 2 e^-16)."""
    n = int(effects.runs_to_equate(margin, 1.0, RULES))

    def power(runs: int) -> float:
        a, b = np.random.default_rng([runs]).standard_normal((2, 20_000, runs))
        found = stats.ttest_ind(a, b, axis=1, equal_var=False).confidence_interval(RULES.equivalence)
        return float(((found.low > -margin) & (found.high < margin)).mean())

    assert power(n) > RULES.power - 0.02
    assert power(max(2, n - n // 5)) < RULES.power - 0.02


def test_nothing_is_priced_without_an_effect_or_a_spread() -> None:
    for effect, spread in ((0.0, 1.0), (1.0, math.nan), (1.0, 0.0), (1e-6, 1.0)):
        assert math.isnan(effects.runs_to_see(effect, spread, RULES))
    assert math.isnan(effects.runs_to_equate(1.0, math.nan, RULES))
    assert effects.runs_to_see(100.0, 1.0, RULES) == 2
