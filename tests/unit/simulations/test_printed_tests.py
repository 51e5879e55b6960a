"""Printed numbers counted and tested: last digits, seeds their decimals allow, Welch's test; by hand."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from scipy import stats

from hypersphere.audit.chance import Effect, effects
from hypersphere.audit.table import Cell
from hypersphere.config.claims import Claim, load
from hypersphere.simulations.last_digits import compute as last_digits
from hypersphere.simulations.last_digits.compute import FEWEST, last_digits_of
from hypersphere.simulations.printed import cells
from hypersphere.simulations.printed_tests import compute as printed_tests
from hypersphere.simulations.seed_counts import compute as seed_counts
from hypersphere.simulations.seed_counts.compute import WAYS

Make = Callable[..., Claim]


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


def test_a_table_of_one_variant_has_one_row() -> None:
    assert len(printed_tests.summary([effect("62.0", "0.5"), effect("61.0", "0.5")])) == 1


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
    assert {one.cell.row for one in found if one.cell.where == "Table 9"} == {
        "logits.s=10",
        "logits.s=20",
        "logits.s=40",
    }


def cell(mean: str) -> Cell:
    return Cell("Table 1", "plain", "a", "top1", Decimal(mean), n_test=10_000)


def test_last_zeros_come_back_from_the_table(claim: Make) -> None:
    """61.83 in a table of three decimals was printed as 61.830."""
    other = claim(artifact="u", source="Table 2")
    found = [one for one, _ in cells([claim(reported=61.83, reported_std=0.5), claim(reported=61.837), other])]
    assert [str(one.mean) for one in found] == ["61.830", "61.837", "50"]
    assert str(found[0].std) == "0.500"


def test_numbers_over_an_unknown_test_set_and_other_measures_are_left_out(claim: Make) -> None:
    left = [claim(dataset="multidigits_random_1"), claim(metric="norm"), claim(kind="comparison", variant="v")]
    assert seed_counts.summary(one for one, _ in cells(left)).empty


def test_the_target_of_a_transfer_is_what_is_tested(claim: Make) -> None:
    ((one, _),) = cells([claim(setting="target=stl10", metric="transfer_top1")])
    assert one.n_test == 8000


def test_a_table_by_hand() -> None:
    """Of 10,000 images: 0.005 is half a step, of an even number of runs. 0.002 is a quarter (halves may be rounded
    down), a fifth, a sixth, two ninths and so on: no half and no third. Decimals that say nothing are left out."""
    table = seed_counts.summary([cell("50.005"), cell("50.002")])
    assert table["way"].tolist() == list(WAYS)
    row = table.iloc[0]
    assert (row["n1"], row["n2"], row["n5"], row["n10"], row["all"], row["none"]) == (0, 1, 1, 2, "4 6 8 10", 0)
    assert seed_counts.summary([cell("50.0")]).empty


def test_last_zeros_count_as_digits(claim: Make) -> None:
    """61.83 and 50 in a table of three decimals were printed as 61.830 and 50.000; Table 2 has one decimal."""
    claims = [claim(reported=value) for value in (61.837, 61.83, 50.0, 89.413)]
    claims += [claim(reported=value, artifact="u", source="Table 2") for value in (50.0, 61.2)]
    assert [number.digit for number in last_digits_of(claims)] == [7, 0, 0, 3, 0, 2]


def test_norms_and_comparisons_are_no_accuracies(claim: Make) -> None:
    assert last_digits_of([claim(metric="norm"), claim(kind="comparison", variant="v", baseline="b")]) == []


def test_a_row_for_each_table_and_for_each_group_large_enough(claim: Make) -> None:
    """Half of the numbers at one setting and odd, the others at another and even."""
    claims = [
        claim(reported=50 + digit / 10, setting=f"batch.size={size}", variant="plain")
        for digit, size in ((3, 1024), (4, 4096))
        for _ in range(FEWEST)
    ]
    claims += [claim(reported=50.5, artifact="u", source="Table 2")] * (FEWEST - 1)
    table = last_digits.summary(last_digits_of(claims))
    assert table["group"].tolist() == ["", "batch.size=1024, plain", "batch.size=4096, plain"]
    assert table["odd"].tolist() == [FEWEST, FEWEST, 0]
    assert table["digit_3"].tolist() == [FEWEST, FEWEST, 0]
    assert table["p_odd"].tolist() == pytest.approx([1, 2 / 2**FEWEST, 2 / 2**FEWEST])
