"""CMC between two views (Tian et al. 2020), against a double loop; negatives are of the other view only."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import NTXentLoss
from torch import Tensor

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
    value_and_gradients,
)


def oracle(z_a: Tensor, z_b: Tensor, t: float) -> float:
    """-log(h(a_i, b_i) / sum over j of h(a_i, b_j)), h = exp(cos/t), and with a and b swapped; mean over 2n anchors."""
    views = z_a.tolist(), z_b.tolist()
    losses = []
    for anchors, others in (views, views[::-1]):
        for i, x in enumerate(anchors):
            h = [math.exp(cosine(x, y) / t) for y in others]
            losses.append(-math.log(h[i] / sum(h)))
    return sum(losses) / len(losses)


@pytest.mark.parametrize(("n", "d", "t"), [(1, 2, 0.5), (2, 3, 0.07), (5, 4, 0.1), (7, 2, 2.0)])
def test_is_the_two_view_objective(n: int, d: int, t: float) -> None:
    z_a, z_b = draw(n, d)
    expected = oracle(z_a, z_b, t)
    assert multiview_coding(z_a, z_b, temperature=t).item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_identical_embeddings_by_hand() -> None:
    """n candidates alike: log n, where SimCLR's anchors have 2n-1."""
    z = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(4, 2)
    assert multiview_coding(z, z, temperature=0.1).item() == pytest.approx(math.log(4), abs=1e-12)
    assert nt_xent(z, z, temperature=0.1).item() == pytest.approx(math.log(7), abs=1e-12)


@pytest.mark.parametrize(("n", "t"), [(2, 1.0), (4, 0.5), (9, 0.1)])
def test_images_on_axes_by_hand(n: int, t: float) -> None:
    """log(1 + (n-1) e^(-1/t)): half as many negatives as SimCLR's."""
    z = torch.eye(n, dtype=torch.float64)
    expected = math.log1p((n - 1) * math.exp(-1 / t))
    assert multiview_coding(z, z, temperature=t).item() == pytest.approx(expected, abs=1e-12)
    assert nt_xent(z, z, temperature=t).item() == pytest.approx(math.log1p(2 * (n - 1) * math.exp(-1 / t)), abs=1e-12)


def test_is_both_directions_of_info_nce_and_not_nt_xent() -> None:
    z = draw(5, 4)

    def one_way(a: Tensor, b: Tensor) -> Tensor:
        return generalised_info_nce(
            a, b, lambda cosines, targets: cosine_logits(cosines, targets, temperature=0.3), negatives="other_view"
        )

    ours = value_and_gradients(lambda a, b: multiview_coding(a, b, temperature=0.3), *z)
    torch.testing.assert_close(ours, value_and_gradients(lambda a, b: (one_way(a, b) + one_way(b, a)) / 2, *z))
    assert abs(ours[0] - nt_xent(*z, temperature=0.3)) > 1e-2
    assert abs(ours[0] - one_way(*z)) > 1e-2


def test_agrees_with_pytorch_metric_learning() -> None:
    """NTXentLoss with the other view as reference, each way. Given one labels object twice it drops the diagonal, which
    is the positives here: hence the clone."""
    z_a, z_b = draw(5, 4)
    theirs, labels = NTXentLoss(temperature=0.3), torch.arange(5)
    there, back = (theirs(x, labels, ref_emb=y, ref_labels=labels.clone()) for x, y in ((z_a, z_b), (z_b, z_a)))
    torch.testing.assert_close(multiview_coding(z_a, z_b, temperature=0.3), (there + back) / 2)
