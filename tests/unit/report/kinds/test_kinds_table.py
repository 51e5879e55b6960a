"""Tables: what a cell says, and that none is shown without its scale, its controls and the published number."""

import csv
import io
import math
import re
from typing import Any

import pytest

from hypersphere.errors import DamagedError
from hypersphere.provenance.manifest import tidy_manifest
from hypersphere.report import writer
from hypersphere.report.artifact import FIELDS, Grid, Text

CUT = "method=simclr;variant=cut;dataset=first;measure=knn_top1"


def columns(grid: Grid) -> list[tuple[str, ...]]:
    """The headings over each column of cells."""
    rows = [[head.text for head in heads for _ in range(head.span)] for heads in grid.head]
    return list(zip(*rows, strict=True))


def line(grid: Grid, *labels: str) -> list[Text]:
    """The cells of the row of those labels."""
    return next(list(one.cells) for one in grid.lines if one.labels == labels)


def laid(made: Any, name: str) -> Grid:
    """A table's grid."""
    grid = made.show(name).grid
    assert grid is not None
    return grid


def test_a_cell_is_mean_std_n_effect_and_holm_interval_and_the_published_number_stands_beside_it(make: Any) -> None:
    grid = laid(make("paper"), "scores")
    assert grid.corner == ("Method", "Variant")
    assert columns(grid)[:3] == [
        ("FIRST-10", "ours"),
        ("FIRST-10", "published"),
        ("Second-100", "ours"),
    ]
    plain, cut = (line(grid, "SimCLR", name) for name in ("default", "cut <c=3> | *"))
    assert plain[:2] == [Text("60.0 ± 0.9 (5)", "baseline"), Text("61.25 ± 0.3")]
    assert cut[:2] == [Text("64.0 ± 0.9 (5)", "+4.0 [+2.5, +5.5]"), Text("64.5", "+3.2")]


def test_a_published_number_beside_a_stand_in_is_labelled_as_of_its_own_data(make: Any) -> None:
    table = make().show("scores")
    assert table.grid is not None
    assert [(head.text, head.note) for head in table.grid.head[-1]][:2] == [("ours", ""), ("published", "on FIRST-10")]
    assert columns(table.grid)[0] == ("stand_in (for FIRST-10)", "ours")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[1] == Text("64.5", "+3.2")
    assert "published images, encoder and schedule." in " ".join(table.notes)


def test_the_quick_scale_shows_no_interval_and_says_so(make: Any) -> None:
    table = make(level="quick").show("scores")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[0] == Text("64.0 ± 0.9 (5)", "+4.0")
    assert "No interval of a difference is shown" in " ".join(table.notes)


def test_an_interval_wider_than_the_measures_range_is_not_shown(make: Any) -> None:
    made = make()
    made.change("scores", "effects", CUT, low_holm=-60.0, high_holm=60.0)
    assert line(laid(made, "scores"), "SimCLR", "cut <c=3> | *")[0].second == "+4.0, no interval"


def test_where_every_published_number_is_of_other_images_the_notes_say_so(make: Any) -> None:
    table = make().show("squares")
    said = "are of other data: the verdicts list them."
    assert said in " ".join(table.notes)
    assert said not in " ".join(make("paper").show("squares").notes)


def test_a_column_of_which_nothing_was_run_is_left_out_and_counted(make: Any) -> None:
    table = make().show("scores")
    assert table.grid is not None
    assert not any("Unloaded" in heads[0] for heads in columns(table.grid))
    assert "Not run, of 12: 4 cells (nothing stands for unloaded at this scale)." in " ".join(table.notes)


def test_controls_stand_at_the_end(make: Any) -> None:
    grid = laid(make("paper"), "scores")
    controls = [one for one in grid.lines if one.control]
    assert grid.lines[-3:] == tuple(controls)
    assert [(one.labels[1], one.cells[0].main, one.cells[1].main) for one in controls] == [
        ("chance", "10.0", "–"),
        ("raw pixels", "41.2", "–"),
        ("untrained encoder", "35.5 ± 0.8 (5)", "–"),
    ]


def test_where_rows_are_datasets_each_has_its_controls(make: Any) -> None:
    grid = laid(make(), "turned")
    assert [one.labels[0] for one in grid.lines if one.control][:2] == [
        "chance, stand_in (for FIRST-10)",
        "chance, Second-100",
    ]
    assert line(grid, "Second-100") == [
        Text("37.0 ± 0.9 (5)", "baseline"),
        Text("41.0 ± 0.9 (5)", "+4.0 [+2.5, +5.5]"),
    ]


def test_where_rows_are_digits_each_control_says_which(make: Any) -> None:
    controls = [one.labels for one in laid(make(), "digits").lines if one.control]
    assert [labels[-1] for labels in controls] == ["label digit_1", "label digit_2"] * 3
    assert ["chance" in labels[0] for labels in controls] == [True, True, False, False, False, False]


