"""Losses of single distances, pairs, triplets and classes: special points, limits, and their nearest relatives."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.alignment_uniformity import alignment_uniformity
from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.n_pair import n_pair
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.pair_contrastive import pair_contrastive
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.triplet import triplet
from hypersphere.objectives.tuplet import tuplet
from hypersphere.objectives.uniformity import uniformity

from .shared import draw, is_finite, value_and_gradients


def test_gradient_is_proposition_1s() -> None:
    """Norms paper, Prop. 1: the gradient of the cosine is (I - p p^T / |p|²) z_hat / |p|; here negative, over n."""
    p, z = draw()
    p.requires_grad_()
    (gradient,) = torch.autograd.grad(negative_cosine(p, z), p)
    for i in range(len(p)):
        norm = torch.linalg.vector_norm(p[i])
        project = torch.eye(4, dtype=torch.float64) - torch.outer(p[i], p[i]) / norm**2
        torch.testing.assert_close(gradient[i], -(project @ (z[i] / z[i].norm())) / norm / len(p))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_identical_and_antipodal_points_have_no_gradient(dtype: torch.dtype, sign: int) -> None:
    """Prop. 1: the gradient's magnitude is sin(phi) / ||p||, so 0 at both poles; the value is -cos(phi)."""
    p, _ = draw(4, 4, dtype=dtype)
    p.requires_grad_()
    loss = negative_cosine(p, sign * p.detach())
    (gradient,) = torch.autograd.grad(loss, p)
    step = torch.finfo(dtype).eps
    assert loss.item() == pytest.approx(-sign, abs=4 * step)
    assert gradient.abs().max().item() < 4 * step


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_negative_cosine_is_to_the_byte_what_the_first_release_gave(
    dtype: torch.dtype,
) -> None:
    p, z = (x.requires_grad_() for x in draw(8, 16, dtype=dtype))
    first = -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(dim=1).mean()
    ours = negative_cosine(p, z)
    assert torch.equal(ours, first)
    assert torch.equal(torch.autograd.grad(ours, p)[0], torch.autograd.grad(first, p)[0])


def test_squared_error_is_twice_simsiams_loss_up_to_a_constant_but_not_a_mean_over_dimensions() -> None:
    p, z = (x.requires_grad_() for x in draw(5, 4))
    loss, simsiam = normalised_squared_error(p, z), negative_cosine(p, z)
    torch.testing.assert_close(loss, 2 + 2 * simsiam)
    torch.testing.assert_close(*(torch.autograd.grad(x, p)[0] for x in (loss, 2 * simsiam)))
    unit_p, unit_z = (torch.nn.functional.normalize(x, dim=1) for x in (p, z))
    torch.testing.assert_close(loss, 4 * torch.nn.functional.mse_loss(unit_p, unit_z))  # torch divides by d = 4
    assert abs(loss - simsiam) > 0.1


def test_nothing_cancels_near_cosine_one() -> None:
    """By hand: an angle of 1e-5 costs 1e-10; 2 - 2 cos in float32 is 0 there."""
    p = torch.tensor([[1.0, 0.0]])
    z = torch.tensor([[1.0, 1e-5]])
    assert normalised_squared_error(p, z).item() == pytest.approx(1e-10, rel=1e-4)
    assert (2 + 2 * negative_cosine(p, z)).item() == 0


def test_a_zero_vector_is_at_squared_distance_one() -> None:
    zero, one = torch.zeros(1, 3), torch.tensor([[0.0, 2.0, 0.0]])
    assert normalised_squared_error(zero, one).item() == 1
    assert normalised_squared_error(zero, zero).item() == 0


def test_power_2_is_the_squared_error_and_2_plus_twice_the_negative_cosine_but_power_1_is_not() -> None:
    z_a, z_b = draw()
    value = alignment(z_a, z_b, power=2.0)
    torch.testing.assert_close(value, normalised_squared_error(z_a, z_b))
    torch.testing.assert_close(value, 2 + 2 * negative_cosine(z_a, z_b))
    assert abs(value - alignment(z_a, z_b, power=1.0)) > 0.1


