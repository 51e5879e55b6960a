"""Eq. 12, type I, and Alg. 5 of the margins paper; the decoupled loss that it is at alpha = 1."""

import math
import os
from functools import partial

import pytest
import torch

from hypersphere.objectives.attenuation_type_i import attenuation_type_i
from hypersphere.objectives.attenuation_type_ii import attenuation_type_ii
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce, info_nce_of_logits
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.objectives.pairs import Negatives

from .shared import cosine_gradient, cosines_and_targets, draw, softmax, weighted

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"


def type_i(alpha: float, t: float = 0.25) -> partial[torch.Tensor]:
    return partial(attenuation_type_i, temperature=t, alpha=alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.9, 1.0])
def test_gradient_is_that_of_equation_12(alpha: float) -> None:
    """The sum over k of p_k/(1 - alpha·q_k), one weight for the whole row."""
    cosines, targets = cosines_and_targets()

    def weight(row: list[float], p: list[int], j: int) -> float:
        q = softmax([c / 0.25 for c in row])
        return sum(y / (1 - alpha * x) for y, x in zip(p, q, strict=True))

    found = cosine_gradient(type_i(alpha), cosines, targets)
    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, weight))


def test_alpha_0_is_plain_where_the_pseudo_code_divides_0_by_0() -> None:
    """Erratum M5."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    torch.testing.assert_close(cosine_gradient(type_i(0.0), cosines, targets), plain, rtol=1e-14, atol=0)
    q = (cosines / 0.25).softmax(dim=1)
    assert (targets / (targets - 0.0 * q)).sum(dim=1).isnan().all()  # Alg. 5's line, on the same batch
    torch.testing.assert_close((targets / (targets - 0.5 * q)).sum(dim=1), (1 / (1 - 0.5 * (q * targets).sum(dim=1))))


def decoupled(z_a: torch.Tensor, z_b: torch.Tensor, t: float, negatives: str) -> torch.Tensor:
    """Yeh et al. 2022: -cos(i, j)/t + log of the sum over k other than i and j, anchor by anchor."""
    n, z = len(z_a), torch.cat([z_a, z_b])
    terms = []
    for i in range(2 * n if negatives == "both_views" else n):
        j = (i + n) % (2 * n)
        candidates = range(2 * n) if negatives == "both_views" else range(n, 2 * n)
        cosine = {k: z[i] @ z[k] / z[i].norm() / z[k].norm() / t for k in candidates}
        terms.append(-cosine[j] + sum(cosine[k].exp() for k in candidates if k not in (i, j)).log())
    return sum(terms) / len(terms)


@pytest.mark.parametrize("negatives", ["both_views", "other_view"])
@pytest.mark.parametrize("t", [0.1, 0.25, 2.0])
def test_alpha_1_has_the_gradient_of_the_decoupled_loss(negatives: Negatives, t: float) -> None:
    """Erratum M14; the values differ, and at alpha = 0.9 so do the gradients."""
    z_a, z_b = (z.requires_grad_() for z in draw(5, 3))
    wanted = torch.autograd.grad(decoupled(z_a, z_b, t, negatives), (z_a, z_b))
    loss = generalised_info_nce(z_a, z_b, type_i(1.0, t), negatives=negatives)
    found = torch.autograd.grad(loss, (z_a, z_b))
    torch.testing.assert_close(found, wanted)
    assert abs(loss - decoupled(z_a, z_b, t, negatives)) > 1e-3
    other = torch.autograd.grad(generalised_info_nce(z_a, z_b, type_i(0.9, t), negatives=negatives), z_a)[0]
    assert (other - wanted[0]).abs().max() > 1e-4


def test_alpha_1_agrees_with_lightly() -> None:
    """lightly 1.6.0: the gradient of DCLLoss, whose value is another."""
    from lightly.loss import DCLLoss

    z_a, z_b = (z.requires_grad_() for z in draw(6, 4))
    found = torch.autograd.grad(generalised_info_nce(z_a, z_b, type_i(1.0), negatives="both_views"), (z_a, z_b))
    torch.testing.assert_close(found, torch.autograd.grad(DCLLoss(temperature=0.25)(z_a, z_b), (z_a, z_b)))


ALPHAS = {0.2: 0.551, 0.4: 0.798, 0.6: 0.909, 0.7: 0.939, 0.8: 0.959, 0.072: 0.25}
"""alpha of the m2 of Table 5 at t = 0.25, with a calculator; 0.072 is Table 1's alpha = 0.25."""


@pytest.mark.parametrize("m2", ALPHAS)
def test_is_a_subtractive_margin_alone(m2: float) -> None:
    """Sec. 5.5 at m1 = 0 (erratum M13): the same gradients, other values; not so with an angular margin."""
    alpha = 1 - math.exp(-m2 / 0.25)
    assert alpha == pytest.approx(ALPHAS[m2], abs=6e-4)
    cosines, targets = cosines_and_targets()
    margin = partial(margin_logits, temperature=0.25, subtractive=m2)
    found = cosine_gradient(type_i(alpha), cosines, targets)
    torch.testing.assert_close(found, cosine_gradient(margin, cosines, targets))
    values = [info_nce_of_logits(to_logits(cosines, targets), targets, 1) for to_logits in (type_i(alpha), margin)]
    assert abs(values[0] - values[1]) > 1e-2
    with_angle = partial(margin_logits, temperature=0.25, subtractive=m2, angular=0.3)
    assert (found - cosine_gradient(with_angle, cosines, targets)).abs().max() > 1e-2


def test_differs_from_type_ii_in_the_negatives_only() -> None:
    cosines, targets = cosines_and_targets()
    one = cosine_gradient(type_i(1.0), cosines, targets)
    two = cosine_gradient(partial(attenuation_type_ii, temperature=0.25, alpha=1.0), cosines, targets)
    torch.testing.assert_close(one[targets == 1], two[targets == 1])
    assert (one - two)[targets == 0].abs().max() > 0.1
    torch.testing.assert_close(one.sum(dim=1), torch.zeros(5, dtype=torch.float64), atol=1e-12, rtol=0)


def test_by_hand() -> None:
    """Two equal cosines, alpha 1: q = 1/2, weight 2, so that the pull is 1/t whole and the only negative takes 1/t."""
    cosines, targets = torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(cosine_gradient(type_i(1.0), cosines, targets), torch.tensor([[-4.0, 4.0]]).double())


def test_a_probability_of_1_stays_finite_where_alpha_is_1() -> None:
    """The decoupled loss would still pull with 1/t; in float32 the plain loss has rounded its 1 - q to 0."""
    cosines, targets = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0, 0.0]])
    found = cosine_gradient(type_i(1.0, 1e-3), cosines, targets)
    assert found.isfinite().all()
    assert found.abs().max() <= 1e3
