"""Losses of a positive against negatives: what their papers say of them, their limits, and their nearest relatives."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.debiased import debiased
from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.decoupled_one_direction import decoupled_one_direction
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.generalised_info_nce import generalised_info_nce, info_nce_of_logits
from hypersphere.objectives.hard_contrastive import hard_contrastive
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.nce import nce
from hypersphere.objectives.nt_xent import nt_xent

from . import oracles
from .shared import (
    Map,
    cosines_and_targets,
    cross_entropies,
    dot,
    draw,
    has_gradient_of_value,
    is_finite,
    mean,
    rows,
    value_and_gradients,
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nt_xent_is_to_the_byte_what_the_first_release_gave(dtype: torch.dtype) -> None:
    """Published runs rest on these bytes: torch's own normalisation, masked diagonal, cross-entropy."""
    z_a, z_b = (z.requires_grad_() for z in draw(8, 16, dtype=dtype))
    z = torch.nn.functional.normalize(torch.cat([z_a, z_b]), dim=1)
    logits = (z @ z.T / 0.5).masked_fill(torch.eye(16, dtype=torch.bool), float("-inf"))
    first = torch.nn.functional.cross_entropy(logits, torch.arange(16).roll(8))
    ours = nt_xent(z_a, z_b, temperature=0.5)
    assert torch.equal(ours, first)
    for mine, theirs in zip(torch.autograd.grad(ours, (z_a, z_b)), torch.autograd.grad(first, (z_a, z_b)), strict=True):
        assert torch.equal(mine, theirs)


def test_without_the_anchor_it_is_nt_xent_and_with_it_is_not() -> None:
    """S4: SimCLR's sum has the indicator k != i."""
    values, gradients = [], []
    for loss in (
        lambda a, b: info_nce(a, b, temperature=0.3, include_self=False),
        lambda a, b: nt_xent(a, b, temperature=0.3),
        lambda a, b: info_nce(a, b, temperature=0.3),
    ):
        leaves = [z.requires_grad_() for z in draw(5, 4)]
        values.append(loss(*leaves))
        gradients.append(torch.cat(torch.autograd.grad(values[-1], leaves)))
    torch.testing.assert_close(values[0], values[1])
    torch.testing.assert_close(gradients[0], gradients[1])
    assert values[2] > values[1] + 0.1
    assert (gradients[2] - gradients[1]).norm() > 0.01 * gradients[1].norm()


@pytest.mark.parametrize(("n", "t"), [(1, 0.5), (2, 0.5), (4, 0.1), (8, 2.0)])
def test_lower_bound_with_the_anchor_by_hand(n: int, t: float) -> None:
    """Own view at cosine 1, all others at -1: log(2 + (2n-2) e^(-2/t)), reached for n <= 2; log 2 for one image, whose
    loss without the anchor is 0."""
    assert info_nce(*draw(n, 3), temperature=t).item() > math.log(2 + (2 * n - 2) * math.exp(-2 / t))
    if n <= 2:
        z = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)[:n]
        bound = math.log(2 + (2 * n - 2) * math.exp(-2 / t))
        assert info_nce(z, z, temperature=t).item() == pytest.approx(bound, abs=1e-12)


PLAIN: Map = partial(cosine_logits, temperature=0.25)


def test_both_views_is_nt_xent() -> None:
    z = draw(6, 4)
    ours = value_and_gradients(lambda a, b: generalised_info_nce(a, b, PLAIN, negatives="both_views"), *z)
    torch.testing.assert_close(ours, value_and_gradients(lambda a, b: nt_xent(a, b, temperature=0.25), *z))


def test_other_view_is_cross_entropy_over_the_keys() -> None:
    """Independent: torch's cosine similarity and cross-entropy; it is one direction, and differs from NT-Xent."""
    z_a, z_b = draw(6, 4)
    expected = F.cross_entropy(F.cosine_similarity(z_a[:, None], z_b[None], dim=2) / 0.25, torch.arange(6))
    found = generalised_info_nce(z_a, z_b, PLAIN, negatives="other_view")
    torch.testing.assert_close(found, expected)
    assert abs(found - generalised_info_nce(z_b, z_a, PLAIN, negatives="other_view")) > 1e-3
    assert abs(found - nt_xent(z_a, z_b, temperature=0.25)) > 1e-2


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


@pytest.mark.parametrize("t", [0.1, 1.0])
def test_nt_xent_of_an_anchor_is_the_softplus_of_the_decoupled_loss(t: float) -> None:
    """-log(e^p / (e^p + S)) = log(1 + e^(log S - p)), anchor by anchor, and so for no mean of several that differ."""
    z_a, z_b = draw()
    u = rows(z_a, z_b)
    without = cross_entropies(u, lambda a, b: dot(a, b) / t, lambda i, j, k: k not in (i, j))
    softplus = mean([math.log1p(math.exp(loss)) for loss in without])
    assert nt_xent(z_a, z_b, temperature=t).item() == pytest.approx(softplus, rel=1e-12)
    assert decoupled(z_a, z_b, temperature=t).item() == pytest.approx(mean(without), rel=1e-12)
    assert abs(mean(without) - softplus) > 1e-2


