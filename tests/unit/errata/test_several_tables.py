"""What several of the papers' tables say together."""

import statistics

import pytest

from ..printed import table, with_deviations


def test_x5_noise_floors() -> None:
    """Of the margins and LMCL papers; that of the double-metric paper: D9."""
    deviations = table("margins", "table2", "method.variant", "dataset", field="reported_std")
    margins = [std for row, cells in deviations.items() if not str(row).endswith("ratio") for std in cells.values()]
    assert (len(margins), min(margins), max(margins)) == (40, 0.025, 0.668)
    assert statistics.median(margins) == pytest.approx(0.22)
    assert (sum(std < 0.1 for std in margins), sum(std > 0.6 for std in margins)) == (5, 1)
    control = [std for row in with_deviations("lmcl", "table5", "method.variant").values() for _, std in row]
    assert (min(control), max(control)) == (12, 121)
