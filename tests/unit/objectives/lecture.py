"""What the tests of the lecture's losses share: data, arithmetic on Python lists, and checks of numerics."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

Vector = Sequence[float]


def draw(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64, scale: float = 3) -> tuple[Tensor, Tensor]:
    """Two batches of embeddings, of norms far from 1; the numbers are the same in every dtype, but for rounding."""
    z = torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * scale
    return z[0].to(dtype), z[1].to(dtype)


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float:
    return dot(a, b) / math.hypot(*a) / math.hypot(*b)


def square(a: Vector, b: Vector) -> float:
    """Squared Euclidean distance."""
    return math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def normed(a: Vector) -> list[float]:
    return [x / math.hypot(*a) for x in a]


def rotation(d: int) -> Tensor:
    """An orthogonal matrix that mixes all dimensions."""
    z = torch.randn(d, d, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    return torch.linalg.qr(z)[0]


DIFFICULT: dict[str, tuple[list[list[float]], list[list[float]]]] = {
    "zero": ([[0, 0, 0], [1, 2, 2], [0, 0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
    "identical": ([[1, 2, 2]] * 3, [[1, 2, 2]] * 3),
    "antipodal": ([[1, 2, 2]] * 3, [[-1, -2, -2]] * 3),
    "both": ([[1, 2, 2], [-1, -2, -2], [1, 2, 2]], [[1, 2, 2], [-1, -2, -2], [-1, -2, -2]]),
    "huge": ([[1e6, 0, 1e6], [0, 1e6, 0], [-1e6, 1, 0]], [[1e6, 1e6, 0], [0, -1e6, 0], [1, 1, 1]]),
}
"""Two batches, n = 3, d = 3, at which a norm, a cosine or a distance is not differentiable, or far from 1."""


def difficult(case: str, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    a, b = DIFFICULT[case]
    return torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype)


def is_finite(loss: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Value and every gradient; the value is given back."""
    leaves = [z.detach().clone().requires_grad_() for z in tensors]
    value = loss(*leaves)
    assert value.shape == ()
    assert value.dtype == tensors[0].dtype
    assert value.isfinite()
    for gradient in torch.autograd.grad(value, leaves):
        assert gradient.isfinite().all()
    return value.detach()


def is_near_in_half(loss: Callable[..., Tensor], *tensors: Tensor, rel: float = 0.03, dtype: torch.dtype) -> None:
    """Finite, of half precision itself, and near the float64 value of the rounded inputs; bfloat16 keeps eight bits."""
    halves = [z.to(dtype) for z in tensors]
    exact = loss(*(z.double() for z in halves))
    assert is_finite(loss, *halves).item() == pytest.approx(exact.item(), rel=rel)


HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
TINY = pytest.mark.parametrize("t", [1e-3, 1e-6])
"""Temperatures at which exp(1/t) alone would be infinite."""
CASES = pytest.mark.parametrize("case", DIFFICULT)
