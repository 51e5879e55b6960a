"""The hard-negative loss of Robinson et al. 2021, against its weighted sum; it is debiased at concentration 0."""

import math

import pytest
import torch
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.objectives.debiased import debiased
from hypersphere.objectives.hard_contrastive import hard_contrastive
from hypersphere.objectives.hard_negative import hard_negative
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
    value_and_gradients,
)

SETTINGS = pytest.mark.parametrize(
    ("tau_plus", "concentration"), [(0.1, 0.0), (0.1, 1.0), (0.0, 0.5), (0.5, 2.0)], ids=str
)


def oracle(z_a: Tensor, z_b: Tensor, t: float, tau_plus: float, beta: float) -> float:
    """N g = max((N sum of w neg - tau_plus N pos)/(1 - tau_plus), N e^(-1/t)), w = neg^beta / sum of neg^beta."""
    z, n = [*z_a.tolist(), *z_b.tolist()], len(z_a)
    losses = []
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        positive = math.exp(cosine(z[i], z[j]) / t)
        cosines = [cosine(z[i], z[k]) for k in range(2 * n) if k not in (i, j)]
        importance = [math.exp(beta * c / t) for c in cosines]
        tilted = sum(w * math.exp(c / t) for w, c in zip(importance, cosines, strict=True)) / sum(importance)
        g = max((tilted - tau_plus * positive) / (1 - tau_plus), math.exp(-1 / t))
        losses.append(-math.log(positive / (positive + len(cosines) * g)))
    return sum(losses) / len(losses)


@SETTINGS
@pytest.mark.parametrize(("n", "d", "t"), [(2, 3, 0.5), (5, 4, 0.2), (7, 2, 2.0)])
def test_is_the_weighted_estimator(n: int, d: int, t: float, tau_plus: float, concentration: float) -> None:
    z_a, z_b = draw(n, d)
    loss = hard_negative(z_a, z_b, temperature=t, tau_plus=tau_plus, concentration=concentration)
    assert loss.item() == pytest.approx(oracle(z_a, z_b, t, tau_plus, concentration), rel=1e-12)


@pytest.mark.parametrize("concentration", [0.0, 1.0, 5.0])
def test_equally_hard_negatives_by_hand(concentration: float) -> None:
    """Two images on two axes: all negatives at cosine 0, weights 1: log(1 + (2 - 0.2 e)/(0.9 e)) at t = 1."""
    z = torch.eye(2, dtype=torch.float64)
    loss = hard_negative(z, z, temperature=1.0, tau_plus=0.1, concentration=concentration)
    assert loss.item() == pytest.approx(math.log1p((2 - 0.2 * math.e) / 0.9 / math.e), abs=1e-12)


def test_three_images_by_hand() -> None:
    """On e1, e2, -e1, tau_plus = 0, t = 1, beta = 1. Anchor e1: two negatives at 0, two at -1, so the weighted sum is
    4 (1 + e^-2)/(1 + e^-1); likewise -e1. Anchor e2: all four at 0, so 4."""
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    outer = math.log1p(4 * (1 + math.exp(-2)) / (1 + math.exp(-1)) / math.e)
    expected = (2 * outer + math.log1p(4 / math.e)) / 3
    loss = hard_negative(z, z, temperature=1.0, tau_plus=0.0, concentration=1.0)
    assert loss.item() == pytest.approx(expected, abs=1e-12)


def test_with_growing_concentration_only_the_hardest_negative_counts() -> None:
    """Limit: N times the largest; below it, the loss grows with beta."""
    z_a, z_b = draw(5, 4)
    losses = [
        hard_negative(z_a, z_b, temperature=0.5, tau_plus=0.0, concentration=beta) for beta in (0.0, 1.0, 4.0, 1e5)
    ]
    assert losses == sorted(losses)
    z = torch.nn.functional.normalize(torch.cat([z_a, z_b]), dim=1)
    similar = (z @ z.T).masked_fill(torch.eye(5, dtype=torch.bool).repeat(2, 2), -2).max(dim=1).values
    own = (z[:5] * z[5:]).sum(dim=1).repeat(2)
    expected = (8 * ((similar - own) / 0.5).exp()).log1p().mean()
    assert losses[-1].item() == pytest.approx(expected.item(), abs=1e-3)


def test_without_concentration_it_is_debiased_and_with_it_is_not() -> None:
    z = draw(5, 4)
    plain = value_and_gradients(lambda a, b: debiased(a, b, temperature=0.5, tau_plus=0.1), *z)
    same = value_and_gradients(lambda a, b: hard_negative(a, b, temperature=0.5, tau_plus=0.1, concentration=0.0), *z)
    torch.testing.assert_close(same, plain)
    value, gradients = value_and_gradients(
        lambda a, b: hard_negative(a, b, temperature=0.5, tau_plus=0.1, concentration=1.0), *z
    )
    assert abs(value - plain[0]) > 1e-2
    assert (gradients - plain[1]).norm() > 0.05 * plain[1].norm()


def test_weights_are_part_of_the_graph() -> None:
    """As in the authors' code: with constant weights the gradient would be another."""
    z_a, z_b = draw(5, 4)

    def with_constant_weights(a: Tensor, b: Tensor) -> Tensor:
        z = torch.nn.functional.normalize(torch.cat([a, b]), dim=1)
        own = torch.eye(5, dtype=torch.bool).repeat(2, 2)
        neg = (z @ z.T / 0.5)[~own].view(10, 8).exp()
        weights = (neg / neg.mean(dim=1, keepdim=True)).detach()
        pos = ((z[:5] * z[5:]).sum(dim=1).repeat(2) / 0.5).exp()
        return -(pos / (pos + (weights * neg).sum(dim=1))).log().mean()

    def ours(a: Tensor, b: Tensor) -> Tensor:
        return hard_negative(a, b, temperature=0.5, tau_plus=0.0, concentration=1.0)

    (value, gradients), (constant, other) = (
        value_and_gradients(loss, z_a, z_b) for loss in (ours, with_constant_weights)
    )
    torch.testing.assert_close(value, constant)
    assert (gradients - other).norm() > 0.05 * other.norm()


def test_differs_from_other_ways_to_hardness() -> None:
    """Without prior or weights it is nt_xent; Wang & Liu keep the hardest negatives instead of weighting all."""
    z_a, z_b = draw(5, 4)
    loss = hard_negative(z_a, z_b, temperature=0.5, tau_plus=0.0, concentration=1.0)
    assert abs(loss - nt_xent(z_a, z_b, temperature=0.5)) > 1e-2
    for kept in (0.25, 0.5):
        assert abs(loss - hard_contrastive(z_a, z_b, temperature=0.5, share=kept)) > 1e-2


def test_one_image_has_no_negatives_and_costs_nothing() -> None:
    value, gradients = value_and_gradients(
        lambda a, b: hard_negative(a, b, temperature=0.5, tau_plus=0.1, concentration=1.0), *draw(1, 3)
    )
    assert value == 0
    assert gradients.abs().max() == 0


def test_a_prior_of_one_is_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"tau_plus: must be below 1, but is 1\.0"):
        hard_negative(*draw(3, 2), temperature=0.5, tau_plus=1.0, concentration=1.0)
