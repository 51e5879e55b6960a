"""The simulated error rates of the rule: near the nominal one, and what they are without each of its parts."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from hypersphere.statistics import effects

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
pytestmark = pytest.mark.heavy

DRAWS = 300
EQUAL, UNEQUAL = (1.0, 1.0, 1.0, 1.0), (1.0, 3.0, 1.0, 1.0)
COLLAPSED, TIGHT, NO_BASELINE = (1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.01, 0.01), (0.0, 1.0, 1.0, 1.0)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("error_rates")


@pytest.mark.parametrize("seeds", [2, 5])
@pytest.mark.parametrize("spreads", [EQUAL, UNEQUAL, COLLAPSED, TIGHT, NO_BASELINE])
def test_the_rule_is_wrong_no_more_often_than_it_says(
    rates: ModuleType, spreads: tuple[float, ...], seeds: int
) -> None:
    """Nominal 2.5 %; four standard errors of 300 draws above it are 6.1."""
    assert rates.share_wrong(effects.primary, spreads, seeds, DRAWS) < 6.1


def test_collapsed_arms_in_the_pool_would_make_it_wrong_more_often(rates: ModuleType) -> None:
    """The same draws: with five runs an arm, the two collapsed ones halve the variance."""
    beside = rates.share_wrong(effects.pooled_test, COLLAPSED, 4, DRAWS, all_pooled=True)
    assert beside > rates.share_wrong(effects.primary, COLLAPSED, 4, DRAWS) + 1


def test_a_real_effect_is_no_error_of_the_simulation(rates: ModuleType) -> None:
    """With a spread of next to nothing beside a gain, every table would count: the count can rise."""
    shifted = rates.share_wrong(lambda v, b, pooled: effects.Test("pooled", 1e-9, 8), EQUAL, 3, 50)
    assert shifted > 80
