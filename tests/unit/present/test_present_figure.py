"""Curves: what is drawn, from which numbers, and that the drawing itself says its scale."""

import csv
import io
from typing import Any

import pytest

from hypersphere.declared.artifacts import Curves
from hypersphere.errors import HypersphereError
from hypersphere.present import figure, style
from hypersphere.present.results import Results

NAME = "norms_over_epochs"


def drawn(made: Any) -> tuple[Any, list[figure.Line], Curves]:
    """The figure object, its lines and its artifact."""
    paper = made.config.papers["embedding_norms"]
    artifact = paper.artifacts[NAME]
    results = Results(made.config)
    lines = figure.gather(made.config, paper, artifact, results)
    with style.applied():
        return figure.draw(made.config, paper, artifact, results, lines), lines, artifact


def test_csv_holds_what_is_drawn(quick: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(quick.read(f"figures/embedding_norms/{NAME}.csv"))))
    assert tuple(rows[0]) == figure.FIELDS
    norms = [r for r in rows if (r["metric"], r["row"], r["dataset"]) == ("norm", "simclr.cut3", "cifar10_lt")]
    assert [int(row["epoch"]) for row in norms] == list(range(31))
    last = next(r for r in rows if r["metric"] == "knn_top1" and r["row"] == "simsiam.cut9" and r["epoch"] == "30")
    assert (float(last["mean"]), last["n"], last["scale"]) == (66.0, "5", "quick")
    assert {row["row"] for row in rows if row["metric"] == "knn_top1"} >= {"control.pixels"}
    assert not [row for row in rows if row["dataset"] == "flowers102_lt"]


def test_a_panel_per_metric_and_dataset_and_every_row_looks_different(make: Any) -> None:
    figure_, _, artifact = drawn(make())
    assert len(figure_.axes) == 4
    looks = [figure._look(row, artifact.rows) for row in artifact.rows]
    assert len({look["color"] for look in looks}) == len({look["marker"] for look in looks}) == 5
    assert looks[0]["linestyle"] == looks[1]["linestyle"] != looks[3]["linestyle"]


def test_norms_are_on_a_log_axis_and_accuracies_are_not(make: Any) -> None:
    figure_, _, _ = drawn(make())
    assert [axis.get_yscale() for axis in figure_.axes] == ["log", "log", "linear", "linear"]


def test_raw_pixels_are_a_dashed_grey_line_in_accuracy_panels_only(make: Any) -> None:
    figure_, _, _ = drawn(make())
    grey = [[line for line in axis.lines if line.get_color() == style.GREY] for axis in figure_.axes]
    # In the first panel one empty line stands for the legend.
    assert [len([line for line in lines if len(line.get_ydata())]) for lines in grey] == [0, 0, 1, 1]
    assert grey[2][0].get_ydata()[0] == 41.25


def test_two_seeds_bands_do_not_swallow_the_lines(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("smoke")
    made.half_width = 60.0
    made.write()
    figure_, lines, _ = drawn(made)
    assert max(line.points[-1]["high"] for line in lines if line.metric == "knn_top1" and not line.control) > 110
    low, high = figure_.axes[2].get_ylim()
    assert high - low < 80


def test_one_seed_has_no_band_and_still_draws(make: Any) -> None:
    made = make("quick", seeds=[0])
    figure.build(made.config, "embedding_norms", NAME)
    rows = list(csv.DictReader(io.StringIO(made.read(f"figures/embedding_norms/{NAME}.csv"))))
    assert {row["low"] for row in rows} == {""}


def test_the_drawing_says_scale_n_device_and_protocol(make: Any) -> None:
    figure_, _, _ = drawn(make())
    text = " ".join(item.get_text() for item in figure_.texts).replace("\n", " ")
    for part in ("Scale quick", "Not a reproduction", "n = 5", "device cpu", "SimCLR 30 epochs, batch 64", "95 %"):
        assert part in text
    assert figure_.axes[0].get_title(loc="left") == "CIFAR-10 unb.\nmeasured on digits_lt"


def test_files_carry_no_date_and_no_release(quick: Any) -> None:
    folder = quick.config.results / "figures" / "embedding_norms"
    svg = (folder / f"{NAME}.svg").read_text(encoding="utf-8")
    assert "dc:date" not in svg
    assert "matplotlib.org/" not in svg.split("</metadata>")[0].replace("http://matplotlib.org/", "")
    assert b"Software" not in (folder / f"{NAME}.png").read_bytes()


def test_a_users_matplotlibrc_changes_nothing_and_is_left_as_it_was() -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 31.0}):
        with style.applied():
            assert matplotlib.rcParams["font.size"] == 8.0
        assert matplotlib.rcParams["font.size"] == 31.0


def test_a_table_is_not_a_figure(make: Any) -> None:
    with pytest.raises(HypersphereError, match="'table5' is not a figure of this paper"):
        figure.build(make().config, "embedding_norms", "table5")
