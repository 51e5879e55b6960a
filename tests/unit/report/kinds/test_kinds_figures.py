"""Lines, grids and distributions: what is drawn, from which numbers, that it says its scale and can be read."""

import csv
import importlib
import io
import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from hypersphere.report import figures, style
from hypersphere.report.artifact import FIELDS, Points

SMALLEST = 6.4  # points: what is still read in print
PLAIN = "method=simclr;variant=plain;dataset=first"
Drawn = tuple[Figure, dict[str, Axes]]


@pytest.fixture
def draw() -> Callable[[Any, str], Drawn]:
    """``draw(made, name)``: the figure, and its panels by heading and what goes up."""

    def _draw(made: Any, name: str) -> Drawn:
        paper = made.plan.config.papers["made_up"]
        kind = importlib.import_module(f"hypersphere.report.kinds.{paper.artifacts[name].draw}")
        with style.applied():
            figure = kind.draw(Points(made.results(name), paper, name))
            axes = figure.findobj(lambda one: isinstance(one, Axes) and one.get_label() != "<colorbar>")
        return figure, {f"{axis.get_title(loc='left')}|{axis.get_ylabel()}": axis for axis in axes}

    return _draw


def words_of(figure: Figure) -> str:
    """Title, subtitle and small line."""
    return " ".join(item.get_text() for item in figure.texts).replace("\n", " ")


def marked(axis: Axes) -> list[Any]:
    """The lines that are drawn, without levels, single runs and published numbers."""
    return [one for one in axis.lines if one.get_linewidth() == 1.5 and len(one.get_xdata()) and one.get_zorder() == 3]


def test_measures_are_rows_of_panels_and_datasets_columns(make: Any, draw: Any) -> None:
    axes = draw(make(), "courses")[1]
    assert list(axes) == [
        "stand_in (for FIRST-10)|embedding norm",
        "Second-100|",
        "|kNN accuracy (%)",
        "|",
    ]
    assert [axis.get_yscale() for axis in axes.values()] == ["log", "log", "linear", "linear"]
    assert [list(one.get_xdata()) for one in marked(axes["Second-100|"])] == [[0, 4, 10, 20]] * 4
    assert [one.get_ydata()[-1] for one in marked(axes["|kNN accuracy (%)"])] == [60, 64, 56, 60]


def test_the_drawing_says_scale_n_device_protocol_and_what_bands_are(make: Any, draw: Any) -> None:
    text = words_of(draw(make(), "courses")[0])
    for part in ("Scale small", "Not a reproduction", "n = 5", "device cpu", "10 epochs, batch 32", "95 % t intervals"):
        assert part in text


def test_raw_pixels_and_the_untrained_encoder_are_levels_where_they_have_a_number(make: Any, draw: Any) -> None:
    _, axes = draw(make(), "courses")
    levels = [
        sorted(one.get_ydata()[0] for one in axis.lines if one.get_color() == style.GREY) for axis in axes.values()
    ]
    assert levels == [[], [], [35.5, 41.25], [35.5, 41.25]]


def hollow(axis: Any) -> list[tuple[list[float], list[float]]]:
    """The places of the hollow markers."""
    lines = [one for one in axis.lines if one.get_markerfacecolor() == "none" and len(one.get_xdata())]
    return [(list(one.get_xdata()), list(one.get_ydata())) for one in lines]


def test_a_sweep_over_more_than_a_decade_is_logarithmic_and_published_numbers_are_hollow(make: Any, draw: Any) -> None:
    _, axes = draw(make("paper"), "sweep")
    (axis,) = axes.values()
    assert axis.get_xscale() == "log"
    assert axis.get_xlabel() == "τ"
    assert hollow(axis) == [([0.2], [66.0])]


def test_published_numbers_are_not_drawn_beside_those_of_a_stand_in(make: Any, draw: Any) -> None:
    _, axes = draw(make(), "sweep")
    assert hollow(next(iter(axes.values()))) == []


def test_two_seeds_have_a_thin_line_each_and_five_a_band(make: Any, draw: Any) -> None:
    _, axes = draw(make(), "sweep")
    (axis,) = axes.values()
    thin = [one for one in axis.lines if one.get_linewidth() == 0.6]
    assert len(thin) == 2 * 2
    assert thin[0].get_ydata()[3] == pytest.approx(60 - 0.45)
    _, axes = draw(make(), "sets")
    (axis,) = axes.values()
    assert not [one for one in axis.lines if one.get_linewidth() == 0.6]
    assert len([band for band in axis.collections if len(band.get_paths()[0].vertices)]) == 4


