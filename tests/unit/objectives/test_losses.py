"""What the documents say of single losses: special points, limits, closed forms and their nearest relatives."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere import objectives
from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.debiased import debiased
from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.double_metric import double_metric
from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.geometry import unit
from hypersphere.objectives.hard_contrastive import hard_contrastive
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.nce import nce
from hypersphere.objectives.nce_memory_bank import nce_memory_bank
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.pair_contrastive import pair_contrastive
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.swapped_prediction import codes, swapped_prediction
from hypersphere.objectives.triplet import triplet

from ...fixtures import Refused
from . import oracles
from .shared import (
    Loss,
    cosine,
    cosines_and_targets,
    draw,
    has_gradient_of_value,
    is_finite,
    scores,
    simplex,
    slopes,
    value_and_gradients,
)


def first_nt_xent(z_a: Tensor, z_b: Tensor) -> Tensor:
    z = F.normalize(torch.cat([z_a, z_b]), dim=1)
    logits = (z @ z.T / 0.5).masked_fill(torch.eye(16, dtype=torch.bool), float("-inf"))
    return F.cross_entropy(logits, torch.arange(16).roll(8))


def first_negative_cosine(p: Tensor, z: Tensor) -> Tensor:
    return -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(dim=1).mean()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("loss", "first"),
    [(partial(nt_xent, temperature=0.5), first_nt_xent), (negative_cosine, first_negative_cosine)],
)
def test_to_the_byte_what_the_first_release_gave(
    loss: Loss, first: Loss, dtype: torch.dtype
) -> None:
    """Published runs rest on these bytes: torch's own normalisation, masked diagonal, cross-entropy."""
    z = draw(8, 16, dtype=dtype)
    for ours, theirs in zip(
        value_and_gradients(loss, *z), value_and_gradients(first, *z), strict=True
    ):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("n", "t"), [(1, 0.5), (2, 0.5), (4, 0.1), (8, 2.0)])
def test_lower_bound_with_the_anchor_by_hand(n: int, t: float) -> None:
    """Own view at cosine 1, all others at -1: log(2 + (2n-2) e^(-2/t)), reached for n <= 2; log 2 for one image, whose
    loss without the anchor is 0."""
    assert info_nce(*draw(n, 3), temperature=t).item() > math.log(
        2 + (2 * n - 2) * math.exp(-2 / t)
    )
    if n <= 2:
        z = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)[:n]
        bound = math.log(2 + (2 * n - 2) * math.exp(-2 / t))
        assert info_nce(z, z, temperature=t).item() == pytest.approx(bound, abs=1e-12)


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


@pytest.mark.parametrize(
    "loss",
    [
        partial(nt_xent, temperature=0.5),
        partial(debiased, temperature=0.5, tau_plus=0.1),
        partial(hard_contrastive, temperature=0.5, share=0.3),
        partial(objectives.hard_negative, temperature=0.5, tau_plus=0.1, concentration=1.0),
        partial(triplet, margin=1.0, hinge=True),
        partial(triplet, margin=1.0, hinge=False),
        partial(objectives.distance_polarization, weight=1.0),
        objectives.n_pair,
    ],
)
def test_a_loss_with_a_positive_beside_its_negatives_costs_nothing_of_one_image(loss: Loss) -> None:
    assert loss(*draw(1, 3)).item() == 0
    is_finite(loss, *draw(1, 3))


