"""Floors, Welch's test and last digits: by hand, and beside scipy and statsmodels."""

import math
from decimal import Decimal

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from hypersphere.audit import chance, checks
from hypersphere.audit.table import Cell


def cell(mean: str, row: str = "plain", column: str = "a", **fields: object) -> Cell:
    return Cell("T", row, column, "top1", Decimal(mean), **fields)


def test_a_floor_by_hand() -> None:
    """Half right of 10,000: sqrt(0.25 / 10,000) = half a point; 80 %: 0.4; all right: none."""
    for mean, n, floor in (
        ("50", 10_000, 0.5),
        ("80", 10_000, 0.4),
        ("100", 9, 0.0),
        ("80", 2_500, 0.8),
    ):
        assert chance.floor(cell(mean, n_test=n)) == pytest.approx(floor)
    assert math.isnan(chance.floor(cell("50")))


def test_an_effect_is_that_of_two_proportions() -> None:
    """Statsmodels' test of two proportions, with the variance of each."""
    effect = chance.Effect(cell("52.3", n_test=1000), cell("47.1", n_test=3000))
    z, p = proportions_ztest([523, 1413], [1000, 3000], prop_var=False)
    assert effect.difference == 5.2
    assert effect.error == pytest.approx(math.sqrt(52.3 * 47.7 / 1000 + 47.1 * 52.9 / 3000))
    assert chance.normal_p(effect.z) == pytest.approx(2 * stats.norm.sf(abs(effect.z)))
    # the pooled variance is near
    assert (effect.z, chance.normal_p(effect.z)) == pytest.approx((z, p), rel=0.03)


@pytest.mark.parametrize(("n", "other"), [(2, 2), (3, 3), (10, 10), (3, 7)])
@pytest.mark.parametrize(("std", "other_std"), [("0.5", "0.4"), ("0.1", "2.0"), ("0.0", "0.3")])
def test_welch_is_scipys(std: str, other_std: str, n: int, other: int) -> None:
    effect = chance.Effect(cell("61.0", std=Decimal(std)), cell("60.2", std=Decimal(other_std)))
    # a printed 0.0 is at most 0.05
    arms = (61.0, float(std) or 0.05, n, 60.2, float(other_std), other)
    assert effect.p(n, other) == pytest.approx(
        stats.ttest_ind_from_stats(*arms, equal_var=False).pvalue, rel=1e-9
    )


def test_the_numbers_of_runs_of_an_effect() -> None:
    """Thirds of a hundredth are of 3 and 6 runs, halves of 2 and 6; a printed number decides for its arm alone."""
    thirds = cell("50.003", n_test=10_000, std=Decimal("0.1"))
    both = chance.Effect(cell("50.003", n_test=10_000), cell("50.005", n_test=10_000)).runs
    assert (6, 6) in both
    assert not {(2, 2), (3, 3)} & set(both)
    assert chance.Effect(thirds._replace(n=5), cell("50", n=3)).runs == [(5, 3)]
    assert chance.Effect(cell("50", n=1), cell("50", n=3)).runs == []


def test_each_row_is_compared_with_its_baseline() -> None:
    cells = [
        cell("1", "a"),
        cell("2", "b"),
        cell("3", "c", baseline="b"),
        cell("4", "b", "other column"),
    ]
    found = [
        (effect.cell.row, effect.baseline.row, effect.difference)
        for effect in chance.effects(cells)
    ]
    assert found == [("b", "a", 1.0), ("c", "b", 1.0)]


@pytest.mark.parametrize(("odd", "numbers"), [(1, 16), (10, 28), (7, 8), (4, 8), (0, 1)])
def test_p_of_odd_digits_is_scipys(odd: int, numbers: int) -> None:
    assert chance.odd_p(odd, numbers) == pytest.approx(stats.binomtest(odd, numbers).pvalue)


def test_effects_beyond_their_error_by_chance_in_closed_form() -> None:
    """P(|z| >= 1.96) = 0.049996; of 39, 1.95 on average. One or more of 12: 1 - (1 - p)^12. More by a plain sum."""
    assert chance.by_chance(39) == pytest.approx(39 * 0.04999579, rel=1e-6)
    one = chance.by_chance(1)
    assert chance.as_many_by_chance(0, 12) == 1
    assert chance.as_many_by_chance(1, 12) == pytest.approx(1 - (1 - one) ** 12)
    at_most_four = sum(math.comb(20, k) * one**k * (1 - one) ** (20 - k) for k in range(5))
    assert chance.as_many_by_chance(5, 20) == pytest.approx(1 - at_most_four)


def test_a_deviation_beside_its_floor_is_a_chi_square() -> None:
    """A deviation of exactly the floor over three runs is likely; a tenth and ten times of it are not."""
    one = cell("50", n_test=10_000, std=Decimal("0.5"))
    found = [
        next(iter(checks.spread(one._replace(std=Decimal(std), n=3))))
        for std in ("0.5", "0.01", "5.0")
    ]
    assert [finding.verdict for finding in found] == [checks.FITS, checks.NOT, checks.NOT]
    p = [
        2 * stats.chi2.sf(2, 2),
        2 * stats.chi2.cdf(2 * 0.02**2, 2),
        2 * stats.chi2.sf(2 * 10**2, 2),
    ]
    assert [float(finding.says.rpartition(" ")[2]) for finding in found] == pytest.approx(
        p, rel=0.01
    )


def test_holm_over_a_table_is_statsmodels() -> None:
    means = [cell(f"{50 + gain}.0", f"r{gain}", n_test=1000) for gain in (0, 1, 4, 6, 9)]
    effects = list(chance.effects(means))
    expected = multipletests([chance.normal_p(effect.z) for effect in effects], method="holm")[1]
    said = [
        float(finding.says.rpartition(" ")[2])
        for finding in checks.floors(effects)
        if finding.check == "floor"
    ]
    assert said == pytest.approx(expected, rel=0.05)
