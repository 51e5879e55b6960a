"""Last digits of printed numbers, counted by hand. What counts as a printed number: test_seed_counts.py."""

from collections.abc import Callable

import pytest

from hypersphere.config.claims import Claim
from hypersphere.simulations.last_digits import compute as last_digits
from hypersphere.simulations.last_digits.compute import FEWEST, last_digits_of


def test_a_row_for_each_table_and_for_each_group_large_enough(claim: Callable[..., Claim]) -> None:
    """Half of the numbers at one setting and odd, the others at another and even: 50 was printed as 50.0. A norm with
    a deviation is no accuracy."""
    claims = [
        claim(reported=50 + digit / 10, setting=f"batch.size={size}", variant="plain")
        for digit, size in ((3, 1024), (0, 4096))
        for _ in range(FEWEST)
    ]
    claims += [claim(reported=50.5, artifact="u", source="Table 2")] * (FEWEST - 1)
    claims += [claim(reported=50.5, reported_std=0.5, metric="norm")]
    table = last_digits.summary(last_digits_of(claims))
    assert table["group"].tolist() == ["", "batch.size=1024, plain", "batch.size=4096, plain"]
    assert table["odd"].tolist() == table["digit_3"].tolist() == [FEWEST, FEWEST, 0]
    assert table["digit_0"].tolist() == [FEWEST, 0, FEWEST]
    assert table["p_odd"].tolist() == pytest.approx([1, 2 / 2**FEWEST, 2 / 2**FEWEST])
