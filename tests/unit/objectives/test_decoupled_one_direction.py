"""Erratum N24 of the norms paper: the authors' loss, against loops, cases by hand, and its relatives."""

import math
import os

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.decoupled_one_direction import decoupled_one_direction
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent

from .shared import cosine, draw

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"


def oracle(z_a: Tensor, z_b: Tensor, t: float, with_positive: bool = False) -> float:
    """The mean over i of -log(e^(cos(a_i, b_i)/t) / sum over k of e^(cos(a_i, b_k)/t)), in Python floats."""
    a, b = z_a.tolist(), z_b.tolist()
    total = 0.0
    for i, anchor in enumerate(a):
        sims = [math.exp(cosine(anchor, other) / t) for other in b]
        total -= math.log(sims[i] / sum(sims[k] for k in range(len(b)) if with_positive or k != i))
    return total / len(a)


@pytest.mark.parametrize(("n", "d", "t"), [(2, 3, 0.5), (5, 4, 0.1), (7, 2, 2.0)])
def test_is_the_loop(n: int, d: int, t: float) -> None:
    z_a, z_b = draw(n, d)
    assert decoupled_one_direction(z_a, z_b, temperature=t).item() == pytest.approx(oracle(z_a, z_b, t), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 16])
def test_identical_embeddings_cost_log_of_n_minus_1(n: int) -> None:
    """By hand: n-1 negatives, each as similar as the positive. For n = 2 that is 0, and less is possible."""
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(n, 2)
    assert decoupled_one_direction(z, z, temperature=0.5).item() == pytest.approx(math.log(n - 1), abs=1e-12)


@pytest.mark.parametrize("t", [0.1, 0.5])
def test_two_antipodal_images_reach_the_lower_bound(t: float) -> None:
    """By hand, n = 2: cos of the positive 1, of the one negative -1, so -(1 - -1)/t, and +2/t the other way round."""
    z = torch.tensor([[2.0, 0.0], [-5.0, 0.0]], dtype=torch.float64)
    assert decoupled_one_direction(z, z, temperature=t).item() == pytest.approx(-2 / t, abs=1e-12)
    assert decoupled_one_direction(z, -z, temperature=t).item() == pytest.approx(2 / t, abs=1e-12)


def test_one_image_has_no_negative() -> None:
    z_a, z_b = draw(1, 3)
    assert decoupled_one_direction(z_a, z_b, temperature=0.5).item() == -math.inf


def test_differs_from_equation_1_and_from_attraction() -> None:
    """Nearest relatives: Eq. 1 (both views, positive kept), the same with the positive kept, and attraction alone."""
    z_a, z_b = draw(5, 4)
    loss = decoupled_one_direction(z_a, z_b, temperature=0.5).item()
    assert abs(loss - nt_xent(z_a, z_b, temperature=0.5).item()) > 1e-2
    assert abs(loss - oracle(z_a, z_b, 0.5, with_positive=True)) > 1e-2
    assert abs(loss - negative_cosine(z_a, z_b).item() / 0.5) > 1e-2


def test_keeps_pulling_where_the_coupled_loss_has_let_go() -> None:
    """What decoupling does, at t = 0.05, a positive at 90° and the negative opposite: the coupled gradient is the
    decoupled one times the negative's share of the denominator, by hand 1 / (1 + e^(1/t))."""
    z_b = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    z_a = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    cosine = torch.nn.functional.cosine_similarity(z_a[:1], z_b)
    (coupled,) = torch.autograd.grad(torch.nn.functional.cross_entropy(cosine[None] / 0.05, torch.tensor([0])), z_a)
    (ours,) = torch.autograd.grad(decoupled_one_direction(z_a, z_b, temperature=0.05), z_a)
    torch.testing.assert_close(coupled[0], 2 * ours[0] / (1 + math.exp(1 / 0.05)))  # 2: our mean over two anchors
    assert ours[0, 1].item() == pytest.approx(-1 / 0.05 / 2)


def test_agrees_with_lightly_where_its_additional_negatives_vanish() -> None:
    """lightly's DCLLoss is Yeh et al.'s Eq. 6: both directions, and the anchor's own view gives negatives too. With two
    images, opposite within each view, those weigh e^((-1 - 0.6)/t) = e^-32 of the others at t = 0.05."""
    from lightly.loss import DCLLoss

    z_a = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    z_b = torch.tensor([[-3.0, 4.0], [3.0, -4.0]], dtype=torch.float64)
    ours = [decoupled_one_direction(*z, temperature=0.05).item() for z in ((z_a, z_b), (z_b, z_a))]
    assert DCLLoss(temperature=0.05)(z_a, z_b).item() == pytest.approx(sum(ours) / 2, abs=1e-12)
    z_a, z_b = draw(5, 4)  # control: elsewhere they differ
    ours = [decoupled_one_direction(*z, temperature=0.5).item() for z in ((z_a, z_b), (z_b, z_a))]
    assert abs(DCLLoss(temperature=0.5)(z_a, z_b).item() - sum(ours) / 2) > 1e-2


def test_agrees_with_pytorch_metric_learnings_coupled_loss_per_anchor() -> None:
    """Their NTXentLoss with reference embeddings keeps the positive: l = log(1 + N/P), so ours is log(e^l - 1)."""
    from pytorch_metric_learning.losses import NTXentLoss
    from pytorch_metric_learning.reducers import DoNothingReducer

    z_a, z_b = draw(5, 4)
    labels = torch.arange(5)  # handed over twice, the same object would mean "no comparison with one's own row"
    theirs = NTXentLoss(temperature=0.5, reducer=DoNothingReducer())(
        z_a, labels, ref_emb=z_b, ref_labels=labels.clone()
    )
    expected = theirs["loss"]["losses"].expm1().log().mean()
    torch.testing.assert_close(decoupled_one_direction(z_a, z_b, temperature=0.5), expected)