@pytest.mark.parametrize(
    ("n", "share", "kept"),
    [(5, 0.25, 2), (5, 0.3, 3), (5, 0.01, 1), (26, 0.14, 7), (6, 0.1, 1), (5, 1.0, 8), (5, 0.0, 0)],
)
@pytest.mark.parametrize("t", [0.07, 0.3])
def test_keeps_the_share_of_negatives_rounded_up(n: int, share: float, kept: int, t: float) -> None:
    """26 images have 50 negatives each, of which 0.14 are 7 (and 7.000000000000001 in binary)."""
    z_a, z_b = draw(n)
    expected = oracles.hard_contrastive(z_a.tolist(), z_b.tolist(), t, kept / (2 * n - 2))
    found = hard_contrastive(z_a, z_b, temperature=t, share=share).item()
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("negatives", "symmetric"), [("both_views", nt_xent), ("other_view", multiview_coding)]
)
def test_both_directions_together_are_nt_xent_or_multiview_coding(
    negatives: str, symmetric: Loss
) -> None:
    z, one_way = draw(5, 4), partial(nce, temperature=0.3, negatives=negatives)
    ours = value_and_gradients(lambda a, b: (one_way(a, b) + one_way(b, a)) / 2, *z)
    torch.testing.assert_close(ours, value_and_gradients(partial(symmetric, temperature=0.3), *z))


@pytest.mark.parametrize("n", [1, 3, 512, 10**9])
def test_range_on_the_sphere_is_below_4_without_temperature(n: int) -> None:
    """All cosines in [-1, 1], t = 1, n negatives: from log(1 + n e^-2) to log(1 + n e^2), less than 4 apart, which is
    where the 4/lambda of Theorem 3 and footnote 5 comes from; at t = 0.1 the same argument gives 40 (erratum L7)."""
    spread = math.log1p(n * math.exp(2)) - math.log1p(n * math.exp(-2))
    assert 0 < spread < 4
    assert math.log1p(n * math.exp(20)) - math.log1p(n * math.exp(-20)) > 4
    if n <= 3:
        x = torch.tensor([1.0, 0.0], dtype=torch.float64)
        worst_a = x.expand(n + 1, 2)
        worst = nce(worst_a, -worst_a)  # positives opposite, negatives identical
        assert worst.item() == pytest.approx(math.log1p(n * math.exp(2)), abs=1e-12)


def test_where_the_corrected_sum_falls_to_its_bound() -> None:
    """Second views close to the first: it holds for all anchors, at drawn points for few or none."""
    (z_a, noise), loss = draw(4, 3), partial(debiased, temperature=0.3, tau_plus=0.5)
    z_b = z_a + 0.01 * noise
    expected = oracles.debiased(z_a.tolist(), z_b.tolist(), 0.3, 0.5)
    assert loss(z_a, z_b).item() == pytest.approx(expected, rel=1e-12)
    has_gradient_of_value(loss, z_a, z_b)
    for t in (1e-3, 1e-6):
        is_finite(partial(debiased, temperature=t, tau_plus=0.5), z_a.float(), z_b.float())


def test_nothing_left_after_the_correction_is_finite() -> None:
    """One negative at the anchor's own place, one opposite, N = 2, tau_plus = 1/2: e^(1/t) - e^(1/t) is 0 to the bit,
    whose logarithm is infinite; that anchor costs log(1 + 2 e^(-2/t)) = 0."""
    z_a = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    z_b = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    value = is_finite(lambda a, b: debiased(a, b, temperature=1e-3, tau_plus=0.5), z_a, z_b)
    # the second image's views are opposite. At e1: pos e^(-1/t), negatives 2 e^(1/t), so N g = 4 e^(1/t). At -e1:
    # pos and negatives all e^(-1/t), so N g = 2 e^(-1/t)
    third, last = 2000 + math.log(4), math.log(3)
    assert value.item() == pytest.approx((third + last) / 4, rel=1e-6)


def test_x1_dcl_is_not_decoupled_contrastive_learning() -> None:
    """lightly's DCLLoss is Yeh et al.'s: no positive in the denominator, nothing subtracted."""
    z_a, z_b = draw(5, 4)
    for tau_plus in (0.0, 0.1):
        assert (
            abs(
                debiased(z_a, z_b, temperature=0.5, tau_plus=tau_plus)
                - decoupled(z_a, z_b, temperature=0.5)
            )
            > 0.05
        )


