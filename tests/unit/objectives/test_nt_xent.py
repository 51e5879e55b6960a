"""Eq. 1 of the norms paper, against a double loop over its symbols and against cases solved by hand."""

import math
import os
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent

from .shared import cosine, draw

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"


def oracle(z_a: Tensor, z_b: Tensor, t: float, keep: Callable[[int, int, int], bool]) -> float:
    """-log(ExpSim(i, j) / sum over kept k of ExpSim(i, k)), mean over i, in Python floats; ``keep`` sees (i, j, k)."""
    z = [*z_a.tolist(), *z_b.tolist()]
    n = len(z_a)

    def exp_sim(i: int, k: int) -> float:
        return math.exp(cosine(z[i], z[k]) / t)

    losses = []
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        losses.append(-math.log(exp_sim(i, j) / sum(exp_sim(i, k) for k in range(2 * n) if keep(i, j, k))))
    return sum(losses) / len(losses)


@pytest.mark.parametrize(("n", "d", "t"), [(1, 2, 0.5), (2, 3, 0.5), (5, 4, 0.1), (7, 2, 2.0)])
def test_is_equation_1(n: int, d: int, t: float) -> None:
    z_a, z_b = draw(n, d)
    expected = oracle(z_a, z_b, t, lambda i, j, k: k != i)
    assert nt_xent(z_a, z_b, temperature=t).item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_without_normalisation_inner_products_take_the_place_of_cosines() -> None:
    """SimCLR, Table 5, lower rows: the same double loop over inner products, temperature 10."""
    z_a, z_b = draw(5, 4)
    z = torch.cat([z_a, z_b]).tolist()
    products = [[math.exp(sum(x * y for x, y in zip(a, b, strict=True)) / 10) for b in z] for a in z]
    losses = [-math.log(products[i][(i + 5) % 10] / (sum(products[i]) - products[i][i])) for i in range(10)]
    found = nt_xent(z_a, z_b, temperature=10, normalise=False).item()
    assert found == pytest.approx(sum(losses) / 10, rel=1e-12)
    assert found != pytest.approx(nt_xent(z_a, z_b, temperature=10).item(), rel=1e-3)


RELATIVES: dict[str, Callable[[int, int, int], bool]] = {
    "decoupled: the positive leaves the denominator (Yeh et al. 2022)": lambda i, j, k: k not in (i, j),
    "the anchor stays in the denominator": lambda i, j, k: True,
    "negatives from the other view only (CLIP, MoCo)": lambda i, j, k: (k < 5) != (i < 5),
}


@pytest.mark.parametrize("relative", RELATIVES)
def test_differs_from_its_relatives(relative: str) -> None:
    z_a, z_b = draw(5, 4)
    other = oracle(z_a, z_b, 0.5, RELATIVES[relative])
    assert abs(nt_xent(z_a, z_b, temperature=0.5).item() - other) > 1e-2


@pytest.mark.parametrize("n", [1, 2, 16])
def test_identical_embeddings_cost_log_of_2n_minus_1(n: int) -> None:
    """By hand: every similarity is 1, so each of the 2n-1 candidates is as likely."""
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(n, 2)
    assert nt_xent(z, z, temperature=0.5).item() == pytest.approx(math.log(2 * n - 1), abs=1e-12)


@pytest.mark.parametrize(("second", "cosine"), [([0.0, 1.0], 0.0), ([-1.0, 0.0], -1.0)])
@pytest.mark.parametrize("t", [0.1, 0.5])
def test_two_pairs_orthogonal_or_antipodal(second: list[float], cosine: float, t: float) -> None:
    """By hand, n = 2, each pair at one point: log((e^(1/t) + 2 e^(cos/t)) / e^(1/t)) = log(1 + 2 e^((cos-1)/t))."""
    z = torch.tensor([[1.0, 0.0], second], dtype=torch.float64)
    expected = math.log1p(2 * math.exp((cosine - 1) / t))
    assert nt_xent(z, z, temperature=t).item() == pytest.approx(expected, abs=1e-12)


def test_antipodal_positives_by_hand() -> None:
    """n = 1 has no negative, so the loss is log 1 = 0, whatever the positive."""
    z = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    assert nt_xent(z, -z, temperature=0.5).item() == pytest.approx(0, abs=1e-12)


