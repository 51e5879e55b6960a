"""Yeh et al.'s decoupled contrastive loss, against a double loop, lightly, NT-Xent, and cases worked by hand."""

import math
import os
from functools import partial

import pytest
import torch

from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cross_entropies,
    dot,
    draw,
    mean,
    rows,
    value_and_gradients,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.loss import DCLLoss


@pytest.mark.parametrize(("n", "d", "t"), [(2, 3, 0.5), (5, 4, 0.07), (7, 2, 2.0)])
def test_the_positive_is_not_in_the_denominator(n: int, d: int, t: float) -> None:
    z_a, z_b = draw(n, d)
    losses = cross_entropies(rows(z_a, z_b), lambda a, b: dot(a, b) / t, lambda i, j, k: k not in (i, j))
    assert decoupled(z_a, z_b, temperature=t).item() == pytest.approx(mean(losses), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("t", [0.1, 0.5])
def test_lightly_agrees(t: float) -> None:
    """Theirs takes each view's anchors in turn, negatives from both views, and halves the sum of two means over n: the
    mean over 2n. Its temperature defaults to 0.1; ours has none.
    """
    z_a, z_b = draw()
    torch.testing.assert_close(decoupled(z_a, z_b, temperature=t), DCLLoss(temperature=t)(z_a, z_b))


@pytest.mark.parametrize("t", [0.1, 1.0])
def test_nt_xent_of_an_anchor_is_the_softplus_of_this(t: float) -> None:
    """-log(e^p / (e^p + S)) = log(1 + e^(log S - p)), anchor by anchor, and so for no mean of several that differ."""
    z_a, z_b = draw()
    u = rows(z_a, z_b)
    without = cross_entropies(u, lambda a, b: dot(a, b) / t, lambda i, j, k: k not in (i, j))
    softplus = mean([math.log1p(math.exp(loss)) for loss in without])
    assert nt_xent(z_a, z_b, temperature=t).item() == pytest.approx(softplus, rel=1e-12)
    assert decoupled(z_a, z_b, temperature=t).item() == pytest.approx(mean(without), rel=1e-12)
    assert abs(mean(without) - softplus) > 1e-2


@pytest.mark.parametrize("t", [0.1, 1.0])
def test_gradient_is_that_of_nt_xent_over_1_minus_p(t: float) -> None:
    """With two images, each at one point, all anchors have the same p = 1/(1 + 2e^((c-1)/t)), so the factor is one."""
    z = torch.tensor([[1.0, 0.0], [1.0, 2.0]], dtype=torch.float64)
    c = float(cosines(z, z)[0, 1])
    p = 1 / (1 + 2 * math.exp((c - 1) / t))
    _, coupled = value_and_gradients(partial(nt_xent, temperature=t), z, z)
    _, free = value_and_gradients(partial(decoupled, temperature=t), z, z)
    torch.testing.assert_close(coupled, (1 - p) * free)
    assert free.abs().max() > 0.1


@pytest.mark.parametrize("n", [2, 16])
def test_identical_embeddings_cost_log_of_2n_minus_2(n: int) -> None:
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(n, 2)
    assert decoupled(z, z, temperature=0.5).item() == pytest.approx(math.log(2 * n - 2), abs=1e-12)


def test_two_antipodal_images_go_below_0() -> None:
    """By hand: positives at cosine 1, two negatives at -1: log 2 - 2/t."""
    z = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert decoupled(z, z, temperature=0.5).item() == pytest.approx(math.log(2) - 4, abs=1e-12)