def dm(sign: str, t: float = 0.5, alpha: float = 0.25, beta: float = 0.75) -> Loss:
    return partial(double_metric, temperature=t, alpha=alpha, beta=beta, sign=sign)


@pytest.mark.parametrize("t", [0.07, 1.0])
def test_alpha_1_and_beta_0_is_nt_xent_to_the_bit(t: float) -> None:
    z_a, z_b = draw()
    for sign in ("printed", "contrastive"):
        assert torch.equal(dm(sign, t, 1, 0)(z_a, z_b), nt_xent(z_a, z_b, temperature=t))


def slope_towards_positives(loss: Loss, z: Tensor) -> float:
    """Mean over points of the loss's derivative along the tangent u_j - (u_i·u_j) u_i, j the positive of i."""
    z_a, z_b = z.chunk(2)
    g_a, g_b = value_and_gradients(loss, z_a, z_b)[1].chunk(2)
    cosine = (z_a * z_b).sum(dim=1, keepdim=True)
    return float((g_a * (z_b - cosine * z_a)).sum() + (g_b * (z_a - cosine * z_b)).sum()) / len(z)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(("factor", "direction"), [(0.5, 1), (1.0, 0), (1.5, -1)])
@pytest.mark.parametrize(
    ("alpha", "beta", "t", "threshold"),
    [
        (0.5, 0.5, 0.8, 0.8),
        (0.75, 0.25, 0.07, 0.0233),
        (1.0, 1.0, 0.07, 0.07),
        (0.25, 0.75, 0.07, 0.21),
    ],
    ids=["DM2 at a high temperature", "DM1", "DM4", "DM3"],
)
def test_printed_sign_repels_positives_closer_than_beta_t_over_alpha(
    n: int, factor: float, direction: int, alpha: float, beta: float, t: float, threshold: float
) -> None:
    """By hand: 2n points a distance D from each other give every candidate the probability p = 1/(2n-1). A positive's
    cosine then has the slope (1-p) F, a negative's -p F, F = beta/D - alpha/t; moving each point towards its positive
    therefore changes the loss by (1-p) F D²/(2n) per point: up, which is repulsion, where D < beta·t/alpha.
    """
    assert beta * t / alpha == pytest.approx(threshold, rel=2e-3)
    side = factor * beta * t / alpha
    expected = (1 - 1 / (2 * n - 1)) * (beta / side - alpha / t) * side**2 / (2 * n)
    z = simplex(2 * n, side)
    assert slope_towards_positives(dm("printed", t, alpha, beta), z) == pytest.approx(
        expected, abs=1e-12
    )
    assert (expected > 1e-12) - (expected < -1e-12) == direction
    assert slope_towards_positives(dm("contrastive", t, alpha, beta), z) < 0


def test_at_temperature_1_dm3_repels_positives_at_every_distance() -> None:
    """Its threshold of 3 is beyond 2, the largest distance there is."""
    for side in (0.5, 1.2, 1.6):
        assert slope_towards_positives(dm("printed", 1.0), simplex(4, side)) > 0


@pytest.mark.trained
@pytest.mark.parametrize("t", [0.07, 1.0])
@pytest.mark.parametrize("sign", ["printed", "contrastive"])
def test_free_points_align_only_with_the_contrastive_sign(sign: str, t: float) -> None:
    """DM3 on 64 free points of the sphere in d = 8 (erratum D1): as printed, positives end at a cosine of 0.65 (t =
    0.07) or below that of negatives (t = 1: -0.20 against 0.40), measured; NT-Xent and the other sign end above 0.99.
    """
    z = (torch.stack(draw(32, 8)) / 3).requires_grad_()
    optimiser = torch.optim.Adam([z], lr=0.05)
    for _ in range(300):
        optimiser.zero_grad()
        dm(sign, t)(z[0], z[1]).backward()
        optimiser.step()
    u = unit(z.detach().flatten(0, 1))
    cosines = u @ u.T
    positive = float(cosines.diagonal(32).mean())
    negative = float((cosines.sum() - 64 - 64 * positive) / (64 * 62))
    if sign == "contrastive":
        assert positive > 0.99
        assert abs(negative) < 0.05
    elif t == 1.0:
        assert positive < -0.1
        assert negative > 0.3
    else:
        assert 0.5 < positive < 0.8


