"""The weighted sum of alignment and uniformity, against a loop over the formula and lightly's HypersphereLoss."""

import math
import os
from functools import partial

import pytest
import torch

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.alignment_uniformity import alignment_uniformity
from hypersphere.objectives.nt_xent import nt_xent
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

WEIGHTED = partial(alignment_uniformity, power=1.5, t=3.0, align_weight=0.4, uniform_weight=0.7)


def test_is_the_weighted_sum() -> None:
    z_a, z_b = draw()
    u, v = rows(z_a), rows(z_b)
    aligned = mean([chord(a, b) ** 1.5 for a, b in zip(u, v, strict=True)])
    uniform = [
        math.log(mean([math.exp(-3 * chord(w[i], w[j]) ** 2) for i in range(len(w)) for j in range(i)])) for w in (u, v)
    ]
    assert WEIGHTED(z_a, z_b).item() == pytest.approx(0.4 * aligned + 0.7 * mean(uniform), rel=1e-12)


@pytest.mark.parametrize(("t", "power", "lam"), [(1.0, 2.0, 1.0), (2.0, 1.0, 0.5)])
def test_lightly_agrees(t: float, power: float, lam: float) -> None:
    """Same loss; lightly weighs uniformity only, and its default t is 1 where the paper's is 2."""
    z_a, z_b = draw()
    ours = alignment_uniformity(z_a, z_b, power=power, t=t, uniform_weight=lam)
    torch.testing.assert_close(ours, HypersphereLoss(t=t, lam=lam, alpha=power)(z_a, z_b))


def test_with_one_weight_0_it_is_the_other_term() -> None:
    z_a, z_b = draw()
    torch.testing.assert_close(alignment_uniformity(z_a, z_b, uniform_weight=0.0), alignment(z_a, z_b))
    torch.testing.assert_close(alignment_uniformity(z_a, z_b, align_weight=0.0), uniformity(z_a, z_b))


def test_large_temperature_nt_xent_is_its_relative_not_its_equal() -> None:
    z_a, z_b = draw()
    assert abs(alignment_uniformity(z_a, z_b) - nt_xent(z_a, z_b, temperature=0.5)) > 0.1


@pytest.mark.parametrize("side", [0.5, 1.2])
def test_equidistant_points(side: float) -> None:
    """By hand, all four points a distance apart: side^1.5 · 0.4 - 3 side² · 0.7."""
    z_a, z_b = simplex(4, side).chunk(2)
    assert WEIGHTED(z_a, z_b).item() == pytest.approx(0.4 * side**1.5 - 0.7 * 3 * side**2, abs=1e-12)
