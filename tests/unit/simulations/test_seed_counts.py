"""Seed counts of printed tables: cells, decimals, and what is common to them."""

from collections.abc import Callable
from decimal import Decimal

from hypersphere.config.claims import Claim
from hypersphere.grim import Printed
from hypersphere.simulations.seed_counts.compute import WAYS, Cell, assumptions, printed_cells, summary

Make = Callable[..., Claim]


def test_last_zeros_come_back_from_the_table(claim: Make) -> None:
    """61.83 in a table of three decimals was printed as 61.830."""
    cells = printed_cells([claim(reported=61.83, reported_std=0.5), claim(reported=61.837), claim(source="Table 2")])
    assert [str(cell.printed.mean) for cell in cells] == ["61.830", "61.837", "50.0"]
    assert str(cells[0].printed.std) == "0.500"


def test_numbers_over_an_unknown_test_set_and_other_measures_are_left_out(claim: Make) -> None:
    left = [claim(dataset="multidigits_random_1"), claim(metric="norm"), claim(kind="comparison", variant="v")]
    assert printed_cells(left) == []


def test_the_target_of_a_transfer_is_what_is_tested(claim: Make) -> None:
    (cell,) = printed_cells([claim(setting="target=stl10", metric="transfer_top1")])
    assert cell.examples == 8000


def test_a_table_by_hand() -> None:
    """Of 10,000 images: 0.005 is half a step, of an even number of runs. 0.002 is a quarter (halves may be rounded
    down), a fifth, a sixth, two ninths and so on: no half and no third."""
    cells = [Cell("Table 1", Printed(Decimal(mean)), 10_000) for mean in ("50.005", "50.002")]
    table = summary(cells)
    assert table["way"].tolist() == list(WAYS)
    row = table.iloc[0]
    assert (row["n1"], row["n2"], row["n5"], row["n10"], row["all"], row["none"]) == (0, 1, 1, 2, "4 6 8 10", 0)


def test_tables_whose_decimals_say_nothing_are_left_out() -> None:
    assert summary([Cell("Table 1", Printed(Decimal("50.0")), 10_000)]).empty


def test_the_ways() -> None:
    assert [assumptions(way, 8000).rounding for way in WAYS] == ["rounded", "truncated", "rounded"]
    assert [float(assumptions(way, 8000).step) for way in WAYS] == [0.0125, 0.0125, 0.01]
