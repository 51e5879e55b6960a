"""BYOL's regression loss, against both sides of its equation."""

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.normalised_squared_error import normalised_squared_error

from .shared import (
    cosine,
    draw,
    normed,
    square,
)


def left(p: Tensor, z: Tensor) -> float:
    """||normed prediction - normed target||², mean over rows."""
    rows = zip(p.tolist(), z.tolist(), strict=True)
    return sum(square(normed(a), normed(b)) for a, b in rows) / len(p)


def right(p: Tensor, z: Tensor) -> float:
    """2 - 2 <q, z'> / (||q|| ||z'||), mean over rows."""
    return sum(2 - 2 * cosine(a, b) for a, b in zip(p.tolist(), z.tolist(), strict=True)) / len(p)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (5, 4), (7, 64)])
def test_is_both_sides_of_the_slides_equation(n: int, d: int) -> None:
    p, z = draw(n, d)
    loss = normalised_squared_error(p, z).item()
    assert loss == pytest.approx(left(p, z), rel=1e-12)
    assert loss == pytest.approx(right(p, z), rel=1e-12)


@pytest.mark.parametrize(("target", "expected"), [([2.0, 0.0], 0.0), ([0.0, 3.0], 2.0), ([-5.0, 0.0], 4.0)])
def test_aligned_orthogonal_and_opposite_by_hand(target: list[float], expected: float) -> None:
    p = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    z = torch.tensor([target], dtype=torch.float64)
    assert normalised_squared_error(p, z).item() == pytest.approx(expected, abs=1e-12)


def test_is_twice_simsiams_loss_up_to_a_constant_but_not_a_mean_over_dimensions() -> None:
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
