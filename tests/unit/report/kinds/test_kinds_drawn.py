"""What every kind of figure draws and every table says; and what changes when numbers are lost or far."""

import io
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from hypersphere.config import registry
from hypersphere.errors import DamagedError
from hypersphere.provenance.manifest import tidy_manifest
from hypersphere.report import style, writer
from hypersphere.report.artifact import SINGLE, Points
from hypersphere.report.kinds import lines, sphere

from .... import legible
from ....harm import flip
from .. import approval
from .conftest import PROJECT, Made

FIGURES = (
    "courses",
    "sweep",
    "sets",
    "squares",
    "oblong",
    "spread",
    "faces",
    "globes",
    "heights",
    "gains",
    "buckets",
)
PLAIN = "method=simclr;variant=plain;dataset=first"
SQUARE = f"{PLAIN};batch.size=128;objective.temperature=0.1;measure=knn_top1"


def panels(figure: Figure) -> list[Axes]:
    """Its panels, without bars of colours."""
    return figure.findobj(
        lambda one: isinstance(one, Axes) and one.get_visible() and one.get_label() != "<colorbar>"
    )


def told(figure: Figure) -> list[str]:
    """Every word of a figure."""
    return [text.get_text().replace("\n", " / ") for text in figure.findobj(Text)]


def test_every_artifact_says_what_is_approved(measured: Any) -> None:
    """Tables with their cells, figures with their notes."""
    made = measured("small")
    texts = []
    for name in made.plan.config.papers["made_up"].artifacts:
        shown = made.show(name)
        notes = "\n".join((f"### {shown.title}", "", *shown.notes)) + "\n"
        texts.append(writer.as_markdown(shown) if shown.grid else notes)
    approval.approve("kinds.md", "\n".join(texts))


def means(made: Made, name: str) -> list[float]:
    """The means of the csv beside a figure, without controls."""
    points = Points(made.results, made.plan.config.papers["made_up"], name)
    table = pd.read_csv(io.StringIO(points.means()))
    return list(table.loc[table["method"] != "control", "mean"].dropna())


def marked(figure: Figure, along: str) -> np.ndarray:
    """Where lines and dots are, along x or y, in data."""
    lines = [line for axes in panels(figure) for line in axes.lines]
    return np.concatenate(
        [np.ravel(line.get_xdata() if along == "x" else line.get_ydata()) for line in lines]
    )


@pytest.mark.parametrize(
    ("name", "along", "scale"),
    [
        *(
            ("courses", "y", "small"),
            ("sweep", "y", "small"),
            ("sets", "y", "small"),
            ("heights", "x", "small"),
        ),
        *(("courses", "y", "paper"), ("sweep", "y", "paper")),
    ],
)
def test_every_mean_of_the_csv_is_drawn(
    measured: Any, figure: Any, name: str, along: str, scale: str
) -> None:
    drawn = marked(figure(name, scale), along)
    expected = means(measured(scale), name)
    assert expected
    assert not [mean for mean in expected if not np.isclose(drawn, mean, rtol=1e-6).any()]


@pytest.mark.parametrize("name", ["courses", "sets"])
def test_a_band_encloses_its_line_and_has_its_colour(figure: Any, name: str) -> None:
    enclosed = 0
    for axes in panels(figure(name)):
        colours = {
            to_hex(line.get_color()): line
            for line in axes.lines
            if line.get_marker() not in ("", "None")
        }
        for band in (one for one in axes.collections if len(one.get_paths())):
            line = colours[to_hex(band.get_facecolor()[0])]
            corners = band.get_paths()[0].vertices
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
                ends = corners[np.isclose(corners[:, 0], x), 1]
                if len(ends):
                    assert ends.min() < y < ends.max()
                    enclosed += 1
    assert enclosed


def test_names_that_are_no_formula_end_no_kind_of_drawing(make: Any) -> None:
    """One figure of each kind, of methods, variants and datasets that are called so."""
    project = make().plan.config.root
    file = project / "papers" / "made_up" / "paper.yaml"
    words = (
        file.read_text(encoding="utf-8")
        .replace("SimCLR", "$_$")
        .replace("default", "$x^$")
        .replace("First-10", "$$")
    )
    file.write_text(words, encoding="utf-8")
    named = Made(project, "small")
    measured = named.plan.config.papers["made_up"].measured
    of_kind = {measured[name].draw: name for name in FIGURES}
    assert len(of_kind) >= 6
    results = named.build(*of_kind.values())
    drawn = [results / "figures" / "made_up" / f"{name}.svg" for name in of_kind.values()]
    assert all(path.stat().st_size > 5000 for path in drawn)


