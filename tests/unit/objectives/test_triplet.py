"""The lecture's triplet loss, with FaceNet's hinge and as printed without it (erratum S2)."""

import pytest
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.reducers import MeanReducer
from torch import Tensor

from hypersphere.objectives.pair_contrastive import pair_contrastive
from hypersphere.objectives.triplet import triplet

from .shared import draw, is_finite, square

HINGE = pytest.mark.parametrize("hinge", [True, False])


def oracle(z_a: Tensor, z_b: Tensor, margin: float, hinge: bool) -> float:
    """||a - p||² + margin - ||a - n||², its positive part with a hinge, mean over all triplets."""
    positives, costs = z_b.tolist(), []
    for i, anchor in enumerate(z_a.tolist()):
        for j, negative in enumerate(positives):
            if j != i:
                cost = square(anchor, positives[i]) + margin - square(anchor, negative)
                costs.append(max(0.0, cost) if hinge else cost)
    return sum(costs) / len(costs)


@HINGE
@pytest.mark.parametrize(("n", "d", "margin"), [(2, 3, 5.0), (5, 4, 8.0), (7, 2, 0.1)])
def test_is_the_slides_formula(n: int, d: int, margin: float, hinge: bool) -> None:
    z_a, z_b = draw(n, d)
    expected = oracle(z_a, z_b, margin, hinge)
    assert triplet(z_a, z_b, margin=margin, hinge=hinge).item() == pytest.approx(expected, rel=1e-12)


@HINGE
def test_moving_both_views_changes_nothing(hinge: bool) -> None:
    z_a, z_b = draw(6, 4)
    moved = triplet(z_a + 5, z_b + 5, margin=6.0, hinge=hinge)
    torch.testing.assert_close(moved, triplet(z_a, z_b, margin=6.0, hinge=hinge))


@pytest.mark.parametrize(("margin", "hinged", "printed"), [(1.0, 0.0, -24.0), (25.0, 0.0, 0.0), (27.0, 2.0, 2.0)])
def test_two_points_by_hand(margin: float, hinged: float, printed: float) -> None:
    """Anchors on their positives, negatives at 5: 0 + margin - 25."""
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64)
    assert triplet(z, z, margin=margin).item() == pytest.approx(hinged, abs=1e-12)
    assert triplet(z, z, margin=margin, hinge=False).item() == pytest.approx(printed, abs=1e-12)


def test_as_printed_it_has_no_lower_bound() -> None:
    """S2: with anchors on their positives, stretching by s leaves margin - s²·d²; the hinge stops at 0."""
    z = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    values = [triplet(s * z, s * z, margin=1.0, hinge=False).item() for s in (1.0, 10.0, 1e3, 1e6)]
    assert values == pytest.approx([1 - s**2 for s in (1.0, 10.0, 1e3, 1e6)])
    assert triplet(1e6 * z, 1e6 * z, margin=1.0).item() == 0


def test_without_a_hinge_the_margin_is_a_constant_without_gradient() -> None:
    gradients = []
    for margin in (0.1, 100.0):
        z_a, z_b = (z.requires_grad_() for z in draw(4, 3))
        gradients.append(torch.cat(torch.autograd.grad(triplet(z_a, z_b, margin=margin, hinge=False), (z_a, z_b))))
    assert torch.equal(*gradients)


def test_the_hinge_does_nothing_where_every_triplet_violates_the_margin() -> None:
    z_a, z_b = draw(5, 3)
    assert triplet(z_a, z_b, margin=1e4).item() == triplet(z_a, z_b, margin=1e4, hinge=False).item()
    assert triplet(z_a, z_b, margin=6.0) > triplet(z_a, z_b, margin=6.0, hinge=False) + 1


def test_compares_distances_where_the_pair_loss_judges_each() -> None:
    """Nearest relative: far from its negative a positive costs nothing here, its d² = 1 there."""
    z_a = torch.tensor([[0.0], [100.0]], dtype=torch.float64)
    assert triplet(z_a, z_a + 1, margin=2.0).item() == 0
    assert pair_contrastive(z_a, z_a + 1, margin=2.0).item() == pytest.approx(2 * 1 / 4)


def test_agrees_with_pytorch_metric_learning() -> None:
    """TripletMarginLoss by default normalises, takes d and not d², and averages over violating triplets only."""
    z_a, z_b = draw(5, 3)
    theirs = TripletMarginLoss(
        margin=6.0, distance=LpDistance(normalize_embeddings=False, power=2), reducer=MeanReducer()
    )
    label = torch.arange(5)
    expected = theirs(z_a, label, ref_emb=z_b, ref_labels=label.clone())  # the same object would mean the same batch
    torch.testing.assert_close(triplet(z_a, z_b, margin=6.0), expected)


@HINGE
def test_one_pair_has_no_triplet(hinge: bool) -> None:
    assert is_finite(lambda a, b: triplet(a, b, margin=1.0, hinge=hinge), *draw(1, 3)).item() == 0
