"""Eq. 3 and 5 of the margins paper, against a double loop over its symbols, closed forms and lightly."""

import math
import os
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce, info_nce_of_logits
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.pairs import Negatives

from .shared import Map, cosine, cosines_and_targets, draw, value_and_gradients

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"

PLAIN: Map = partial(cosine_logits, temperature=0.25)
NEGATIVES: list[Negatives] = ["both_views", "other_view", "none"]


def oracle(z_a: Tensor, z_b: Tensor, negatives: str, beta: float, t: float, m1: float, m2: float) -> float:
    """Eq. 4 and 5 on angles, in Python floats; which k are in the sum is what ``negatives`` says."""
    a, b = z_a.tolist(), z_b.tolist()
    n = len(a)
    z = [*a, *b]

    def delta(i: int, k: int, p: int) -> float:
        return (math.cos(math.acos(cosine(z[i], z[k])) + m1 * p) - m2 * p) / t

    anchors = range(2 * n) if negatives == "both_views" else range(n)
    losses = []
    for i in anchors:
        j = (i + n) % (2 * n)
        others = {"both_views": [k for k in range(2 * n) if k != i], "other_view": list(range(n, 2 * n)), "none": [j]}
        total = math.fsum(math.exp(delta(i, k, int(k == j))) for k in others[negatives])
        losses.append(-delta(i, j, 1) + beta * math.log(total))
    return math.fsum(losses) / len(losses)


@pytest.mark.parametrize("negatives", NEGATIVES)
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize(("m1", "m2"), [(0.0, 0.0), (0.4, 0.2)])
def test_is_equation_5(negatives: Negatives, beta: float, m1: float, m2: float) -> None:
    z_a, z_b = draw(5, 3)
    to_logits = partial(margin_logits, temperature=0.25, angular=m1, subtractive=m2)
    found = generalised_info_nce(z_a, z_b, to_logits, negatives=negatives, beta=beta)
    assert found.item() == pytest.approx(oracle(z_a, z_b, negatives, beta, 0.25, m1, m2), rel=1e-12, abs=1e-12)


def test_both_views_is_nt_xent() -> None:
    z = draw(6, 4)
    ours = value_and_gradients(lambda a, b: generalised_info_nce(a, b, PLAIN, negatives="both_views"), *z)
    torch.testing.assert_close(ours, value_and_gradients(lambda a, b: nt_xent(a, b, temperature=0.25), *z))


def test_agrees_with_lightly() -> None:
    """lightly 1.6.0: NTXentLoss without a memory bank, and NegativeCosineSimilarity, are these two cases."""
    from lightly.loss import NegativeCosineSimilarity, NTXentLoss

    z_a, z_b = draw(6, 4)
    ours = generalised_info_nce(z_a, z_b, PLAIN, negatives="both_views")
    torch.testing.assert_close(ours, NTXentLoss(temperature=0.25)(z_a, z_b))
    ours = generalised_info_nce(z_a, z_b, PLAIN, negatives="none", beta=0)
    torch.testing.assert_close(ours, NegativeCosineSimilarity()(z_a, z_b) / 0.25)


def test_other_view_is_cross_entropy_over_the_keys() -> None:
    """Independent: torch's cosine similarity and cross-entropy; it is one direction, and differs from NT-Xent."""
    z_a, z_b = draw(6, 4)
    expected = F.cross_entropy(F.cosine_similarity(z_a[:, None], z_b[None], dim=2) / 0.25, torch.arange(6))
    found = generalised_info_nce(z_a, z_b, PLAIN, negatives="other_view")
    torch.testing.assert_close(found, expected)
    assert abs(found - generalised_info_nce(z_b, z_a, PLAIN, negatives="other_view")) > 1e-3
    assert abs(found - nt_xent(z_a, z_b, temperature=0.25)) > 1e-2


def test_beta_0_without_negatives_is_byol_up_to_the_temperature() -> None:
    """Sec. 3.1; BYOL's loss is 2 - 2·cos (Grill et al. 2020, Eq. 2), computed here from unit vectors."""
    z_a, z_b = (z.requires_grad_() for z in draw(6, 4))
    ours = generalised_info_nce(z_a, z_b, PLAIN, negatives="none", beta=0)
    byol = (F.normalize(z_a, dim=1) - F.normalize(z_b, dim=1)).square().sum(dim=1).mean()
    torch.testing.assert_close(2 + 2 * 0.25 * ours, byol)
    torch.testing.assert_close(ours * 0.25, negative_cosine(z_a, z_b))
    for found, expected in zip(
        torch.autograd.grad(2 * 0.25 * ours, (z_a, z_b)), torch.autograd.grad(byol, (z_a, z_b)), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_without_negatives_beta_1_teaches_nothing() -> None:
    """By hand: log(e^x/e^x) = 0 for every x."""
    loss, gradients = value_and_gradients(lambda a, b: generalised_info_nce(a, b, PLAIN, negatives="none"), *draw(6, 4))
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert gradients.abs().max().item() < 1e-12


@pytest.mark.parametrize(("beta", "t"), [(0.0, 0.5), (0.5, 0.1), (1.0, 0.5), (3.0, 2.0)])
def test_identical_embeddings_by_hand(beta: float, t: float) -> None:
    """Every cosine is 1: -1/t + beta·(1/t + log(2n - 1))."""
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(4, 2)
    found = generalised_info_nce(z, z, partial(cosine_logits, temperature=t), negatives="both_views", beta=beta)
    assert found.item() == pytest.approx(-1 / t + beta * (1 / t + math.log(7)), abs=1e-12)


def test_beta_is_no_additive_constant() -> None:
    """Erratum M2: Eq. 3's middle expression, p·log(exp(d)/(beta·sum exp)), has one gradient for every beta > 0."""
    cosines, targets = cosines_and_targets()
    logits = (cosines / 0.25).requires_grad_()
    ours, middle = {}, {}
    for beta in (0.5, 1.0):
        (ours[beta],) = torch.autograd.grad(info_nce_of_logits(logits, targets, beta), logits)
        inside = logits.exp() / (beta * logits.exp().sum(dim=1, keepdim=True))
        (middle[beta],) = torch.autograd.grad(-(targets * inside.log()).sum(dim=1).mean(), logits)
    torch.testing.assert_close(middle[0.5], middle[1.0])
    torch.testing.assert_close(ours[1.0], middle[1.0])
    torch.testing.assert_close(ours[0.5], (0.5 * logits.softmax(dim=1) - targets) / 5)  # Eq. 13
    assert (ours[0.5] - middle[0.5]).abs().max() > 1e-2


def test_soft_targets_follow_equation_5() -> None:
    """Any p, even one that does not sum to 1: the double sum as printed."""
    logits = torch.tensor([[0.0, 1.0, -2.0]], dtype=torch.float64)
    p = [0.5, 0.2, 0.6]
    total = math.log(1 + math.exp(1) + math.exp(-2))
    expected = -(0.5 * 0 + 0.2 * 1 + 0.6 * -2) + 0.3 * sum(x * total for x in p)
    found = info_nce_of_logits(logits, torch.tensor([p], dtype=torch.float64), 0.3)
    assert found.item() == pytest.approx(expected, abs=1e-12)
