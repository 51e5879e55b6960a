"""Losses of single distances, pairs, triplets and classes: special points, limits, and their nearest relatives."""

import pytest
import torch
import torch.nn.functional as F

from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.pair_contrastive import pair_contrastive
from hypersphere.objectives.triplet import triplet

from .shared import draw, is_finite


def test_gradient_is_proposition_1s() -> None:
    """Norms paper, Prop. 1: the gradient of the cosine is (I - p p^T / |p|²) z_hat / |p|; here negative, over n."""
    p, z = draw()
    p.requires_grad_()
    (gradient,) = torch.autograd.grad(negative_cosine(p, z), p)
    for i in range(len(p)):
        norm = torch.linalg.vector_norm(p[i])
        project = torch.eye(4, dtype=torch.float64) - torch.outer(p[i], p[i]) / norm**2
        torch.testing.assert_close(gradient[i], -(project @ (z[i] / z[i].norm())) / norm / len(p))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_negative_cosine_is_to_the_byte_what_the_first_release_gave(
    dtype: torch.dtype,
) -> None:
    p, z = (x.requires_grad_() for x in draw(8, 16, dtype=dtype))
    first = -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(dim=1).mean()
    ours = negative_cosine(p, z)
    assert torch.equal(ours, first)
    assert torch.equal(torch.autograd.grad(ours, p)[0], torch.autograd.grad(first, p)[0])


def test_nothing_cancels_near_cosine_one() -> None:
    """By hand: an angle of 1e-5 costs 1e-10; 2 - 2 cos in float32 is 0 there."""
    p = torch.tensor([[1.0, 0.0]])
    z = torch.tensor([[1.0, 1e-5]])
    assert normalised_squared_error(p, z).item() == pytest.approx(1e-10, rel=1e-4)
    assert (2 + 2 * negative_cosine(p, z)).item() == 0


def test_the_margin_is_on_the_distance_and_not_on_its_square() -> None:
    """Nearest relative: max(0, margin - d²), as squared distances in a pair loss are often used."""
    z_a = torch.tensor([[0.0], [0.5]], dtype=torch.float64)
    relative = (0 + 0 + 2 * max(0, 1 - 0.25)) / 4
    assert pair_contrastive(z_a, z_a, margin=1.0).item() == pytest.approx(2 * 0.5**2 / 4)
    assert pair_contrastive(z_a, z_a, margin=1.0).item() != pytest.approx(relative, abs=0.1)


def test_a_triplet_as_printed_has_no_lower_bound() -> None:
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


@pytest.mark.parametrize("hinge", [True, False])
def test_one_pair_has_no_triplet(hinge: bool) -> None:
    assert is_finite(lambda a, b: triplet(a, b, margin=1.0, hinge=hinge), *draw(1, 3)).item() == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_labels_of_any_integer_type(dtype: torch.dtype) -> None:
    scores, labels = draw(5, 4)[0], torch.tensor([2, 0, 3, 3, 1])
    assert torch.equal(cross_entropy(scores, labels.to(dtype)), cross_entropy(scores, labels))