MANY = re.compile(r"\b(mean over|pretrainings|deviation|bands?|intervals?|seeds|runs)\b|±")
"""Words that need more than one pretraining."""


def test_with_one_pretraining_nothing_is_said_of_several(measured: Any, tmp_path: Path) -> None:
    """Notes of every artifact, and headings and legends of a figure of every kind."""
    all_seeds = measured("small")
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    one = Made(tmp_path, "small", seeds=[0])
    one.measured()
    of_kind = {one.plan.config.papers["made_up"].measured[name].draw: name for name in FIGURES}
    for name, declared in one.plan.config.papers["made_up"].measured.items():
        drawn = registry.artifact_kind(declared.draw).folder == "figures"
        texts = [
            *one.show(name).notes,
            *(told(one.draw(name)) if drawn and name in of_kind.values() else ()),
        ]
        assert [
            found for text in texts if (found := MANY.search(text.partition("Protocol:")[0]))
        ] == [], name
        assert any("n = 1 (seed 0)" in text for text in texts)
    control = [
        note
        for name in one.plan.config.papers["made_up"].measured
        for note in all_seeds.show(name).notes
    ]
    assert any(MANY.search(note) for note in control)


@pytest.mark.parametrize("name", FIGURES[:-1])
def test_no_text_is_small_or_cut_off_or_upon_another(figure: Any, name: str) -> None:
    with style.house_style():
        legible.check(figure(name), least=8)


def test_numbers_by_hand(figure: Any) -> None:
    """The published scale's squares, the medians of the norms' distribution, and dots of two methods and datasets."""
    squares = {
        tuple(text.get_position()): text.get_text()
        for text in panels(figure("squares", "paper"))[0].texts
    }
    assert squares[1.5, 1.5] == "60.3\n(63.2)"  # 60 + 0.002 · 128
    assert squares[0.5, 0.5] == "55.2"  # 60 - 3 ln 5
    lines = panels(figure("spread"))[0].lines
    assert len(lines) == 3 * 5  # a line for each seed
    assert (lines[5].get_xdata()[50], lines[5].get_ydata()[50]) == (
        pytest.approx(0.9 * 11**0.6),
        50,
    )
    (axis,) = panels(figure("heights"))
    dots = [
        line
        for line in axis.lines
        if (line.get_marker(), line.get_color()) == ("o", style.COLOURS[0])
    ]
    assert [round(line.get_xdata()[0], 6) for line in dots] == [60, 64, 37, 41, 56, 60, 33, 37]
    titles = [text.get_text() for text in axis.texts if text.get_fontweight() == "bold"]
    sets = ("stand_in (for FIRST-10)", "Second-100")
    assert titles == [
        f"{dataset}, {method}" for method in ("SimCLR", "SimSiam") for dataset in sets
    ]


def without(table: str, where: str) -> Callable[[Any, str], None]:
    return lambda made, name: made.alter(
        name, table, lambda rows: rows[~rows["coordinates"].str.contains(where)]
    )


def lost(where: str, how: str = "diverged") -> Callable[[Any, str], None]:
    gone = {"mean": math.nan, "low": math.nan, "high": math.nan, "n": 0, f"n_{how}": 5}
    return lambda made, name: made.change(name, "summary", where, **gone)


@pytest.mark.parametrize(
    ("name", "lose", "said"),
    [
        ("squares", without("summary", f"^{SQUARE}$"), ["not\nrun"]),
        ("squares", lost(SQUARE), ["diverged"]),
        ("squares", lost(SQUARE, "undefined"), ["undefined"]),
        ("spread", without("distribution", "first"), ["not run"]),
        ("heights", lost(f"{PLAIN};measure=knn_top1"), ["diverged"]),
        ("faces", without("pictures", ""), ["not run"]),
        ("globes", without("points", "cut"), ["not run", "not run"]),
    ],
)
def test_what_is_not_there_says_so(
    make: Any, figure: Any, name: str, lose: Callable[[Any, str], None], said: list[str]
) -> None:
    made = make()
    lose(made, name)
    for drawn, expected in ((figure(name), []), (made.draw(name), said)):
        texts = [text.get_text().strip() for axis in panels(drawn) for text in axis.texts]
        assert [
            text for text in texts if text in ("not run", "not\nrun", "diverged", "undefined")
        ] == expected


