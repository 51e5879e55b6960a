"""A caption counts the cells that are not shown, by reason."""

from types import SimpleNamespace
from typing import Any

from hypersphere.config.cells import SHARED
from hypersphere.report import notes
from hypersphere.report.points import Point


def test_cells_that_share_numbers_are_counted_together_whichever_others_keep_them() -> None:
    reasons = ["", f"{SHARED} epoch=32", f"{SHARED} epoch=125", "no loader for cats yet"]
    points: Any = SimpleNamespace(every=[Point({"epoch": 1}, missing=reason) for reason in reasons])
    expected = "2 cells (at this scale one number with another cell); 1 cell (no loader for cats yet)"
    assert notes._missing(points) == f"Not run, of 4: {expected}."
