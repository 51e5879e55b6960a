"""Uniformity keeps its value and direction, and takes the gradient norm of distance polarization (ours)."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.matched_uniformity import matched_uniformity
from hypersphere.objectives.uniformity import uniformity

from . import oracles
from .shared import Loss, draw, simplex, value_and_gradients

reductions = pytest.mark.parametrize("reduction", ["mean", "sum"])


def polarization_norm(views: tuple[Tensor, Tensor], reduction: str, h: float = 1e-5) -> float:
    """Of the gradient of LMCL's Eq. 10 at lambda 1, by central differences in every coordinate of both views."""
    squares = []
    for view in range(2):
        for i in range(views[0].numel()):
            ends = []
            for step in (h, -h):
                moved = [z.clone() for z in views]
                moved[view].view(-1)[i] += step
                ends.append(oracles.distance_polarization(*(z.tolist() for z in moved), 1, reduction=reduction))
            squares.append(((ends[0] - ends[1]) / (2 * h)) ** 2)
    return math.sqrt(math.fsum(squares))


def gradient(loss: Loss, *z: Tensor) -> Tensor:
    return value_and_gradients(loss, *z)[1]


@reductions
@pytest.mark.parametrize("weight", [0.1, 7.0])
def test_the_gradient_has_the_norm_of_distance_polarization_and_the_direction_of_uniformity(
    reduction: Literal["mean", "sum"], weight: float
) -> None:
    z = draw(4, 3)
    ours = gradient(lambda a, b: matched_uniformity(a, b, weight=weight, reduction=reduction), *z)
    expected = weight * polarization_norm(z, reduction)
    assert expected > 1e-4
    assert ours.norm().item() == pytest.approx(expected, rel=1e-6)
    plain = gradient(uniformity, *z)
    torch.testing.assert_close(ours / ours.norm(), plain / plain.norm())
    assert ours.norm().item() != pytest.approx(plain.norm().item(), rel=0.1)  # the nearest relative


@pytest.mark.parametrize("t", [0.5, 2.0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_value_is_uniformitys_to_the_bit(t: float, dtype: torch.dtype) -> None:
    z = draw(dtype=dtype)
    assert torch.equal(matched_uniformity(*z, weight=0.1, t=t), uniformity(*z, t=t))


@pytest.mark.parametrize("side", [0.3, 1.5])
def test_where_no_distance_is_in_the_region_nothing_is_pushed(side: float) -> None:
    """By hand: chords of 0.3 and 1.5 are distances D = chord²/4 of 0.02 and 0.56, on either side of 0.1 and 0.5."""
    z = simplex(4, side)
    assert gradient(lambda a, b: matched_uniformity(a, b, weight=1), z, z.clone()).abs().max() < 1e-12
    inside = gradient(lambda a, b: matched_uniformity(a, b, weight=1), simplex(4, 1.0), simplex(4, 1.0))
    assert inside.norm() > 1e-3


def test_it_needs_no_gradient_of_its_inputs() -> None:
    """A probe may ask for the value alone."""
    with torch.no_grad():
        assert matched_uniformity(*draw(), weight=1).item() == pytest.approx(uniformity(*draw()).item())