def test_a_cell_without_pictures_has_no_panel_words_for_columns_are_headings_and_many_classes_have_no_legend(
    make: Any,
) -> None:
    made = make()
    said = {"0": "image", "1": "map", "2": "both"}
    without("pictures", "second")(made, "faces")
    made.alter("faces", "pictures", lambda rows: rows.assign(column=rows["column"].map(said)))
    axes = panels(made.draw("faces"))
    assert len(axes) == 2
    for axis in axes:
        assert [label.get_text() for label in axis.get_xticklabels()] == [*said.values()]
    made.alter(
        "globes",
        "points",
        lambda rows: rows.assign(**{"class": [str(row) for row in range(len(rows))]}),
    )
    assert not made.draw("globes").subfigs[0].legends


def test_axes_show_lines_within_wide_bands_even_numbers_evenly_and_twenty_points_of_a_heat_map(
    make: Any,
) -> None:
    """Means of the map lie within 13 points of each other on each set, and within 36 of both: here one set is left."""
    made = make()
    made.alter("sets", "summary", lambda rows: rows.assign(low=-300.0, high=400.0))
    low, high = panels(made.draw("sets"))[0].get_ylim()
    # From the untrained to the best: half of that above, and below as far as an accuracy goes, which is to 0.
    assert (low, high) == (
        pytest.approx(-0.06 * (64 - 12.5)),
        pytest.approx(64 + (0.5 + 0.06) * (64 - 12.5)),
    )
    # the axis ends at 1, the last value that was run
    without("summary", r"temperature=1\.[12]")(made, "buckets")
    (axis,) = panels(made.draw("buckets"))
    assert axis.get_xscale() == "linear"
    assert axis.get_xlim() == pytest.approx((0.1 - 0.04 * 0.9, 1.0 + 0.04 * 0.9))
    without("summary", "second")(made, "squares")
    low, high = panels(made.draw("squares"))[0].collections[0].get_clim()
    assert high - low == pytest.approx(20)


def test_what_was_not_run_has_no_place_and_is_counted(make: Any) -> None:
    made = make()
    assert not [text for text in told(made.draw("squares")) if "were run" in text]  # the control
    without("summary", r"temperature=1;|batch.size=512|batch.size=1024")(made, "squares")
    figure = made.draw("squares")
    for axis in panels(figure):
        assert [label.get_text() for label in axis.get_xticklabels()] == ["128", "256"]
        assert len(axis.get_yticks()) == 2
        assert not [text for text in axis.texts if text.get_text() == "not\nrun"]
    said = " ".join(told(figure)).replace(" / ", " ")
    assert (
        "2 of 3 published values of τ were run; 2 of 4 published values of batch were run" in said
    )


def test_curves_of_one_dot_are_a_sentence_beside_their_table(make: Any) -> None:
    made = make()
    without("summary", r"temperature=0\.[125];|temperature=[12];")(made, "sweep")
    figure = made.draw("sweep")
    assert panels(figure) == []
    assert any("no line has two values" in text and "sweep.csv" in text for text in told(figure))


