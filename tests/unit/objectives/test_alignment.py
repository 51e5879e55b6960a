"""Wang & Isola's alignment, against a loop, lightly's HypersphereLoss, and cases worked by hand."""

import math
import os
from functools import partial

import pytest
import torch

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.normalised_squared_error import normalised_squared_error

from .shared import (
    chord,
    draw,
    mean,
    rows,
    value_and_gradients,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.loss.hypersphere_loss import HypersphereLoss

powers = pytest.mark.parametrize("power", [1.0, 2.0, 3.0])


@powers
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_is_the_mean_power_of_the_distance(power: float, weight: float) -> None:
    z_a, z_b = draw()
    expected = weight * mean([chord(a, b) ** power for a, b in zip(rows(z_a), rows(z_b), strict=True)])
    assert alignment(z_a, z_b, power=power, weight=weight).item() == pytest.approx(expected, rel=1e-12)


@powers
def test_lightly_agrees(power: float) -> None:
    """Theirs is alignment + lam · uniformity, at lam 0 alignment alone; same power, same normalisation."""
    z_a, z_b = draw()
    torch.testing.assert_close(alignment(z_a, z_b, power=power), HypersphereLoss(lam=0.0, alpha=power)(z_a, z_b))


@powers
@pytest.mark.parametrize(("angle", "distance"), [(0.0, 0.0), (60.0, 1.0), (90.0, math.sqrt(2)), (180.0, 2.0)])
def test_known_angles(angle: float, distance: float, power: float) -> None:
    """By hand: an angle of 60 degrees is an equilateral triangle."""
    z_a = torch.tensor([[5.0, 0.0]], dtype=torch.float64)
    z_b = torch.tensor([[math.cos(math.radians(angle)), math.sin(math.radians(angle))]], dtype=torch.float64)
    assert alignment(z_a, z_b, power=power).item() == pytest.approx(distance**power, abs=1e-12)


def test_power_2_is_the_squared_error_and_2_plus_twice_the_negative_cosine_but_power_1_is_not() -> None:
    z_a, z_b = draw()
    value = alignment(z_a, z_b, power=2.0)
    torch.testing.assert_close(value, normalised_squared_error(z_a, z_b))
    torch.testing.assert_close(value, 2 + 2 * negative_cosine(z_a, z_b))
    assert abs(value - alignment(z_a, z_b, power=1.0)) > 0.1


def test_weight_0_is_0_with_no_gradient() -> None:
    z_a, z_b = draw()
    assert alignment(z_a, z_b, weight=0.0).item() == 0
    assert not value_and_gradients(partial(alignment, weight=0.0), z_a, z_b)[1].any()


def test_a_zero_embedding_is_1_away_from_every_other() -> None:
    assert alignment(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item() == pytest.approx(1, abs=1e-6)