def test_weight_0_is_0_with_no_gradient() -> None:
    z_a, z_b = draw()
    assert alignment(z_a, z_b, weight=0.0).item() == 0
    assert not value_and_gradients(partial(alignment, weight=0.0), z_a, z_b)[1].any()


def test_a_zero_embedding_is_1_away_from_every_other() -> None:
    assert alignment(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item() == pytest.approx(1, abs=1e-6)


def test_a_large_t_does_not_underflow() -> None:
    """By hand: two points, one pair, so the loss is -t times their squared distance exactly."""
    z = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert uniformity(z, z, t=1e4).item() == pytest.approx(-4e4)


def test_a_zero_embedding_counts_as_cosine_0() -> None:
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert uniformity(z, z, t=2.0).item() == pytest.approx(-4)


def test_with_one_weight_0_it_is_the_other_term() -> None:
    z_a, z_b = draw()
    torch.testing.assert_close(alignment_uniformity(z_a, z_b, uniform_weight=0.0), alignment(z_a, z_b))
    torch.testing.assert_close(alignment_uniformity(z_a, z_b, align_weight=0.0), uniformity(z_a, z_b))


LABELS = torch.tensor([2, 0, 3, 3, 1])


def scored(dtype: torch.dtype = torch.float64) -> Tensor:
    """Four scores of five images."""
    return draw(5, 4, dtype=dtype)[0]


def test_cross_entropy_is_self_distillation_with_a_teacher_that_knows_the_label() -> None:
    """Nearest relative: equal when the teacher is certain, and another number when it is not."""
    teacher = torch.eye(4, dtype=torch.float64)[LABELS]
    distilled = partial(self_distillation, scored(), teacher, torch.zeros(4).double(), student_temperature=1.0)
    torch.testing.assert_close(distilled(teacher_temperature=1e-3), cross_entropy(scored(), LABELS))
    assert abs(distilled(teacher_temperature=1.0) - cross_entropy(scored(), LABELS)) > 1e-2


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_labels_of_any_integer_type(dtype: torch.dtype) -> None:
    assert torch.equal(cross_entropy(scored(), LABELS.to(dtype)), cross_entropy(scored(), LABELS))


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_scores_whose_exponentials_are_infinite_are_finite(scale: float) -> None:
    """The loss is then the largest gap itself: scale times that of the scores."""
    value = is_finite(lambda s: cross_entropy(s, LABELS), scale * scored(torch.float32))
    gaps = scored().max(dim=1).values - scored()[torch.arange(5), LABELS]
    assert value.item() == pytest.approx(scale * gaps.mean().item(), rel=1e-4)


def test_the_margin_is_on_the_distance_and_not_on_its_square() -> None:
    """Nearest relative: max(0, margin - d²), as squared distances in a pair loss are often used."""
    z_a = torch.tensor([[0.0], [0.5]], dtype=torch.float64)
    relative = (0 + 0 + 2 * max(0, 1 - 0.25)) / 4
    assert pair_contrastive(z_a, z_a, margin=1.0).item() == pytest.approx(2 * 0.5**2 / 4)
    assert pair_contrastive(z_a, z_a, margin=1.0).item() != pytest.approx(relative, abs=0.1)


def test_coinciding_dissimilar_points_cost_the_margin_squared_and_do_not_move() -> None:
    z = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    loss = pair_contrastive(z, z.detach(), margin=3.0)
    assert loss.item() == pytest.approx(2 * 9 / 4)
    (gradient,) = torch.autograd.grad(loss, z)
    assert not gradient.any()


HINGE = pytest.mark.parametrize("hinge", [True, False])


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


@HINGE
def test_one_pair_has_no_triplet(hinge: bool) -> None:
    assert is_finite(lambda a, b: triplet(a, b, margin=1.0, hinge=hinge), *draw(1, 3)).item() == 0


def test_n_pair_is_the_tuplet_loss_of_classes_all_different() -> None:
    """Where it provably coincides, and not where two pairs are of one class."""
    z_a, z_b = draw(5, 4, scale=1)
    torch.testing.assert_close(n_pair(z_a, z_b), tuplet(z_a, z_b, torch.arange(5), normalise=False))
    assert n_pair(z_a, z_b) > tuplet(z_a, z_b, torch.tensor([0, 1, 2, 1, 0]), normalise=False) + 1e-2