def test_gradient_is_proposition_1s() -> None:
    """Norms paper, Prop. 1: the gradient of the cosine is (I - p p^T / |p|²) z_hat / |p|; here negative, over n."""
    p, z = draw()
    _, gradient = value_and_gradients(lambda x: negative_cosine(x, z), p)
    for i in range(len(p)):
        norm = torch.linalg.vector_norm(p[i])
        project = torch.eye(4, dtype=torch.float64) - torch.outer(p[i], p[i]) / norm**2
        torch.testing.assert_close(gradient[i], -(project @ (z[i] / z[i].norm())) / norm / len(p))


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
    losses = [partial(triplet, margin=margin, hinge=False) for margin in (0.1, 100.0)]
    assert torch.equal(*(value_and_gradients(loss, *draw(4, 3))[1] for loss in losses))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_labels_of_any_integer_type(dtype: torch.dtype) -> None:
    scores, labels = draw(5, 4)[0], torch.tensor([2, 0, 3, 3, 1])
    assert torch.equal(cross_entropy(scores, labels.to(dtype)), cross_entropy(scores, labels))


INDEX = torch.tensor([4, 0, 4, 2])
NOISE = torch.tensor([[1, 1, 3], [5, 2, 0], [0, 4, 3], [3, 5, 1]])


