"""The spread of a few values: 0 for equal ones only, and equal up to rounding, not to a percent."""

import math

import numpy as np
import pytest
from scipy import stats

from hypersphere import t_test


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_values_are_constant_up_to_rounding_alone(size: float) -> None:
    """A ten thousandth of their size is a difference; a rounding error is none."""
    third = size / 3
    assert t_test.is_constant(np.array([third, third + third * 2.0**-52, third]))
    assert t_test.spread(np.array([third, third + third * 2.0**-52])) == 0
    if size >= 1:
        apart = np.array([third, third * 1.0001])
        assert not t_test.is_constant(apart)
        assert t_test.spread(apart) == pytest.approx(third * 1e-4 / math.sqrt(2))


def test_nothing_is_constant_and_one_value_has_neither_spread_nor_interval() -> None:
    assert t_test.is_constant(np.array([]))
    assert math.isnan(t_test.spread(np.array([3.0])))
    assert all(math.isnan(bound) for bound in t_test.mean_interval(np.array([3.0]), 0.95))
    # the interval of a mean of three, by hand: their spread is 1
    half = stats.t.ppf(0.975, 2) / math.sqrt(3)
    assert t_test.mean_interval(np.array([1.0, 2.0, 3.0]), 0.95) == pytest.approx(
        (2 - half, 2 + half)
    )


def test_interval_and_p_are_those_of_scipys_t_distribution() -> None:
    draws = np.random.default_rng(0)
    for df in (1, 2, 4, 30):
        centre, error = draws.normal(), draws.uniform(0.1, 2)
        expected = stats.t.interval(0.9, df, loc=centre, scale=error)
        assert t_test.t_interval(centre, error, df, 0.9) == pytest.approx(expected, rel=1e-12)
        assert t_test.t_p(centre, error, df) == pytest.approx(
            2 * stats.t.sf(abs(centre) / error, df), rel=1e-12
        )


@pytest.mark.parametrize(("error", "df"), [(0.0, 3), (math.nan, 3), (1.0, 0)])
def test_an_unknown_error_has_no_interval_and_no_p(error: float, df: int) -> None:
    assert all(math.isnan(bound) for bound in t_test.t_interval(1.0, error, df, 0.95))
    assert math.isnan(t_test.t_p(1.0, error, df))
