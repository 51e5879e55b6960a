"""What the tests of the LMCL paper's losses share: data, arithmetic on Python lists, and checks of numerics."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

Vector = Sequence[float]
Loss = Callable[..., Tensor]


def draw(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Two views' embeddings, of norms far from 1."""
    z = torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3
    return z[0].to(dtype), z[1].to(dtype)


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def rotation(d: int) -> Tensor:
    """An orthogonal matrix that mixes all dimensions."""
    z = torch.randn(d, d, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    return torch.linalg.qr(z)[0]


def value_and_gradients(loss: Loss, *tensors: Tensor) -> tuple[Tensor, Tensor]:
    """The value, and the gradients with respect to all tensors, stacked; 0 for a tensor that is not used."""
    leaves = [z.detach().clone().requires_grad_() for z in tensors]
    value = loss(*leaves)
    gradients = torch.autograd.grad(value, leaves, allow_unused=True, materialize_grads=True)
    return value.detach(), torch.cat(gradients)


def have_gradient_of_value(loss: Loss, *tensors: Tensor) -> bool:
    return torch.autograd.gradcheck(loss, tuple(z.detach().clone().requires_grad_() for z in tensors))


def is_finite(loss: Loss, *tensors: Tensor) -> Tensor:
    value, gradients = value_and_gradients(loss, *tensors)
    assert value.shape == ()
    assert value.dtype == tensors[0].dtype
    assert value.isfinite()
    assert gradients.isfinite().all()
    return value


def is_near_in_half(loss: Loss, dtype: torch.dtype, *tensors: Tensor) -> None:
    """Finite, of half precision itself, and near the float64 value of the rounded inputs; bfloat16 keeps eight bits."""
    halves = [z.to(dtype) for z in tensors]
    exact = loss(*(z.double() for z in halves))
    assert is_finite(loss, *halves).item() == pytest.approx(exact.item(), rel=0.03)


def is_symmetric(loss: Loss, *, swap: bool = True, n: int = 6) -> None:
    """Rotations, norms, one order of the rows for both views, and swapped views change nothing; pairing does."""
    z_a, z_b = draw(n, 4)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    value = loss(z_a, z_b)
    for a, b in [(z_a[order], z_b[order]), (z_a @ rotation(4), z_b @ rotation(4)), (5 * z_a, z_b / 7)]:
        torch.testing.assert_close(loss(a, b), value)
    assert (abs(loss(z_b, z_a) - value) < 1e-12) == swap
    assert abs(loss(z_a[order], z_b) - value) > 1e-4  # control
    assert abs(loss(z_a @ rotation(4), z_b) - value) > 1e-4  # control


def is_sum_with_a_regulariser(objective: Loss, regulariser: Loss) -> None:
    """Eq. 9 of the paper: value and gradient of the sum are the sums of both, and neither is nothing."""
    z = draw(6, 4)
    value, gradients = value_and_gradients(lambda a, b: objective(a, b) + regulariser(a, b), *z)
    parts = [value_and_gradients(loss, *z) for loss in (objective, regulariser)]
    torch.testing.assert_close(value, parts[0][0] + parts[1][0])
    torch.testing.assert_close(gradients, parts[0][1] + parts[1][1])
    assert all(part.abs() > 1e-4 and gradient.norm() > 1e-4 for part, gradient in parts)


DIFFICULT: dict[str, tuple[list[list[float]], list[list[float]]]] = {
    "zero": ([[0, 0, 0], [1, 2, 2], [0, 0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
    "all zero": ([[0, 0, 0]] * 3, [[0, 0, 0]] * 3),
    "identical": ([[1, 2, 2]] * 3, [[1, 2, 2]] * 3),
    "antipodal": ([[1, 2, 2]] * 3, [[-1, -2, -2]] * 3),
    "both": ([[1, 2, 2], [-1, -2, -2], [1, 2, 2]], [[1, 2, 2], [-1, -2, -2], [-1, -2, -2]]),
    "huge": ([[1e6, 0, 1e6], [0, 1e6, 0], [-1e6, 1, 0]], [[1e6, 1e6, 0], [0, -1e6, 0], [1, 1, 1]]),
}
"""Two batches, n = 3, d = 3, at which a norm, a cosine or a distance is not differentiable, or far from 1."""


def difficult(case: str) -> tuple[Tensor, Tensor]:
    a, b = DIFFICULT[case]
    return torch.tensor(a, dtype=torch.float32), torch.tensor(b, dtype=torch.float32)


HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
TINY = pytest.mark.parametrize("t", [1e-3, 1e-6])
"""Temperatures at which exp(1/t) alone would be infinite."""
CASES = pytest.mark.parametrize("case", DIFFICULT)
