"""Points on a map of the sphere: where they are drawn, in whose colour, and what is missing is said."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from hypersphere.report import style
from hypersphere.report.artifact import SINGLE, Points
from hypersphere.report.kinds import sphere


def draw(made: Any) -> tuple[Figure, list[Axes]]:
    """The figure, and its panels."""
    points = Points(made.results("globes"), made.plan.config.papers["made_up"], "globes")
    with style.applied():
        figure = sphere.draw(points)
    return figure, figure.findobj(Axes)


def dots(axis: Axes) -> PathCollection:
    """The points of a panel."""
    (found,) = [one for one in axis.collections if isinstance(one, PathCollection)]
    return found


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
    apart = [np.linalg.norm(flat[:, None] - flat, axis=2) for flat in map(sphere.about_their_middle, (points, turned))]
    assert apart[0] == pytest.approx(apart[1])
    assert np.abs(points[:, None] - turned).max() > 0.5


def test_a_panel_for_each_cell_with_its_points_and_number(make: Any) -> None:
    made = make()
    axes = draw(made)[1]
    assert len(axes) == 4
    assert [bool(axis.get_ylabel()) for axis in axes] == [True, False, True, False]
    assert axes[0].get_ylabel() == "default"  # the printed name of plain
    assert [axis.get_title().split("\n")[-1] for axis in axes] == ["0.500"] * 4
    assert [axis.get_title().split("\n")[0] for axis in axes[:2]] == ["epoch 10 (here 5)", "epoch 20 (here 10)"]
    table = made.tables["globes"]["points"]
    for axis, (_, rows) in zip(axes, table.groupby("coordinates", sort=False), strict=True):
        places = np.asarray(dots(axis).get_offsets())
        assert len(places) == len(rows)
        assert np.all(np.hypot(places[:, 0], places[:, 1]) <= sphere.RADIUS + 1e-9)
        shades = {tuple(shade) for shade in np.asarray(dots(axis).get_facecolor()).round(4)}
        assert len(shades) == rows["class"].nunique()


def test_a_cell_without_points_says_so(make: Any) -> None:
    made = make()
    table = made.tables["globes"]["points"]
    made.tables["globes"]["points"] = table[~table["coordinates"].str.contains("cut")]
    said = [[text.get_text() for text in axis.texts] for axis in draw(made)[1]]
    assert said == [[], [], ["not run"], ["not run"]]


def test_classes_are_in_the_legend_unless_there_are_many(make: Any) -> None:
    made = make()
    (legend,) = draw(made)[0].subfigs[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2"]
    made.tables["globes"]["points"]["class"] = [str(row) for row in range(len(made.tables["globes"]["points"]))]
    assert not draw(made)[0].subfigs[0].legends


def test_the_csv_has_every_point(make: Any) -> None:
    made = make()
    folder = made.build("globes")
    text = next(folder.rglob("globes.csv")).read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    table = made.tables["globes"]["points"]
    assert tuple(rows[0]) == (*SINGLE, "seed", "run", "image", "class", "x", "y", "z", "scale")
    assert [float(row["x"]) for row in rows] == pytest.approx(table["x"].tolist())
    assert [row["class"] for row in rows] == table["class"].astype(str).tolist()
    assert {row["scale"] for row in rows} == {"small"}
