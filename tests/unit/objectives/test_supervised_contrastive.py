"""Khosla et al.'s L_out, against a double loop over its sets P(i) and A(i)."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import SupConLoss
from torch import Tensor

from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.supervised_contrastive import supervised_contrastive

from .shared import (
    cosine,
    draw,
)

LABELS = torch.tensor([2, 0, 2, 1, 0, 2])


def sums(z_a: Tensor, z_b: Tensor, labels: Tensor, t: float) -> tuple[float, float]:
    """(L_out, L_in): -1/|P| sum of logs, and -log of 1/|P| the sum, mean over the 2n anchors."""
    z, y = [*z_a.tolist(), *z_b.tolist()], labels.tolist() * 2
    outside, inside = [], []
    for i in range(len(z)):
        others = [a for a in range(len(z)) if a != i]
        total = sum(math.exp(cosine(z[i], z[a]) / t) for a in others)
        shares = [math.exp(cosine(z[i], z[p]) / t) / total for p in others if y[p] == y[i]]
        outside.append(-sum(math.log(share) for share in shares) / len(shares))
        inside.append(-math.log(sum(shares) / len(shares)))
    return sum(outside) / len(z), sum(inside) / len(z)


@pytest.mark.parametrize("labels", [LABELS, torch.arange(6), torch.zeros(6, dtype=torch.long)])
@pytest.mark.parametrize("t", [0.1, 0.5, 2.0])
def test_is_equation_2(labels: Tensor, t: float) -> None:
    z_a, z_b = draw(6, 4)
    expected = sums(z_a, z_b, labels, t)[0]
    assert supervised_contrastive(z_a, z_b, labels, temperature=t).item() == pytest.approx(expected, rel=1e-12)


def test_labels_have_no_names_and_views_of_a_class_no_order() -> None:
    z_a, z_b = draw(6, 4)
    loss = supervised_contrastive(z_a, z_b, LABELS, temperature=0.5)
    renamed = torch.tensor([7, -3, 100])[LABELS]
    torch.testing.assert_close(supervised_contrastive(z_a, z_b, renamed, temperature=0.5), loss)
    within = z_b[torch.tensor([5, 4, 0, 3, 1, 2])]  # views exchanged within a class: positives of each other anyway
    torch.testing.assert_close(supervised_contrastive(z_a, within, LABELS, temperature=0.5), loss)
    other = LABELS[torch.tensor([3, 1, 5, 0, 2, 4])]
    assert abs(supervised_contrastive(z_a, z_b, other, temperature=0.5) - loss) > 1e-3  # control


@pytest.mark.parametrize("t", [0.1, 1.0])
def test_two_classes_on_two_axes_by_hand(t: float) -> None:
    """Two images a class: 3 positives at cosine 1, 4 negatives at 0: log(3 + 4 e^(-1/t))."""
    z = torch.eye(2, dtype=torch.float64)[[0, 0, 1, 1]]
    loss = supervised_contrastive(z, 2 * z, torch.tensor([0, 0, 1, 1]), temperature=t)
    assert loss.item() == pytest.approx(math.log(3 + 4 * math.exp(-1 / t)), abs=1e-12)


def test_is_nt_xent_when_labels_are_all_different_and_is_not_the_mean_inside_the_logarithm() -> None:
    z_a, z_b = draw(6, 4)
    different = supervised_contrastive(z_a, z_b, torch.arange(6), temperature=0.5)
    torch.testing.assert_close(different, nt_xent(z_a, z_b, temperature=0.5))
    loss = supervised_contrastive(z_a, z_b, LABELS, temperature=0.5)
    outside, inside = sums(z_a, z_b, LABELS, 0.5)
    assert outside > inside + 0.1  # Jensen
    assert loss.item() == pytest.approx(outside)
    assert abs(loss - different) > 0.05


def test_agrees_with_pytorch_metric_learning() -> None:
    """SupConLoss takes one batch with labels: the views after each other."""
    z_a, z_b = draw(6, 4)
    theirs = SupConLoss(temperature=0.3)(torch.cat([z_a, z_b]), LABELS.repeat(2))
    torch.testing.assert_close(supervised_contrastive(z_a, z_b, LABELS, temperature=0.3), theirs)


def test_one_image_costs_nothing() -> None:
    assert supervised_contrastive(*draw(1, 3), torch.tensor([4]), temperature=0.5).item() == 0