def test_norms_do_not_change_the_value_and_divide_the_gradient() -> None:
    """Norms paper, Prop. 3.2: the gradient is orthogonal to the embedding and inverse to its norm."""
    gradients = []
    for scale in (1.0, 7.0):
        z_a, z_b = draw(4, 3)
        z_a = (scale * z_a).requires_grad_()
        loss = nt_xent(z_a, z_b, temperature=0.5)
        (gradient,) = torch.autograd.grad(loss, z_a)
        assert loss.item() == pytest.approx(nt_xent(*draw(4, 3), temperature=0.5).item(), abs=1e-12)
        torch.testing.assert_close((gradient * z_a).sum(dim=1), torch.zeros(4, dtype=torch.float64), atol=1e-12, rtol=0)
        gradients.append(gradient)
    torch.testing.assert_close(gradients[1], gradients[0] / 7)


def test_zero_embedding_counts_as_cosine_zero() -> None:
    """By hand, n = 1 pairs (0, e1), (e1, e1): the anchor 0 is indifferent among three, the others see 0 as e^0."""
    z_a = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    z_b = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    e = math.exp(1.0)
    anchors = [math.log(3), math.log((1 + 2 * e) / e), math.log((1 + 2 * e) / 1), math.log((1 + 2 * e) / e)]
    assert nt_xent(z_a, z_b, temperature=1.0).item() == pytest.approx(sum(anchors) / 4, abs=1e-12)


def test_large_temperature_tends_to_attraction_and_repulsion_at_first_order() -> None:
    """Series in 1/t: loss = log(2n-1) + (mean over k != i of cos(i, k) - cos(i, j)) · (-1/t) + O(1/t²)."""
    z_a, z_b = draw(4, 3)
    unit = torch.nn.functional.normalize(torch.cat([z_a, z_b]), dim=1)
    cosines = unit @ unit.T
    mean_other = (cosines.sum() - 8) / (8 * 7)
    first = mean_other + negative_cosine(z_a, z_b)
    t = 1e4
    loss = nt_xent(z_a, z_b, temperature=t)
    assert ((loss - math.log(7)) * t).item() == pytest.approx(first.item(), abs=1e-3)


@pytest.mark.parametrize("t", [0.1, 0.5, 2.0])
def test_agrees_with_lightly(t: float) -> None:
    """NTXentLoss without a memory bank: the same candidates, the same mean over 2n anchors."""
    from lightly.loss import NTXentLoss

    z_a, z_b = draw(6, 4)
    torch.testing.assert_close(nt_xent(z_a, z_b, temperature=t), NTXentLoss(t, memory_bank_size=0)(z_a, z_b))


@pytest.mark.parametrize("t", [0.1, 0.5, 2.0])
def test_agrees_with_pytorch_metric_learning(t: float) -> None:
    """Their NTXentLoss takes the two views stacked, and the image's number as label: each anchor then has one positive,
    and their mean over positive pairs is ours over anchors. SelfSupervisedLoss numbers the images by itself."""
    from pytorch_metric_learning.losses import NTXentLoss, SelfSupervisedLoss

    z_a, z_b = draw(6, 4)
    ours = nt_xent(z_a, z_b, temperature=t)
    torch.testing.assert_close(ours, NTXentLoss(t)(torch.cat([z_a, z_b]), torch.arange(12) % 6))
    torch.testing.assert_close(ours, SelfSupervisedLoss(NTXentLoss(t))(z_a, z_b))
    one_way = SelfSupervisedLoss(NTXentLoss(t), symmetric=False)(z_a, z_b)
    assert abs(one_way - ours) > 1e-3  # theirs means something else: anchors of one view, candidates of the other


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_and_double_precision_are_to_the_byte_what_the_first_release_gave(dtype: torch.dtype) -> None:
    """Published runs rest on these bytes: torch's own normalisation, masked diagonal, cross-entropy."""
    z_a, z_b = (z.requires_grad_() for z in draw(8, 16, dtype=dtype))
    z = torch.nn.functional.normalize(torch.cat([z_a, z_b]), dim=1)
    logits = (z @ z.T / 0.5).masked_fill(torch.eye(16, dtype=torch.bool), float("-inf"))
    first = torch.nn.functional.cross_entropy(logits, torch.arange(16).roll(8))
    ours = nt_xent(z_a, z_b, temperature=0.5)
    assert torch.equal(ours, first)
    for mine, theirs in zip(torch.autograd.grad(ours, (z_a, z_b)), torch.autograd.grad(first, (z_a, z_b)), strict=True):
        assert torch.equal(mine, theirs)
