"""Eq. 8 and 9 of the margins paper."""

from functools import partial

import pytest
import torch

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.curvature import curvature
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.positive_scaling import positive_scaling

from .shared import cosine_gradient, cosines_and_targets, draw, weighted


@pytest.mark.parametrize("s", [0.5, 1.0625, 20.0, 40.0])
@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_gradient_is_that_of_equations_8_and_9(s: float, beta: float) -> None:
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(partial(positive_scaling, temperature=0.25, s=s), cosines, targets, beta)
    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, lambda row, p, j: (1 - p[j]) + s * p[j], beta))


def test_by_hand() -> None:
    """Two equal cosines: q = 1/2, so -1/2 and 1/2 over t, the first times s."""
    cosines, targets = torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    found = cosine_gradient(partial(positive_scaling, temperature=0.25, s=3.0), cosines, targets)
    torch.testing.assert_close(found, torch.tensor([[-6.0, 2.0]], dtype=torch.float64))


def test_s_1_is_plain_and_other_s_is_not() -> None:
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    assert torch.equal(cosine_gradient(partial(positive_scaling, temperature=0.25, s=1.0), cosines, targets), plain)
    more = cosine_gradient(partial(positive_scaling, temperature=0.25, s=1.1), cosines, targets)
    assert (more - plain).abs().max() > 1e-2


def test_differs_from_curvature_and_coincides_in_its_limit() -> None:
    """Sec. 5.3: at c = infinity the curve is 1, so only s is left; 200 is infinite enough for angles below 2.9."""
    cosines, targets = cosines_and_targets()
    ours = cosine_gradient(partial(positive_scaling, temperature=0.25, s=20.0), cosines, targets)
    flat = cosine_gradient(partial(curvature, temperature=0.25, s=20.0, c=1000.0), cosines, targets)
    torch.testing.assert_close(flat, ours, rtol=1e-6, atol=0)
    bent = cosine_gradient(partial(curvature, temperature=0.25, s=20.0, c=1.0), cosines, targets)
    assert (bent - ours).abs().max() > 1


def test_without_negatives_it_is_a_learning_rate() -> None:
    """Sec. 5.2, on BYOL."""
    z_a, z_b = (z.requires_grad_() for z in draw(6, 4))
    found = []
    for to_logits in (partial(positive_scaling, temperature=0.25, s=3.0), partial(cosine_logits, temperature=0.25)):
        loss = generalised_info_nce(z_a, z_b, to_logits, negatives="none", beta=0)
        found.append(torch.autograd.grad(loss, z_a)[0])
    torch.testing.assert_close(found[0], 3 * found[1])