def test_one_image_has_no_negative() -> None:
    z_a, z_b = draw(1, 3)
    assert decoupled_one_direction(z_a, z_b, temperature=0.5).item() == -math.inf


@pytest.mark.parametrize(
    ("n", "share", "kept"),
    [(5, 0.25, 2), (5, 0.3, 3), (5, 0.01, 1), (26, 0.14, 7), (6, 0.1, 1), (5, 1.0, 8), (5, 0.0, 0)],
)
@pytest.mark.parametrize("t", [0.07, 0.3])
def test_keeps_the_share_of_negatives_rounded_up(n: int, share: float, kept: int, t: float) -> None:
    """26 images have 50 negatives each, of which 0.14 are 7 (and 7.000000000000001 in binary)."""
    z_a, z_b = draw(n)
    expected = oracles.hard_contrastive(z_a.tolist(), z_b.tolist(), t, kept / (2 * n - 2))
    assert hard_contrastive(z_a, z_b, temperature=t, share=share).item() == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


def test_defaults_are_the_papers() -> None:
    """No temperature in Eq. 1, and x- drawn as x is."""
    z_a, z_b = draw(5, 4)
    assert nce(z_a, z_b).item() == pytest.approx(oracles.nce(z_a.tolist(), z_b.tolist(), 1.0, "same_view"), rel=1e-12)


@pytest.mark.parametrize(
    ("negatives", "symmetric"), [("both_views", nt_xent), ("other_view", multiview_coding)], ids=["simclr", "cmc"]
)
def test_both_directions_together_are_nt_xent_or_multiview_coding(negatives: str, symmetric: object) -> None:
    z = draw(5, 4)
    ours = value_and_gradients(
        lambda a, b: (
            (nce(a, b, temperature=0.3, negatives=negatives) + nce(b, a, temperature=0.3, negatives=negatives)) / 2
        ),
        *z,
    )
    theirs = value_and_gradients(lambda a, b: symmetric(a, b, temperature=0.3), *z)  # type: ignore[operator]
    torch.testing.assert_close(ours, theirs)


def test_the_literal_reading_differs_from_its_relatives() -> None:
    """Negatives of the same view only are neither SimCLR's nor CMC's, in either direction or both."""
    z_a, z_b = draw(5, 4)
    both_ways = (nce(z_a, z_b, temperature=0.5) + nce(z_b, z_a, temperature=0.5)) / 2
    for relative in (
        nt_xent(z_a, z_b, temperature=0.5),
        info_nce(z_a, z_b, temperature=0.5),
        multiview_coding(z_a, z_b, temperature=0.5),
    ):
        assert abs(both_ways - relative) > 1e-2
        assert abs(nce(z_a, z_b, temperature=0.5) - relative) > 1e-2


@pytest.mark.parametrize("normalised", [True, False])
def test_l9_a_projection_that_starts_at_zero_stays_there(normalised: bool) -> None:
    """Sec. 5.1 starts P at 0 (erratum L9). Un-normalised, Px·Px' = x'ᵀPᵀPx has gradient 0 at P = 0; normalised, 0/0 is
    taken as 0. Adam with gradient 0 does not move. The control starts beside it."""
    z_a, z_b = draw(6, 2)

    def after(start: Tensor) -> tuple[Tensor, Tensor]:
        p = start.clone().requires_grad_()
        adam = torch.optim.Adam([p], lr=0.001)
        steps = []
        for _ in range(3):
            adam.zero_grad()
            a, b = z_a @ p.T, z_b @ p.T
            if normalised:
                loss = nce(a, b) + distance_polarization(a, b, weight=0.1)
            else:
                logits = torch.cat([(a * b).sum(1, keepdim=True), (a @ a.T) - 1e9 * torch.eye(6)], dim=1)
                d = (1 - a @ a.T) / 2
                loss = -logits.log_softmax(1)[:, 0].mean() + 0.1 * (-(d - 0.1) * (d - 0.5)).relu().mean()
            loss.backward()
            assert p.grad is not None
            steps.append(p.grad.abs().max())
            adam.step()
        return p.detach(), torch.stack(steps)

    zero = torch.zeros(2, 2, dtype=torch.float64)
    p, gradients = after(zero)
    assert torch.equal(p, zero)
    assert gradients.max() == 0
    p, gradients = after(zero + 1e-2 * torch.tensor([[1.0, 0.3], [-0.2, 0.5]], dtype=torch.float64))
    assert gradients.min() > 1e-4
    assert (p - 1e-2 * torch.tensor([[1.0, 0.3], [-0.2, 0.5]])).abs().max() > 1e-3


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
        assert abs(debiased(z_a, z_b, temperature=0.5, tau_plus=tau_plus) - decoupled(z_a, z_b, temperature=0.5)) > 0.05
