"""Tables: what a cell says, and that none is shown without its scale, its controls and the published number."""

import csv
import io
import math
from typing import Any

import pytest

from hypersphere.report.artifact import FIELDS, Grid, Text

CUT = "method=simclr;variant=cut;dataset=first;measure=knn_top1"


def line(grid: Grid, *labels: str) -> list[Text]:
    return next(list(one.cells) for one in grid.lines if one.labels == labels)


def test_the_quick_scale_shows_no_interval_and_says_so(make: Any) -> None:
    table = make(level="quick").show("scores")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[0] == Text("64.0 ± 0.9 (5)", "+4.0")
    assert "No interval of a difference is shown" in " ".join(table.notes)


EFFECT = " / +4.0 [+2.0, +6.0]"


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        # beyond the measure
        ("effects", {"low_holm": -60.0, "high_holm": 60.0}, "64.0 ± 0.9 (5) / +4.0, no interval"),
        (
            "effects",
            {"in_family": False, "low": 1.0, "high": 7.0},
            "64.0 ± 0.9 (5) / +4.0 [+1.0, +7.0]",
        ),
        ("effects", {"low_power": True}, "64.0 ± 0.9 (5) / +4.0 [+2.0, +6.0] low power"),
        ("summary", {"n": 3, "n_diverged": 2}, f"64.0 ± 0.9 (3; 2 diverged){EFFECT}"),
        (
            "summary",
            {"n": 2, "n_diverged": 2, "n_undefined": 1},
            f"64.0 ± 0.9 (2; 2 diverged; 1 undefined){EFFECT}",
        ),
        ("summary", {"mean": math.nan, "std": math.nan, "n": 0, "n_diverged": 5}, "diverged / "),
        ("summary", {"mean": math.nan, "std": math.nan, "n": 0, "n_undefined": 5}, "undefined / "),
        ("summary", {"floor": "pixels"}, "64.0 ± 0.9 (5) † / +4.0 [+2.0, +6.0]"),
    ],
)
def test_a_cell_says_what_its_numbers_are_worth(
    make: Any, table: str, change: dict[str, Any], said: str
) -> None:
    made = make()
    made.change("scores", table, CUT, **change)
    shown = made.show("scores")
    assert " / ".join(line(shown.grid, "SimCLR", "cut <c=3> | *")[0]) == said
    assert "†" not in "".join(cell.main for cell in line(shown.grid, "SimCLR", "default"))
    explained = "† not shown to be above the raw pixels." in " ".join(shown.notes)
    assert explained == ("†" in said)


def test_csv_has_a_line_for_every_cell_and_control_at_full_precision(make: Any) -> None:
    made = make()
    made.change("scores", "summary", CUT, mean=64 + 1 / 3)
    text = (made.build("scores") / "tables" / "made_up" / "scores.csv").read_text(encoding="utf-8")
    rows = {row["coordinates"]: row for row in csv.DictReader(io.StringIO(text))}
    assert tuple(next(iter(rows.values()))) == FIELDS
    assert len(rows) == 4 * 3 + 3 * 2
    cut = rows[CUT]
    assert float(cut["mean"]) == pytest.approx(64 + 1 / 3, abs=1e-7)
    assert (cut["measured_on"], cut["published"], cut["n"], cut["scale"]) == (
        "stand_in",
        "64.5",
        "5",
        "small",
    )
    assert (cut["effect"], cut["baseline"]) == ("4", CUT.replace("cut", "plain"))
    assert float(cut["effect_low"]) == made.table("scores", "effects").loc[CUT, "low_holm"]
    absent = rows[CUT.replace("first", "unloaded")]
    assert (absent["mean"], absent["missing"]) == ("", "nothing stands for unloaded at this scale")
