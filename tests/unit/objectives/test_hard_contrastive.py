"""Wang & Liu's hard contrastive loss, against a loop that sorts each anchor's negatives, and cases by hand."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.hard_contrastive import hard_contrastive
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    dot,
    draw,
    mean,
    rows,
    value_and_gradients,
)


def oracle(z_a: Tensor, z_b: Tensor, t: float, kept: int) -> float:
    """In Python floats: the positive, and the ``kept`` most similar of the other 2n-2 embeddings."""
    u = rows(z_a, z_b)
    losses = []
    for i in range(len(u)):
        j = (i + len(u) // 2) % len(u)
        hard = sorted((dot(u[i], u[k]) for k in range(len(u)) if k not in (i, j)), reverse=True)[:kept]
        positive = dot(u[i], u[j])
        losses.append(math.log(math.fsum(math.exp((c - positive) / t) for c in (positive, *hard))))
    return mean(losses)


@pytest.mark.parametrize(
    ("n", "share", "kept"),
    [(5, 0.25, 2), (5, 0.3, 3), (5, 0.01, 1), (26, 0.14, 7), (6, 0.1, 1), (5, 1.0, 8), (5, 0.0, 0)],
)
@pytest.mark.parametrize("t", [0.07, 0.3])
def test_keeps_the_share_of_negatives_rounded_up(n: int, share: float, kept: int, t: float) -> None:
    """26 images have 50 negatives each, of which 0.14 are 7 (and 7.000000000000001 in binary)."""
    z_a, z_b = draw(n)
    expected = oracle(z_a, z_b, t, kept)
    assert hard_contrastive(z_a, z_b, temperature=t, share=share).item() == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_share_1_is_nt_xent_and_less_is_less(n: int) -> None:
    z_a, z_b = draw(n)
    whole = nt_xent(z_a, z_b, temperature=0.3)
    torch.testing.assert_close(hard_contrastive(z_a, z_b, temperature=0.3, share=1.0), whole)
    if n > 1:
        assert hard_contrastive(z_a, z_b, temperature=0.3, share=0.5) < whole - 1e-2
        assert abs(hard_contrastive(z_a, z_b, temperature=0.3, share=0.5) - decoupled(z_a, z_b, temperature=0.3)) > 1e-2


@pytest.mark.parametrize("t", [0.3, 1.0])
def test_only_the_nearest_negative_at_three_known_angles(t: float) -> None:
    """By hand: images at 0, 60 and 180 degrees, views equal, one of four negatives kept: cosines 1/2, 1/2 and -1/2."""
    z = torch.tensor([[1.0, 0.0], [0.5, math.sqrt(0.75)], [-1.0, 0.0]], dtype=torch.float64)
    expected = (2 * math.log1p(math.exp(-0.5 / t)) + math.log1p(math.exp(-1.5 / t))) / 3
    assert hard_contrastive(z, z, temperature=t, share=0.25).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_identical_embeddings_cost_log_of_1_plus_those_kept(kept: int) -> None:
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(3, 2)
    loss = hard_contrastive(z, z, temperature=0.3, share=kept / 4)
    assert loss.item() == pytest.approx(math.log1p(kept), abs=1e-12)


def test_share_0_is_0_without_gradient() -> None:
    z_a, z_b = draw()
    assert hard_contrastive(z_a, z_b, temperature=0.3, share=0.0).item() == 0
    assert not value_and_gradients(partial(hard_contrastive, temperature=0.3, share=0.0), z_a, z_b)[1].any()
