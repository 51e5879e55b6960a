"""Wang & Isola's uniformity, against a double loop, lightly's HypersphereLoss, and cases worked by hand."""

import math
import os

import pytest
import torch

from hypersphere.objectives.geometry import unit
from hypersphere.objectives.uniformity import uniformity

from .shared import (
    chord,
    draw,
    mean,
    rows,
    simplex,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.loss.hypersphere_loss import HypersphereLoss

widths = pytest.mark.parametrize("t", [0.5, 2.0, 10.0])


def oracle(u: list[list[float]], t: float) -> float:
    """log(mean over i < j of exp(-t |u_i - u_j|²)) of one view, in Python floats."""
    return math.log(mean([math.exp(-t * chord(u[i], u[j]) ** 2) for i in range(len(u)) for j in range(i)]))


@widths
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_is_the_log_of_the_mean_potential_of_each_view(t: float, weight: float) -> None:
    z_a, z_b = draw()
    expected = weight * (oracle(rows(z_a), t) + oracle(rows(z_b), t)) / 2
    assert uniformity(z_a, z_b, t=t, weight=weight).item() == pytest.approx(expected, rel=1e-12)


@widths
def test_lightly_agrees(t: float) -> None:
    """Theirs is alignment + lam · uniformity, so the difference of two lam is taken; its t defaults to 1, ours to 2."""
    z_a, z_b = draw()
    theirs = HypersphereLoss(t=t, lam=1.0)(z_a, z_b) - HypersphereLoss(t=t, lam=0.0)(z_a, z_b)
    torch.testing.assert_close(uniformity(z_a, z_b, t=t), theirs)


@pytest.mark.parametrize("side", [0.0, 0.5, 1.2])
@widths
def test_equidistant_points_cost_minus_t_times_the_square_of_their_distance(side: float, t: float) -> None:
    z = simplex(4, side)
    assert uniformity(z, z, t=t).item() == pytest.approx(-t * side**2, abs=1e-12)


def test_differs_from_the_mean_over_both_views_and_from_the_mean_of_logs() -> None:
    """The relatives: all 2n points as one batch, and Jensen's other side, -t times the mean squared distance."""
    z_a, z_b = draw()
    value = uniformity(z_a, z_b).item()
    assert abs(value - oracle(rows(z_a, z_b), 2.0)) > 1e-2
    squares = [(unit(z)[:, None] - unit(z)[None]).square().sum(dim=2).sum() / 20 for z in (z_a, z_b)]
    assert value > -2 * float(sum(squares)) / 2 + 1e-2


def test_a_large_t_does_not_underflow() -> None:
    """By hand: two points, one pair, so the loss is -t times their squared distance exactly."""
    z = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert uniformity(z, z, t=1e4).item() == pytest.approx(-4e4)


def test_a_zero_embedding_counts_as_cosine_0() -> None:
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert uniformity(z, z, t=2.0).item() == pytest.approx(-4)
