"""Eq. 2 and Alg. 1 of the margins paper."""

import math

import pytest
import torch

from hypersphere.objectives.cosine_logits import cosine_logits

from .shared import cosine_gradient, cosines_and_targets, has_gradient_of_value, weighted


@pytest.mark.parametrize("t", [0.05, 0.25, 2.0])
def test_is_algorithm_1(t: float) -> None:
    """cos(arccos(c))/t in Python floats, whatever the targets."""
    cosines, targets = cosines_and_targets()
    expected = [[math.cos(math.acos(c)) / t for c in row] for row in cosines.tolist()]
    for p in (targets, 1 - targets):
        torch.testing.assert_close(
            cosine_logits(cosines, p, temperature=t), torch.tensor(expected, dtype=torch.float64)
        )


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_gradient_is_equation_13(beta: float) -> None:
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(lambda c, p: cosine_logits(c, p, temperature=0.25), cosines, targets, beta)
    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, lambda row, p, j: 1, beta))
    has_gradient_of_value(lambda c: cosine_logits(c, targets, temperature=0.25), cosines)


def test_by_hand() -> None:
    found = cosine_logits(torch.tensor([[1.0, 0.0, -1.0]]), torch.tensor([[1.0, 0.0, 0.0]]), temperature=0.25)
    assert found.tolist() == [[4.0, 0.0, -4.0]]