def test_more_lines_than_one_can_tell_apart_have_a_panel_each(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make()
    monkeypatch.setattr(lines, "MOST", 3)
    axes = panels(made.draw("sets"))
    named = [
        f"{method}, {variant}"
        for method in ("SimCLR", "SimSiam")
        for variant in ("default", "cut <c=3> | *")
    ]
    assert [axis.get_title(loc="left").replace("\n", " ") for axis in axes] == named
    for axis in axes:
        assert (
            sum(
                line.get_marker() not in ("", "None") and line.get_xdata().size > 0
                for line in axis.lines
            )
            == 1
        )


def test_lines_differ_in_more_than_colour(figure: Any) -> None:
    for axis in panels(figure("courses")):
        drawn = [
            line.get_marker()
            for line in axis.lines
            if line.get_marker() not in ("", "None") and line.get_xdata().size
        ]
        assert len({*drawn}) == len(drawn) == 4


@pytest.mark.parametrize(("pixels", "said"), [(99.0, True), (50.0, False)])
def test_a_figure_says_that_raw_pixels_are_better_than_every_encoder(
    make: Any, pixels: float, said: bool
) -> None:
    made = make()

    def alter(rows: pd.DataFrame) -> pd.DataFrame:
        of_pixels = rows["coordinates"].str.contains("variant=pixels")
        assert of_pixels.any()
        return rows.assign(mean=rows["mean"].mask(of_pixels, pixels))

    made.alter("squares", "summary", alter)
    words = " ".join(told(made.draw("squares"))).replace(" / ", " ")
    assert ("Raw pixels are better than every encoder" in words) == said


def test_effects_are_sorted_and_filled_where_the_interval_excludes_zero(make: Any) -> None:
    """Of five effects, one spans zero, one is of a single run, and one is unknown: the caption alone names it."""
    made = make()
    cut = "method=simclr;variant=cut;dataset=first;objective.temperature={};measure=knn_top1"
    known = {
        0.1: (2.0, 1.0),
        0.5: (3.0, 0.5),
        1: (-1.0, 1.5),
        2: (9.0, math.nan),
        5: (math.nan, math.nan),
    }
    for temperature, (effect, half) in known.items():
        bounds = {"low_holm": effect - half, "high_holm": effect + half}
        made.change("gains", "effects", cut.format(temperature), effect=effect, **bounds)
    (axis,) = panels(made.draw("gains"))
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == [f"τ = {temperature}, cut <c=3> | *" for temperature in (2, 0.5, 0.1, 1)]
    drawn = [line for line in axis.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in drawn] == [9.0, 3.0, 2.0, -1.0]
    hollow = [line for line in drawn if line.get_markerfacecolor() == "white"]
    assert hollow == [drawn[0], drawn[3]]
    # a hollow point is seen
    assert {line.get_markeredgecolor() for line in hollow} == {style.COLOURS[0]}
    ends = [tuple(line.get_xdata()) for line in axis.lines if line.get_linewidth() > 2]
    assert ends[1:] == [(2.5, 3.5), (1.0, 3.0), (-2.5, 0.5)]
    assert np.isnan(ends[0]).all()
    assert "Not measured: τ = 5, cut <c=3> | *." in " ".join(made.show("gains").notes)


# Files


def test_csv_holds_what_is_drawn(make: Any) -> None:
    made = make()
    folder = made.build("spread", "faces", "globes") / "figures" / "made_up"
    drawn = (folder / f"{name}.csv" for name in ("spread", "faces", "globes"))
    spread, faces, globes = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in drawn)
    assert len(spread) == 2 * 3 * 5 * 101
    assert ["first", "stand_in", "small"] in spread[
        ["dataset", "measured_on", "scale"]
    ].to_numpy().tolist()
    assert tuple(faces) == (*SINGLE, "seed", "run", "row", "column", "caption", "scale")
    assert len(faces) == 24
    assert faces.loc[4, ["row", "column", "caption", "seed"]].tolist() == ["dog", "1", "1.75", "0"]
    assert tuple(globes) == (*SINGLE, "seed", "run", "image", "class", "x", "y", "z", "scale")
    table = made.table("globes", "points")
    assert globes["x"].astype(float).tolist() == pytest.approx(table["x"].tolist())
    assert globes["class"].tolist() == table["class"].astype(str).tolist()


@pytest.mark.parametrize(("name", "file"), [("scores", "summary.csv"), ("faces", "pictures.png")])
def test_an_altered_table_or_picture_is_refused_and_nothing_is_written(
    make: Any, names: Any, name: str, file: str
) -> None:
    made = make()
    results = made.results
    path: Path = made.plan.config.artifact_folder("made_up", name) / file
    flip(path)
    with pytest.raises(DamagedError) as caught:
        writer.build(results, "made_up", name)
    names(caught.value, f"project/results/small/statistics/made_up/{name}/{file}")
    assert caught.value.proofs == (tidy_manifest(path),)
    assert not [*made.plan.config.results.glob("[ft]*/made_up/*.*")]  # neither figures nor tables


# The map of the sphere


def test_the_projection_keeps_areas() -> None:
    """A cap of height h has the area 2πh of the sphere; on the map of area 4π it has as much: r = sqrt(2h)."""
    heights = np.array([0.1, 0.5, 1.0, 1.9])
    z = 1 - heights
    round_ = np.stack([np.sqrt(1 - z**2), 0 * z, z], axis=1)
    mirrored = round_ * [-1, 1, 1]  # so that the mean direction is the pole
    below = np.array([[0.0, 0.0, 1.0]] * 9)
    flat = sphere.about_their_middle(np.concatenate([round_, mirrored, below]))
    assert np.hypot(*flat[:4].T) == pytest.approx(np.sqrt(2 * heights))


def test_a_rotation_of_the_points_leaves_distances_on_the_map() -> None:
    generator = np.random.default_rng(0)
    points = generator.normal(size=(20, 3)) + np.array([0, 0, 1])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    turned = points @ np.linalg.qr(generator.normal(size=(3, 3)))[0]
    apart = [
        np.linalg.norm(flat[:, None] - flat, axis=2)
        for flat in map(sphere.about_their_middle, (points, turned))
    ]
    assert apart[0] == pytest.approx(apart[1])
    assert np.abs(points[:, None] - turned).max() > 0.5