def banked(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Four embeddings and a bank of six images."""
    return draw(4, 3, dtype=dtype)[0], draw(6, 3, seed=1, dtype=dtype)[0]


def test_gradient_is_that_of_the_value_at_fixed_normaliser() -> None:
    """Central differences of the oracle with Z held: the loss's own value moves Z, so gradcheck would not do."""
    z, bank = banked()
    lists = INDEX.tolist(), bank.tolist(), NOISE.tolist()
    big_z = oracles.normaliser(z.tolist(), lists[1], lists[2], 0.5)
    loss = partial(
        nce_memory_bank, index=INDEX, bank=bank, noise=NOISE, temperature=0.5, proximal=0.7
    )
    expected = slopes(lambda x: oracles.nce_memory_bank(x.tolist(), *lists, 0.5, 0.7, big_z), z)
    torch.testing.assert_close(value_and_gradients(loss, z)[1], expected, atol=1e-8, rtol=0)


def test_its_gradient_tends_to_that_of_the_softmax_it_estimates() -> None:
    """Nearest relative. With all images as noise r times over, m = r·images: h -> 0, and the gradient tends to
    (sum of P(k) cos'(k) - cos'(own))/t, the softmax's; the values differ."""
    z, bank = banked()
    given = {"index": INDEX[:1], "bank": bank, "temperature": 0.5}
    value, softmax = value_and_gradients(partial(nonparametric_softmax, **given), z[:1])
    gaps = []
    for repeats in (1, 10, 1000):
        noise = torch.arange(6).repeat(repeats)[None]
        estimate, gradient = value_and_gradients(
            partial(nce_memory_bank, **given, noise=noise), z[:1]
        )
        gaps.append(((gradient - softmax).norm() / softmax.norm()).item())
        assert abs(estimate - value) > 0.5
    assert gaps[0] > 0.05
    assert gaps[2] < 1e-3 < gaps[1]


def test_the_literal_denominator_lacks_the_positive_and_so_has_no_probability() -> None:
    """S3, by hand: one image, its embedding turned round since: -log(e^(-1/t) / e^(1/t)) = 2/t, where a softmax over
    the bank of one image is 1 and costs nothing."""
    z = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    index = torch.tensor([0])
    for t in (0.5, 2.0):
        literal = nonparametric_softmax(z, index, -z, temperature=t, denominator="batch")
        assert literal.item() == pytest.approx(2 / t, abs=1e-12)
        assert nonparametric_softmax(z, index, -z, temperature=t).item() == pytest.approx(
            0, abs=1e-12
        )


def test_the_literal_loss_is_that_of_the_bank_when_the_batch_is_the_bank() -> None:
    """Where it provably coincides: all images at once, unmoved since the last epoch."""
    bank = banked()[1]
    index = torch.arange(6)
    by_batch = nonparametric_softmax(
        bank, index, bank, temperature=0.5, proximal=3.0, denominator="batch"
    )
    torch.testing.assert_close(by_batch, nonparametric_softmax(bank, index, bank, temperature=0.5))


def test_the_proximal_term_changes_value_and_gradient_as_a_squared_chord() -> None:
    """2 beta (1 - cos): unit vectors, whatever the norms are."""
    z, bank = banked()
    without = nonparametric_softmax(z, INDEX, bank, temperature=0.5)
    loss = nonparametric_softmax(z, INDEX, bank, temperature=0.5, proximal=2.0)
    cosines = [cosine(a, bank.tolist()[i]) for a, i in zip(z.tolist(), INDEX.tolist(), strict=True)]
    assert (loss - without).item() == pytest.approx(2 * 2 * (1 - sum(cosines) / 4), abs=1e-12)


def test_gradient_reaches_the_student_alone() -> None:
    leaves = [z.requires_grad_() for z in (*draw(5, 4), draw(1, 4, seed=1)[0][0])]
    loss = self_distillation(*leaves, student_temperature=0.5, teacher_temperature=0.2)
    student, *others = torch.autograd.grad(loss, leaves, allow_unused=True)
    assert student.any()
    assert others == [None, None]


def test_gradient_is_prediction_minus_code() -> None:
    """By hand: d/ds of -q·log softmax(s/t) is (softmax(s/t) - q)/t for each of 2n predictions; codes pass nothing."""
    a, b = scores(5, 4)
    _, gradients = value_and_gradients(lambda x, y: swapped_prediction(x, y, temperature=0.3), a, b)
    p, q = (
        (torch.cat([a, b]) / 0.3).softmax(dim=1),
        torch.cat([codes(b, 0.05, 3), codes(a, 0.05, 3)]),
    )
    torch.testing.assert_close(gradients, (p - q) / 0.3 / 10)


ONE_IMAGE = {
    "uniformity": lambda a, b: objectives.uniformity(a, b),
    "alignment_uniformity": lambda a, b: objectives.alignment_uniformity(a, b),
    "matched_uniformity": lambda a, b: objectives.matched_uniformity(a, b, weight=1.0),
    "decoupled": lambda a, b: objectives.decoupled(a, b, temperature=0.5),
    "decoupled_one_direction": lambda a, b: objectives.decoupled_one_direction(
        a, b, temperature=0.5
    ),
}
"""Losses that are a logarithm of a sum over negatives alone, or of a mean over pairs of images."""


@pytest.mark.parametrize("name", ONE_IMAGE)
@pytest.mark.parametrize("images", [0, 1])
def test_a_loss_of_negatives_alone_refuses_one_image(
    refused: Refused, name: str, images: int
) -> None:
    with refused("uniformity" if "uniformity" in name else name):
        ONE_IMAGE[name](torch.ones(images, 3), torch.ones(images, 3))


@pytest.mark.parametrize("name", ONE_IMAGE)
def test_two_images_are_enough(name: str) -> None:
    z_a = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], requires_grad=True)
    loss = ONE_IMAGE[name](z_a, z_a.detach().flip(1))
    (gradient,) = torch.autograd.grad(loss, z_a)
    assert loss.isfinite()
    assert gradient.isfinite().all()
