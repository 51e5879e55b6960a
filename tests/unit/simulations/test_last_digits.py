"""Last digits of printed numbers, counted by hand."""

from collections.abc import Callable

import pytest

from hypersphere.config.claims import Claim
from hypersphere.simulations.last_digits import compute as last_digits
from hypersphere.simulations.last_digits.compute import FEWEST, last_digits_of

Make = Callable[..., Claim]


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