def test_paths_and_readings_are_labels_and_headings_and_what_is_fixed_is_said(make: Any) -> None:
    table = make().show("settings")
    assert table.grid is not None
    assert [one.labels for one in table.grid.lines[:3]] == [("τ = 0.1",), ("τ = 0.5",), ("τ = 1",)]
    assert [heads[:2] for heads in columns(table.grid)] == [
        ("kNN accuracy (%)", "epoch 10 (here 5)"),
        ("kNN accuracy (%)", "epoch 20 (here 10)"),
        ("linear probe (%)", "epoch 10 (here 5)"),
        ("linear probe (%)", "epoch 20 (here 10)"),
    ]
    assert "Everywhere: SimCLR, default, stand_in (for FIRST-10)." in table.notes
    assert "at the last epoch" not in " ".join(table.notes)


def test_a_transfer_names_both_datasets_and_what_stands_for_them(make: Any) -> None:
    grid = laid(make(), "moved")
    assert [head.text for head in grid.head[0]] == [
        "stand_in → Second-100 (for FIRST-10 → Second-100)",
        "Second-100 → stand_in (for Second-100 → FIRST-10)",
    ]


def test_a_table_without_baseline_compares_nothing(make: Any) -> None:
    assert {cell.second for one in laid(make(), "moved").lines for cell in one.cells} == {""}


@pytest.mark.parametrize("ending", ["md", "tex"])
def test_every_table_says_scale_n_device_protocol_and_that_it_is_no_reproduction(make: Any, ending: str) -> None:
    folder = make().build("scores", "moved") / "tables" / "made_up"
    for name in ("scores", "moved"):
        text = (folder / f"{name}.{ending}").read_text(encoding="utf-8")
        for part in ("small", "Not a reproduction", "n = 5", "device cpu", "10 epochs, batch 32", "resnet8"):
            assert part in text


def test_the_published_scale_names_no_stand_in_and_does_not_say_that_it_is_no_reproduction(make: Any) -> None:
    text = (make("paper").build("scores") / "tables" / "made_up" / "scores.md").read_text(encoding="utf-8")
    assert "Not a reproduction" not in text
    assert "stand_in" not in text
    assert "no loader for unloaded yet" in text


def test_low_power_and_diverged_runs_are_said(make: Any) -> None:
    made = make()
    made.change("scores", "effects", CUT, low_power=True)
    made.change("scores", "summary", CUT, n=3, n_diverged=2)
    made.change("scores", "summary", CUT.replace("first", "second"), mean=math.nan, std=math.nan, n=0, n_diverged=5)
    cells = line(laid(made, "scores"), "SimCLR", "cut <c=3> | *")
    assert cells[0] == Text("64.0 ± 0.9 (3; 2 diverged)", "+4.0 [+2.5, +5.5] low power")
    assert cells[2] == Text("diverged")


def test_a_cell_level_with_a_control_is_marked_and_the_mark_is_explained(make: Any) -> None:
    made = make()
    made.change("scores", "summary", CUT, level="at the level of raw pixels")
    table = made.show("scores")
    assert line(table.grid, "SimCLR", "cut <c=3> | *")[0].main == "64.0 ± 0.9 (5) †"
    assert "† at the level of raw pixels: no direction is read from it." in " ".join(table.notes)
    assert "†" not in "".join(cell.main for cell in line(table.grid, "SimCLR", "default"))


def test_an_a_a_comparison_shows_its_own_interval(make: Any) -> None:
    made = make()
    made.change("scores", "effects", CUT, in_family=False, low=1.0, high=7.0)
    assert line(laid(made, "scores"), "SimCLR", "cut <c=3> | *")[0].second == "+4.0 [+1.0, +7.0]"


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
    assert (cut["effect"], cut["effect_low"], cut["baseline"]) == ("4", "2.5", CUT.replace("cut", "plain"))
    absent = rows[CUT.replace("first", "unloaded")]
    assert (absent["mean"], absent["missing"]) == ("", "nothing stands for unloaded at this scale")


def test_a_missing_or_altered_tidy_table_is_refused_and_nothing_is_written(make: Any) -> None:
    made = make()
    results = made.results()
    path = made.plan.artifact_folder("made_up", "scores") / "summary.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("64", "65", 1), encoding="utf-8")
    with pytest.raises(DamagedError, match=r"summary\.csv: the file's bytes are not those of its manifest") as caught:
        writer.build(results, "made_up", "scores")
    assert caught.value.proofs == (tidy_manifest(path),)
    assert not (made.plan.config.results / "tables").exists()


def test_no_label_becomes_html(make: Any) -> None:
    text = (make().build("scores") / "tables" / "made_up" / "scores.md").read_text(encoding="utf-8")
    assert "cut &lt;c=3&gt; &#124; &#42;" in text
    assert len({len(re.findall(r"\|", row)) for row in text.splitlines() if row.startswith("|")}) == 1
