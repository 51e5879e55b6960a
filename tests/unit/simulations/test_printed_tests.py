"""Welch's test of printed means and deviations, by hand."""

from decimal import Decimal
from pathlib import Path

import pytest
from scipy import stats

from hypersphere.audit.chance import Effect, effects
from hypersphere.audit.table import Cell
from hypersphere.config.claims import load
from hypersphere.simulations.printed import cells
from hypersphere.simulations.printed_tests import compute as printed_tests

PAPERS = Path(__file__).resolve().parents[3] / "config" / "papers"


def effect(mean: str, std: str, variant: str = "dp", n_test: int | None = None) -> Effect:
    one = Cell("Table 1", variant, "simclr\tcifar10\t", "top1", Decimal(mean), Decimal(std), n_test=n_test)
    return Effect(one, one._replace(row="plain", mean=Decimal("60.0"), std=Decimal("0.5"), n_test=None))


def test_a_summary_by_hand() -> None:
    """2.0 points at 0.5 are 4.9 errors of three runs, 0.1 a quarter of one. A deviation of 49 around 99.5 of 200 images
    is of no number of runs."""
    table = printed_tests.summary(
        [effect("62.0", "0.5"), effect("60.1", "0.5"), effect("99.50", "49.00", "m", n_test=200)]
    )
    whole = table[table["variant"] == ""].iloc[0]
    assert whole[["effects", "unfit", "always", "never"]].tolist() == [3, 1, 0, 1]
    dp = table[table["variant"] == "dp"].iloc[0]
    assert dp[["effects", "below_2", "below_3", "below_10"]].tolist() == [2, 0, 1, 1]
    smallest, largest = sorted(
        stats.ttest_ind_from_stats(mean, 0.5, 3, 60.0, 0.5, 3, equal_var=False).pvalue for mean in (62.0, 60.1)
    )
    assert (dp["low_3"], dp["high_3"]) == pytest.approx((smallest, largest))
    assert dp["chance"] == pytest.approx((1 - smallest) ** 2)
    assert len(printed_tests.summary([effect("62.0", "0.5"), effect("61.0", "0.5")])) == 1  # of one variant


def spread_effects(paper: str) -> list[Effect]:
    printed = (cell for cell, _ in cells(load(PAPERS / paper / "claims.csv")))
    return [one for one in effects(printed) if one.has_spreads]


def test_effects_of_the_lmcl_papers_control_tasks() -> None:
    """Table 5: three methods, six tasks; NOTES' reading of its spreads found p of 0.60 and more."""
    found = [one for one in spread_effects("lmcl") if one.cell.where == "Table 5"]
    assert len(found) == 18
    assert {one.cell.row for one in found} == {"dp"}
    assert min(one.p(3) for one in found) == pytest.approx(0.60, abs=0.005)


def test_decimals_of_the_margins_paper_allow_less_than_all_numbers() -> None:
    """Three decimals over 10,000 images exclude most numbers of runs; a swept setting is a variant of its own."""
    found = spread_effects("margins")
    assert any(len(one.runs) < 9 for one in found if one.cell.where == "Table 2")
    assert {one.cell.row for one in found if one.cell.where == "Table 9"} == {f"logits.s={s}" for s in (10, 20, 40)}
