"""Tables: what a cell says, and that none is shown without its scale, its controls and the published number."""

import csv
import io
import math
from typing import Any

import pytest

from hypersphere.report.artifact import FIELDS, Grid, Text

CUT = "method=simclr;variant=cut;dataset=first;measure=knn_top1"


def line(grid: Grid, *labels: str) -> list[Text]:
    """The cells of the row of those labels."""
    return next(list(one.cells) for one in grid.lines if one.labels == labels)


def laid(made: Any, name: str) -> Grid:
    """A table's grid."""
    grid = made.show(name).grid
    assert grid is not None
    return grid


def test_the_quick_scale_shows_no_interval_and_says_so(make: Any) -> None:
    table = make(level="quick").show("scores")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[0] == Text("64.0 ± 0.9 (5)", "+4.0")
    assert "No interval of a difference is shown" in " ".join(table.notes)


def test_low_power_and_diverged_runs_are_said(make: Any) -> None:
    made = make()
    made.change("scores", "effects", CUT, low_power=True)
    made.change("scores", "summary", CUT, n=3, n_diverged=2)
    made.change("scores", "summary", CUT.replace("first", "second"), mean=math.nan, std=math.nan, n=0, n_diverged=5)
    cells = line(laid(made, "scores"), "SimCLR", "cut <c=3> | *")
    assert cells[0] == Text("64.0 ± 0.9 (3; 2 diverged)", "+4.0 [+2.0, +6.0] low power")
    assert cells[2] == Text("diverged")


def test_a_cell_level_with_a_control_is_marked_and_the_mark_is_explained(make: Any) -> None:
    made = make()
    made.change("scores", "summary", CUT, level="at the level of raw pixels")
    table = made.show("scores")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[0].main == "64.0 ± 0.9 (5) †"
    assert "† at the level of raw pixels: no direction is read from it." in " ".join(table.notes)
    assert "†" not in "".join(cell.main for cell in line(table.grid, "SimCLR", "default"))


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        ({"low_holm": -60.0, "high_holm": 60.0}, "+4.0, no interval"),  # wider than the measure's range
        ({"in_family": False, "low": 1.0, "high": 7.0}, "+4.0 [+1.0, +7.0]"),  # an A/A comparison has its own
    ],
)
def test_an_interval_is_that_of_its_family_and_within_the_measures_range(
    make: Any, effect: dict[str, Any], said: str
) -> None:
    made = make()
    made.change("scores", "effects", CUT, **effect)
    assert line(laid(made, "scores"), "SimCLR", "cut <c=3> | *")[0].second == said


def test_csv_has_a_line_for_every_cell_and_control_at_full_precision(make: Any) -> None:
    made = make()
    made.change("scores", "summary", CUT, mean=64 + 1 / 3)
    text = (made.build("scores") / "tables" / "made_up" / "scores.csv").read_text(encoding="utf-8")
    rows = {row["coordinates"]: row for row in csv.DictReader(io.StringIO(text))}
    assert tuple(next(iter(rows.values()))) == FIELDS
    assert len(rows) == 4 * 3 + 3 * 2
    cut = rows[CUT]
    assert float(cut["mean"]) == pytest.approx(64 + 1 / 3, abs=1e-7)
    assert (cut["measured_on"], cut["published"], cut["n"], cut["scale"]) == ("stand_in", "64.5", "5", "small")
    assert (cut["effect"], cut["baseline"]) == ("4", CUT.replace("cut", "plain"))
    assert float(cut["effect_low"]) == made.table("scores", "effects").loc[CUT, "low_holm"]
    absent = rows[CUT.replace("first", "unloaded")]
    assert (absent["mean"], absent["missing"]) == ("", "nothing stands for unloaded at this scale")