def test_names_stand_below_an_axis_that_has_no_numbers(make: Any, draw: Any) -> None:
    _, axes = draw(make(), "sets")
    (axis,) = axes.values()
    labels = [label.get_text().replace("\n", " ") for label in axis.get_xticklabels()]
    assert labels == ["stand_in (for FIRST-10)", "Second-100", "Unloaded (not run at this scale)"]
    assert [list(one.get_xdata()) for one in marked(axis)] == [[0, 1]] * 4


def test_few_seeds_bands_do_not_swallow_the_lines(make: Any, draw: Any) -> None:
    made = make()
    for row in made.tables["sets"]["summary"]["coordinates"]:
        made.change("sets", "summary", row, low=-300.0, high=400.0)
    low, high = next(iter(draw(made, "sets")[1].values())).get_ylim()
    assert high - low < 80


def test_every_line_looks_different(make: Any, draw: Any) -> None:
    _, axes = draw(make(), "sets")
    (axis,) = axes.values()
    looks = {(one.get_color(), one.get_marker()) for one in marked(axis)}
    assert len(looks) == 4
    assert [one.get_linestyle() for one in marked(axis)] == ["-", "-", "--", "--"]


def test_a_grid_has_its_number_in_each_square_with_the_printed_one_below(make: Any, draw: Any) -> None:
    made = make("paper")
    _, axes = draw(made, "squares")
    assert list(axes) == ["FIRST-10|τ", "Second-100|"]
    axis = next(iter(axes.values()))
    found = {tuple(text.get_position()): text.get_text() for text in axis.texts}
    assert len(found) == 3 * 4
    assert found[1.5, 1.5] == "60.5\n(63.2)"  # 60 + 0.002 · 256
    assert found[0.5, 0.5] == "55.4"  # 60 - 3 ln 5 + 0.002 · 128
    assert [label.get_text() for label in axis.get_xticklabels()] == ["128", "256", "512", "1024"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["0.1", "0.5", "1"]
    caption = " ".join(made.show("squares").notes)
    assert "Cannot be judged: the paper prints no numbers, only colours." in caption
    assert "raw pixels 41.2 (FIRST-10)" in caption


def test_a_square_without_a_number_says_so(make: Any, draw: Any) -> None:
    made = make()
    gone = f"{PLAIN};batch.size=128;objective.temperature=0.1;measure=knn_top1"
    lost = gone.replace("temperature=0.1", "temperature=1")
    table = made.tables["squares"]["summary"]
    made.tables["squares"]["summary"] = table[table["coordinates"] != gone]
    made.change("squares", "summary", lost, mean=math.nan, n=0, n_diverged=5)
    axis = next(iter(draw(made, "squares")[1].values()))
    found = {tuple(text.get_position()): text.get_text() for text in axis.texts}
    assert (found[0.5, 0.5], found[0.5, 2.5]) == ("not\nrun", "diverged")


def test_a_line_of_shares_for_each_point_and_a_logarithmic_axis_over_a_decade(make: Any, draw: Any) -> None:
    made = make()
    _, axes = draw(made, "spread")
    assert list(axes) == ["stand_in (for FIRST-10)|single images (%)", "Second-100|"]
    for axis in axes.values():
        assert (axis.get_xscale(), axis.get_xlabel()) == ("log", "embedding norm")
        assert len(axis.lines) == 3 * 5  # a line for each seed
        (value,) = {one.get_xdata()[25] for one in axis.lines[5:10]}
        assert (value, axis.lines[5].get_ydata()[25]) == (pytest.approx(0.9 * 11**0.6), 50)  # the median of the cut
    assert "51 quantiles of each run" in " ".join(made.show("spread").notes)


def test_a_distribution_that_is_not_there_has_no_line(make: Any, draw: Any) -> None:
    made = make()
    table = made.tables["spread"]["distribution"]
    made.tables["spread"]["distribution"] = table[~table["coordinates"].str.contains("first")]
    first, second = draw(made, "spread")[1].values()
    assert [text.get_text() for text in first.texts] == ["not run"]
    assert (len(first.lines), len(second.lines)) == (0, 3 * 5)


def test_an_evenly_spaced_axis_is_linear_and_whole(make: Any, draw: Any) -> None:
    """Although its numbers spread over more than a decade, and although the last have no mean."""
    made = make()
    table = made.tables["buckets"]["summary"]
    made.tables["buckets"]["summary"] = table[~table["coordinates"].str.contains(r"temperature=1\.[12]")]
    (axis,) = draw(made, "buckets")[1].values()
    assert axis.get_xscale() == "linear"
    assert axis.get_xlim() == pytest.approx((0.1 - 0.04 * 1.1, 1.2 + 0.04 * 1.1))
    assert [list(one.get_xdata()) for one in marked(axis)] == [[at / 10 for at in range(1, 11)]] * 2


def test_a_dot_for_each_point_with_its_interval_and_all_panels_have_one_axis(make: Any, draw: Any) -> None:
    """By hand: means 60 and 64 of SimCLR on the first set, 37 and 41 on the second."""
    made = make()
    figure, _ = draw(made, "heights")
    axes = figure.findobj(Axes)
    assert [axis.get_title(loc="left").replace("\n", " ") for axis in axes] == [
        "stand_in (for FIRST-10), SimCLR",
        "Second-100, SimCLR",
        "stand_in (for FIRST-10), SimSiam",
        "Second-100, SimSiam",
    ]
    dots = [[round(one.lines[0].get_xdata()[0], 6) for one in axis.containers] for axis in axes]
    assert dots == [[60, 64], [37, 41], [56, 60], [33, 37]]
    for axis, means in zip(axes, dots, strict=True):
        assert [text.get_text().strip() for text in axis.texts] == [f"{mean:.1f}" for mean in means]
        assert [len(one.lines[2][0].get_segments()) for one in axis.containers] == [1, 1]
    assert len({axis.get_xlim() for axis in axes}) == 1


def test_a_dot_that_is_not_there_says_why(make: Any, draw: Any) -> None:
    made = make()
    gone = f"{PLAIN};measure=knn_top1"
    made.change("heights", "summary", gone, mean=math.nan, low=math.nan, high=math.nan, n=0, n_diverged=5)
    axis = next(iter(draw(made, "heights")[1].values()))
    assert [text.get_text().strip() for text in axis.texts] == ["diverged", "64.0"]


def test_an_axis_of_published_epochs_says_which_ran(make: Any, draw: Any) -> None:
    axes = list(draw(make(), "courses")[1].values())
    assert axes[-1].get_xlabel() == "epoch (as published; here 0, 2, 5, 10)"
    assert list(draw(make("paper"), "courses")[1].values())[-1].get_xlabel() == "epoch"


def test_the_single_runs_of_a_logarithmic_axis_are_inside_it(make: Any, draw: Any) -> None:
    made = make()
    table = made.tables["courses"]["measurements"]
    far = table["coordinates"].str.contains("cut.*first.*epoch=10;.*norm") & (table["seed"] == 1)
    assert far.any()
    table.loc[far, "value"] = 400.0
    axis = next(iter(draw(made, "courses")[1].values()))
    assert max(one.get_ydata().max() for one in axis.lines if one.get_linewidth() == 0.6) == 400.0
    assert axis.get_ylim()[1] > 400.0


def test_a_single_panel_names_its_lines_at_their_ends(make: Any, draw: Any) -> None:
    figure, axes = draw(make(), "sweep")
    (axis,) = axes.values()
    names = {text.get_text(): text.xy[1] for text in axis.texts}
    assert list(names) == sorted(names, key=lambda name: names[name])
    assert set(names) == {"default", "cut <c=3> | *", "raw pixels", "untrained encoder"}
    assert not figure.subfigs[0].legends


def test_names_that_would_touch_move_apart_and_keep_their_order() -> None:
    moved = figures.spread({"b": 0.5, "a": 0.49, "top": 0.99, "over": 1.0}, 0.1)
    assert moved == pytest.approx({"a": 0.49, "b": 0.59, "top": 0.9, "over": 1.0})


def test_a_heat_map_spans_twenty_points_at_least(make: Any, draw: Any) -> None:
    """All means lie within 13 points of each other on each set, and within 36 of both: here one set is left."""
    made = make()
    table = made.tables["squares"]["summary"]
    made.tables["squares"]["summary"] = table[~table["coordinates"].str.contains("second")]
    axis = next(iter(draw(made, "squares")[1].values()))
    low, high = axis.collections[0].get_clim()
    assert high - low == pytest.approx(20)


def test_effects_are_sorted_and_filled_where_the_interval_excludes_zero(make: Any, draw: Any) -> None:
    """Of five effects, one spans zero, one is of a single run, and one is unknown: the caption alone names it."""
    made = make()
    cut = "method=simclr;variant=cut;dataset=first;objective.temperature={};measure=knn_top1"
    for temperature, effect, half in (
        (0.1, 2.0, 1.0),
        (0.5, 3.0, 0.5),
        (1, -1.0, 1.5),
        (2, 9.0, math.nan),
        (5, math.nan, math.nan),
    ):
        bounds = {"low_holm": effect - half, "high_holm": effect + half}
        made.change("gains", "effects", cut.format(temperature), effect=effect, **bounds)
    axis = next(iter(draw(made, "gains")[1].values()))
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == [f"τ = {temperature}, cut <c=3> | * (5)" for temperature in (2, 0.5, 0.1, 1)]
    drawn = [container.lines[0] for container in axis.containers]
    assert [line.get_xdata()[0] for line in drawn] == [9.0, 3.0, 2.0, -1.0]
    assert [line.get_markerfacecolor() == "white" for line in drawn] == [True, False, False, True]
    assert {line.get_markeredgecolor() for line in drawn} == {style.COLOURS[0]}  # a hollow point is seen
    assert [len(container.lines[2]) for container in axis.containers] == [0, 1, 1, 1]
    assert "Not measured: τ = 5, cut <c=3> | *." in " ".join(made.show("gains").notes)


def test_csv_holds_what_is_drawn(make: Any) -> None:
    folder = make().build("sweep", "spread") / "figures" / "made_up"
    rows = list(csv.DictReader(io.StringIO((folder / "sweep.csv").read_text(encoding="utf-8"))))
    assert tuple(rows[0]) == FIELDS
    assert len(rows) == 2 * 6 + 3
    quantiles = list(csv.DictReader(io.StringIO((folder / "spread.csv").read_text(encoding="utf-8"))))
    assert len(quantiles) == 2 * 3 * 5 * 51
    assert (quantiles[0]["dataset"], quantiles[0]["measured_on"], quantiles[0]["scale"]) == (
        "first",
        "stand_in",
        "small",
    )


def test_a_figure_has_its_subject_as_title_and_leaves_names_of_artifacts_to_the_caption(make: Any, draw: Any) -> None:
    made = make()
    caption, (figure, _) = made.show("sweep"), draw(made, "sweep")
    title, subtitle, small = (text.get_text().replace("\n", " ") for text in figure.texts)
    assert caption.grid is None
    assert caption.title == "Figure 3 at scale small: Accuracy by temperature"
    assert title == "Accuracy by temperature"
    assert subtitle.startswith("kNN accuracy (%). Lines: mean over pretrainings")
    assert caption.notes[0].startswith("Scale small")
    assert not any(name in " ".join((title, subtitle, small)) for name in ("sweep", "made_up"))
    conditions = [note for note in caption.notes if note.startswith(("Conditions: ", "Protocol: "))]
    assert len(conditions) == 2
    assert all(note.removeprefix("Conditions: ") in small for note in conditions)


def texts(figure: Figure) -> list[tuple[Text, Any]]:
    """Every text that is shown, with its box in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    hidden = set()
    for axes in figure.findobj(Axes):
        for axis, low, high in ((axes.xaxis, axes.bbox.x0, axes.bbox.x1), (axes.yaxis, axes.bbox.y0, axes.bbox.y1)):
            for tick in (*axis.majorTicks, *axis.minorTicks):
                at = axes.transData.transform((tick.get_loc(), tick.get_loc()))[0 if axis is axes.xaxis else 1]
                if not low - 1 <= at <= high + 1:  # matplotlib keeps what is beyond an axis, and does not draw it
                    hidden.add(id(tick.label1))
    visible = [one for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip()]
    boxes = [(one, one.get_window_extent(renderer)) for one in visible if id(one) not in hidden]
    return [(one, box) for one, box in boxes if box.width]


@pytest.mark.parametrize(
    "name", ["courses", "sweep", "sets", "squares", "oblong", "spread", "faces", "globes", "heights", "gains"]
)
def test_no_text_is_small_or_cut_off_or_upon_another(make: Any, draw: Any, name: str) -> None:
    figure = draw(make(), name)[0]
    with style.applied():
        found = texts(figure)
    assert len(found) > 8
    page = figure.bbox.padded(1.5)
    for one, box in found:
        assert one.get_fontsize() >= SMALLEST, one.get_text()
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert inside, one.get_text()
    for (one, first), (other, second) in combinations([pair for pair in found if not pair[0].get_rotation() % 90], 2):
        wide = max(0.0, min(first.x1, second.x1) - max(first.x0, second.x0))
        high = max(0.0, min(first.y1, second.y1) - max(first.y0, second.y0))
        smaller = min(first.width * first.height, second.width * second.height)
        assert wide * high <= 0.1 * smaller, (one.get_text(), other.get_text())


def test_the_label_of_a_grids_rows_keeps_clear_of_their_numbers(make: Any, draw: Any) -> None:
    figure, axes = draw(make(), "oblong")
    (axis,) = axes.values()
    with style.applied():
        boxes = {id(one): box for one, box in texts(figure)}
    assert axis.get_ylabel().startswith("batch")
    assert boxes[id(axis.yaxis.label)].x1 < min(boxes[id(label)].x0 for label in axis.get_yticklabels())
