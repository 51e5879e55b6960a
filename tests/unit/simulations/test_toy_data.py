"""The toy shapes: where their points lie, and that each was chosen by Table 1's Euclidean row and nothing else."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from torch import Tensor

from hypersphere.simulations.toy_clustering.data import (
    SHAPES,
    SIZE,
    Draws,
    clustered,
    draws,
    nested_moons,
    three_bars,
)

from ..printed import table

TRIALS = range(20)
PRINTED = table("lmcl", "table1", "variant", "dataset")["euclidean"]
"""LMCL paper, Table 1, Euclidean space, percent."""
Shape = Callable[[Draws], Tensor]


def grid(centre: float) -> list[float]:
    """Steps of 0.01, up to 0.1 on either side of a value found by eye."""
    return [round(centre + hundredth / 100, 2) for hundredth in range(-10, 11)]


def tried(shape: Callable[..., Tensor], free: str, centre: float) -> dict[float, Shape]:
    """A shape with each value of its free parameter in turn."""
    return {value: partial(shape, **{free: value}) for value in grid(centre)}


SIDE_BY_SIDE = tried(SHAPES["three_bars"]["other"], "spacing", 1.0)
CALIBRATED = pytest.mark.parametrize(
    ("dataset", "shapes", "chosen"),
    [
        ("three_bars", tried(three_bars, "step", 1.1), 1.09),
        ("three_bars", SIDE_BY_SIDE, 1.0),
        ("nested_moons", tried(nested_moons, "gap", 0.1), 0.11),
        ("nested_moons", tried(SHAPES["nested_moons"]["other"], "gap", -0.25), -0.27),
    ],
)


def euclidean(shapes: Sequence[Shape], drawn: Draws) -> Tensor:
    """Accuracy of K-means on the points themselves, percent, [seeds, shapes]."""
    return torch.stack([clustered(shape(drawn), drawn) for shape in shapes], dim=1)


def nearest(dataset: str, shapes: dict[float, Shape]) -> float:
    """The value whose mean Euclidean accuracy is nearest to the printed one."""
    means = euclidean(list(shapes.values()), draws(TRIALS, dataset)).mean(dim=0)
    return list(shapes)[int((means - PRINTED[dataset]).abs().argmin())]


@CALIBRATED
def test_each_shape_is_better_than_its_neighbours_among_those_that_were_tried(
    dataset: str, shapes: dict[float, Shape], chosen: float
) -> None:
    near = {value: shape for value, shape in shapes.items() if abs(value - chosen) < 0.015}
    assert len(near) == 3
    assert nearest(dataset, near) == chosen


@pytest.mark.long
@CALIBRATED
def test_each_shape_is_the_best_of_those_that_were_tried(
    dataset: str, shapes: dict[float, Shape], chosen: float
) -> None:
    assert nearest(dataset, shapes) == chosen


def test_the_shapes_of_the_study_have_the_printed_accuracy() -> None:
    for dataset, shapes in SHAPES.items():
        means = euclidean(list(shapes.values()), draws(TRIALS, dataset)).mean(dim=0)
        assert means.tolist() == pytest.approx([PRINTED[dataset]] * 3, abs=0.1)


def test_bars_side_by_side_jump_past_the_printed_accuracy() -> None:
    """Why the bars are in steps: without, K-means cuts across them or between them, about 69 or 100 %. A spacing whose
    mean is the printed 75.2 mixes both, with eight times the printed spread of 1.2 and more."""
    rows = euclidean(list(SIDE_BY_SIDE.values())[::2], draws(TRIALS, "three_bars"))
    near = (rows.mean(dim=0) > 72) & (rows.mean(dim=0) < 95)
    assert near.any()
    assert rows.std(dim=0)[near].min() > 9


def test_bars_lie_where_they_should() -> None:
    drawn = draws([0], "three_bars")
    points = three_bars(drawn, step=1.0, spacing=0.5, width=0.2)[0]
    for bar in (-1, 0, 1):
        own = points[drawn.classes == bar + 1] - torch.tensor([0.5 * bar, 1.0 * bar])
        assert len(own) == SIZE
        assert own.abs().amax(dim=0).tolist() == pytest.approx([0.1, 1.0], abs=0.02)
        assert (own.abs() <= torch.tensor([0.1, 1.0])).all()


def test_moons_lie_on_their_circles() -> None:
    """Centres (-1/2, (gap - 1/2)/2) and (1/2, (1/2 - gap)/2); the first is the upper half of its circle."""
    drawn = draws([0], "nested_moons")
    points = nested_moons(drawn, gap=0.3, noise=0.0, inner=0.7)[0]
    upper, lower = (points[drawn.classes == moon] for moon in (0, 1))
    for moon, centre, radius, sign in ((upper, (-0.5, -0.1), 1.0, 1), (lower, (0.5, 0.1), 0.7, -1)):
        from_centre = moon - torch.tensor(centre, dtype=moon.dtype)
        assert torch.linalg.vector_norm(from_centre, dim=1).tolist() == pytest.approx([radius] * SIZE)
        assert (sign * from_centre[:, 1] >= 0).all()
    noisy = nested_moons(drawn, gap=0.3, noise=0.2, inner=0.7)[0] - points
    assert noisy.std().item() == pytest.approx(0.2, rel=0.1)


def test_the_corner_has_all_points_on_one_side() -> None:
    """Moved as a whole: K-means sees no difference, a direction from 0 does."""
    for dataset, least in (("three_bars", 0.0), ("nested_moons", -0.2)):
        drawn, shapes = draws(TRIALS, dataset), SHAPES[dataset]
        moved = shapes["corner"](drawn) - shapes["default"](drawn)
        torch.testing.assert_close(moved, moved[:1, :1].expand_as(moved))
        assert shapes["corner"](drawn).min() >= least
    assert three_bars(draws(TRIALS, "three_bars")).min() < -1
