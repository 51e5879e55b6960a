"""Welch's test on printed numbers: beside scipy's, and the documents' tables by what was read from them by hand."""

from pathlib import Path

import pytest
from scipy import stats

from hypersphere.config.claims import load
from hypersphere.simulations.printed_tests.compute import Arm, Effect, printed_effects, summary, welch_p

CLAIMS = Path(__file__).resolve().parents[3] / "paper" / "claims"
ALL = tuple(range(1, 11))


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize(("std", "other"), [(0.5, 0.4), (0.1, 2.0), (0.0, 0.3)])
def test_p_is_scipys(std: float, other: float, n: int) -> None:
    expected = stats.ttest_ind_from_stats(61.0, std, n, 60.2, other, n, equal_var=False).pvalue
    assert welch_p(61.0, std, 60.2, other, n) == pytest.approx(expected, rel=1e-9)


def effect(mean: float, std: float, variant: str = "dp", allowed: tuple[int, ...] = ALL) -> Effect:
    return Effect("Table 1", "simclr", variant, Arm(mean, std, allowed), Arm(60.0, 0.5, ALL))


def test_a_summary_by_hand() -> None:
    """2.0 points at 0.5 are 4.9 errors of three runs, 0.1 a quarter of one. Decimals that allow two runs alone leave
    1.2 points at 0.5 (2.4 errors, two degrees of freedom) undecided at none: p is 0.14."""
    table = summary([effect(62.0, 0.5), effect(60.1, 0.5), effect(61.2, 0.5, allowed=(2,)), effect(61, 0.5, "m", ())])
    whole = table[table["variant"] == ""].iloc[0]
    assert whole[["effects", "unfit", "always", "never"]].tolist() == [4, 1, 0, 2]
    dp = table[table["variant"] == "dp"].iloc[0]
    assert dp[["effects", "below_2", "below_3", "below_10"]].tolist() == [3, 0, 2, 2]
    smallest, _, largest = sorted(
        stats.ttest_ind_from_stats(mean, 0.5, 3, 60.0, 0.5, 3, equal_var=False).pvalue for mean in (62.0, 60.1, 61.2)
    )
    assert (dp["low_3"], dp["high_3"]) == pytest.approx((smallest, largest))
    assert dp["chance"] == pytest.approx((1 - smallest) ** 3)


def test_a_table_of_one_variant_has_one_row() -> None:
    assert len(summary([effect(62.0, 0.5), effect(61.0, 0.5)])) == 1


def test_effects_of_the_lmcl_papers_control_tasks() -> None:
    """Table 5: three methods, six tasks; NOTES' reading of its spreads found p of 0.60 and more."""
    effects = [one for one in printed_effects(load(CLAIMS / "lmcl.csv")) if one.table == "Table 5"]
    assert len(effects) == 18
    assert {one.variant for one in effects} == {"dp"}
    assert min(one.p(3) for one in effects) == pytest.approx(0.60, abs=0.005)


def test_decimals_of_the_margins_paper_allow_less_than_all_numbers() -> None:
    """Three decimals over 10,000 images exclude most numbers of runs; a swept setting is a variant of its own."""
    effects = printed_effects(load(CLAIMS / "margins.csv"))
    assert any(set(one.allowed) < set(range(2, 11)) for one in effects if one.table == "Table 2")
    assert {one.variant for one in effects if one.table == "Table 9"} == {"logits.s=10", "logits.s=20", "logits.s=40"}
