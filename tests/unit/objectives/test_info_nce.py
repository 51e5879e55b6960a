"""The lecture's InfoNCE, with the anchor in its own denominator as printed (erratum S4) and without."""

import math

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
)

SELF = pytest.mark.parametrize("include_self", [True, False])


def oracle(z_a: Tensor, z_b: Tensor, t: float, include_self: bool) -> float:
    """-log(e^(CoSim(i, j)/t) / sum over k of e^(CoSim(i, k)/t)), mean over positive pairs (i, j) both ways round."""
    z, n = [*z_a.tolist(), *z_b.tolist()], len(z_a)
    losses = []
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        kept = [k for k in range(2 * n) if include_self or k != i]
        losses.append(-math.log(math.exp(cosine(z[i], z[j]) / t) / sum(math.exp(cosine(z[i], z[k]) / t) for k in kept)))
    return sum(losses) / len(losses)


@SELF
@pytest.mark.parametrize(("n", "d", "t"), [(1, 2, 0.5), (2, 3, 0.5), (5, 4, 0.1), (7, 2, 2.0)])
def test_is_the_slides_formula(n: int, d: int, t: float, include_self: bool) -> None:
    z_a, z_b = draw(n, d)
    loss = info_nce(z_a, z_b, temperature=t, include_self=include_self)
    assert loss.item() == pytest.approx(oracle(z_a, z_b, t, include_self), rel=1e-12, abs=1e-12)


def test_without_the_anchor_it_is_nt_xent_and_with_it_is_not() -> None:
    """S4: SimCLR's sum has the indicator k != i."""
    values, gradients = [], []
    for loss in (
        lambda a, b: info_nce(a, b, temperature=0.3, include_self=False),
        lambda a, b: nt_xent(a, b, temperature=0.3),
        lambda a, b: info_nce(a, b, temperature=0.3),
    ):
        leaves = [z.requires_grad_() for z in draw(5, 4)]
        values.append(loss(*leaves))
        gradients.append(torch.cat(torch.autograd.grad(values[-1], leaves)))
    torch.testing.assert_close(values[0], values[1])
    torch.testing.assert_close(gradients[0], gradients[1])
    assert values[2] > values[1] + 0.1
    assert (gradients[2] - gradients[1]).norm() > 0.01 * gradients[1].norm()


@pytest.mark.parametrize(("n", "t"), [(1, 0.5), (2, 0.5), (4, 0.1), (8, 2.0)])
def test_lower_bound_with_the_anchor_by_hand(n: int, t: float) -> None:
    """Own view at cosine 1, all others at -1: log(2 + (2n-2) e^(-2/t)), reached for n <= 2; log 2 for one image, whose
    loss without the anchor is 0."""
    assert info_nce(*draw(n, 3), temperature=t).item() > math.log(2 + (2 * n - 2) * math.exp(-2 / t))
    if n <= 2:
        z = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)[:n]
        bound = math.log(2 + (2 * n - 2) * math.exp(-2 / t))
        assert info_nce(z, z, temperature=t).item() == pytest.approx(bound, abs=1e-12)


@SELF
@pytest.mark.parametrize("n", [1, 2, 16])
def test_identical_embeddings_by_hand(n: int, include_self: bool) -> None:
    """All candidates alike: log of their number."""
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(n, 2)
    loss = info_nce(z, z, temperature=0.5, include_self=include_self)
    assert loss.item() == pytest.approx(math.log(2 * n - (not include_self)), abs=1e-12)
