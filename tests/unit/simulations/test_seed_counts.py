"""Numbers of runs that printed decimals allow, by hand; which printed numbers are counted."""

from collections.abc import Callable
from decimal import Decimal

from hypersphere.audit.table import Cell
from hypersphere.config.claims import Claim
from hypersphere.simulations.printed import cells
from hypersphere.simulations.seed_counts import compute as seed_counts
from hypersphere.simulations.seed_counts.compute import WAYS

Make = Callable[..., Claim]


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
