"""Points on both hemispheres: where they are drawn, in whose colour, and what is missing is said."""

import csv
import io
import math
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
    """A cap of height h has the area 2πh of the sphere; on the disc of area π it has h of it: r = sqrt(h)."""
    for height in (0.0, 0.3, 1.0):
        z = 1 - height
        x = math.sqrt(1 - z**2)
        for sign in (1, -1):
            flat = sphere.hemisphere(x, 0.0, sign * z)
            assert math.hypot(*flat) == pytest.approx(math.sqrt(height), abs=1e-12)


def test_both_hemispheres_are_seen_from_outside() -> None:
    """From behind, what was at the right is at the left; what is up stays up."""
    up, right = sphere.hemisphere(0.0, 0.8, 0.6), sphere.hemisphere(0.8, 0.0, 0.6)
    assert sphere.hemisphere(0.0, 0.8, -0.6) == pytest.approx(up)
    x, y = sphere.hemisphere(0.8, 0.0, -0.6)
    assert (-x, y) == pytest.approx(right)
    assert (up[1] > 0, right[0] > 0) == (True, True)


def test_a_panel_for_each_cell_with_its_points_and_number(make: Any) -> None:
    made = make()
    axes = draw(made)[1]
    assert len(axes) == 4
    assert [bool(axis.get_ylabel()) for axis in axes] == [True, False, True, False]
    assert axes[0].get_ylabel() == "default"  # the printed name of plain
    assert [axis.get_title().split("\n")[-1] for axis in axes] == ["0.500"] * 4
    assert [axis.get_title().split("\n")[0] for axis in axes[:2]] == ["epoch 10", "epoch 20"]
    table = made.tables["globes"]["points"]
    for axis, (_, rows) in zip(axes, table.groupby("coordinates", sort=False), strict=True):
        places = np.asarray(dots(axis).get_offsets())
        assert (places[:, 0] > 0).tolist() == (rows["z"] < 0).tolist()
        assert np.all(np.hypot(np.abs(places[:, 0]) - 1 - sphere.GAP / 2, places[:, 1]) <= 1 + 1e-9)
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
