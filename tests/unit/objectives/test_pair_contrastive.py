"""The lecture's pair loss, against a double loop over its two formulas and against cases worked by hand."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss
from pytorch_metric_learning.reducers import DoNothingReducer
from torch import Tensor

from hypersphere.objectives.pair_contrastive import pair_contrastive

from .shared import draw, square


def oracle(z_a: Tensor, z_b: Tensor, margin: float) -> float:
    """||.||² if i = j, else max(0, margin - ||.||)², mean over the n² pairs."""
    costs = []
    for i, a in enumerate(z_a.tolist()):
        for j, b in enumerate(z_b.tolist()):
            costs.append(square(a, b) if i == j else max(0.0, margin - math.sqrt(square(a, b))) ** 2)
    return sum(costs) / len(costs)


@pytest.mark.parametrize(("n", "d", "margin"), [(1, 2, 1.0), (2, 3, 5.0), (5, 4, 8.0), (7, 2, 0.1)])
def test_is_the_slides_two_formulas(n: int, d: int, margin: float) -> None:
    z_a, z_b = draw(n, d)
    assert pair_contrastive(z_a, z_b, margin=margin).item() == pytest.approx(oracle(z_a, z_b, margin), rel=1e-12)


def test_moving_both_views_changes_nothing_and_it_is_homogeneous() -> None:
    """With the margin: embeddings are not normalised."""
    z_a, z_b = draw(6, 4)
    loss = pair_contrastive(z_a, z_b, margin=6.0)
    torch.testing.assert_close(pair_contrastive(z_a + 5, z_b + 5, margin=6.0), loss)
    assert abs(pair_contrastive(2 * z_a, 2 * z_b, margin=6.0) - loss) > 1  # control
    torch.testing.assert_close(pair_contrastive(2 * z_a, 2 * z_b, margin=12.0), 4 * loss)


@pytest.mark.parametrize(("margin", "expected"), [(4.0, 0.0), (5.0, 0.0), (7.0, 2.0)])
def test_two_points_of_two_views_by_hand(margin: float, expected: float) -> None:
    """Pairs at one point each, 5 apart: 0, 0 and twice max(0, margin - 5)², over four pairs."""
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64)
    assert pair_contrastive(z, z, margin=margin).item() == pytest.approx(expected, abs=1e-12)


def test_the_margin_is_on_the_distance_and_not_on_its_square() -> None:
    """Nearest relative: max(0, margin - d²), as squared distances in a pair loss are often used."""
    z_a = torch.tensor([[0.0], [0.5]], dtype=torch.float64)
    relative = (0 + 0 + 2 * max(0, 1 - 0.25)) / 4
    assert pair_contrastive(z_a, z_a, margin=1.0).item() == pytest.approx(2 * 0.5**2 / 4)
    assert pair_contrastive(z_a, z_a, margin=1.0).item() != pytest.approx(relative, abs=0.1)


def test_agrees_with_pytorch_metric_learning_once_its_pieces_are_squared() -> None:
    """ContrastiveLoss by default normalises, takes d and not d², and averages over the pairs that cost something."""
    z_a, z_b = draw(5, 3)
    theirs = ContrastiveLoss(
        neg_margin=6.0, distance=LpDistance(normalize_embeddings=False), reducer=DoNothingReducer()
    )
    label = torch.arange(5)
    pieces = theirs(z_a, label, ref_emb=z_b, ref_labels=label.clone())  # the same object would mean the same batch
    costs = torch.cat([pieces["pos_loss"]["losses"], pieces["neg_loss"]["losses"]])
    assert len(costs) == 25
    assert (costs == 0).any()
    torch.testing.assert_close(pair_contrastive(z_a, z_b, margin=6.0), costs.square().mean())


def test_coinciding_dissimilar_points_cost_the_margin_squared_and_do_not_move() -> None:
    z = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    loss = pair_contrastive(z, z.detach(), margin=3.0)
    assert loss.item() == pytest.approx(2 * 9 / 4)
    (gradient,) = torch.autograd.grad(loss, z)
    assert not gradient.any()
