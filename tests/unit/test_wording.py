"""Numbers with the noun that they count."""

import pytest

from hypersphere.wording import counted


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 epoch"), ("1", "1 epoch"), (0, "0 epochs"), (10, "10 epochs"), ("64, 128", "64, 128 epochs")],
)
def test_a_noun_follows_its_count(count: int | str, text: str) -> None:
    assert counted(count, "epoch") == text
