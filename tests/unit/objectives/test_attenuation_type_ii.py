"""Eq. 12, type II, and Alg. 6 of the margins paper."""

from functools import partial

import pytest
import torch

from hypersphere.objectives.attenuation_type_ii import attenuation_type_ii
from hypersphere.objectives.cosine_logits import cosine_logits

from .shared import cosine_gradient, cosines_and_targets, softmax, weighted


def type_ii(alpha: float, t: float = 0.25) -> partial[torch.Tensor]:
    return partial(attenuation_type_ii, temperature=t, alpha=alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.9, 1.0])
def test_gradient_is_that_of_equation_12(alpha: float) -> None:
    """(1 - p) + p/(p - alpha·q), at the positive 1/(1 - alpha·q), at negatives 1."""
    cosines, targets = cosines_and_targets()

    def weight(row: list[float], p: list[int], j: int) -> float:
        return 1 / (1 - alpha * softmax([c / 0.25 for c in row])[j]) if p[j] else 1

    found = cosine_gradient(type_ii(alpha), cosines, targets)
    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, weight))


def test_alpha_0_is_plain_where_the_pseudo_code_multiplies_infinity_by_0() -> None:
    """Erratum M5."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    torch.testing.assert_close(cosine_gradient(type_ii(0.0), cosines, targets), plain, rtol=1e-14, atol=0)
    assert (cosine_gradient(type_ii(0.5), cosines, targets) - plain).abs().max() > 1e-2
    logits = cosines / 0.25
    scales = 1 / (targets - 0.0 * logits.softmax(dim=1))  # Alg. 6's lines, on the same batch
    printed = (1 - targets) * logits + targets * ((1 - scales) * logits + scales * logits)
    assert printed[targets == 0].isnan().all()


def test_alpha_1_pulls_every_positive_alike() -> None:
    """By hand: (1 - q)/(1 - q)/t, and negatives as in the plain loss."""
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(type_ii(1.0), cosines, targets)
    torch.testing.assert_close(found[targets == 1], torch.full((5,), -4.0, dtype=torch.float64))
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    assert torch.equal(found[targets == 0], plain[targets == 0])


def test_is_the_gradient_of_no_loss() -> None:
    """A gradient has a symmetric Jacobian; at alpha = 1 the pull does not depend on the negatives, but they on it."""
    cosines, targets = cosines_and_targets(1, 3)

    def asymmetry(to_logits: partial[torch.Tensor]) -> float:
        columns = []
        for j in range(3):
            step = torch.zeros_like(cosines)
            step[0, j] = 1e-5
            ahead, behind = (cosine_gradient(to_logits, cosines + sign * step, targets) for sign in (1, -1))
            columns.append((ahead - behind)[0] / 2e-5)
        jacobian = torch.stack(columns)
        return (jacobian - jacobian.T).abs().max().item()

    assert asymmetry(partial(cosine_logits, temperature=0.25)) < 1e-6  # control
    assert asymmetry(type_ii(1.0)) > 0.01
