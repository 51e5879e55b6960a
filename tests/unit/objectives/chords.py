"""What the tests of the double-metric paper's losses share: data, arithmetic on Python lists, checks of numerics."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.geometry import unit

Loss = Callable[[Tensor, Tensor], Tensor]
Vector = Sequence[float]


def draw(n: int = 5, d: int = 4, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Two views' embeddings, of norms far from 1."""
    z = torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3
    return z[0].to(dtype), z[1].to(dtype)


def rows(*views: Tensor) -> list[list[float]]:
    """Unit vectors of all views, one below the other, as Python floats."""
    return [[x / math.hypot(*row) for x in row] for view in views for row in view.tolist()]


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def chord(a: Vector, b: Vector) -> float:
    return math.hypot(*(x - y for x, y in zip(a, b, strict=True)))


def cross_entropies(
    u: list[list[float]],
    score: Callable[[Vector, Vector], float],
    keep: Callable[[int, int, int], bool] = lambda i, j, k: k != i,
) -> list[float]:
    """-log(exp(score(i, j)) / sum over kept k of exp(score(i, k))) of each of the 2n rows; ``keep`` sees (i, j, k)."""
    losses = []
    for i in range(len(u)):
        j = (i + len(u) // 2) % len(u)
        total = math.fsum(math.exp(score(u[i], u[k])) for k in range(len(u)) if keep(i, j, k))
        losses.append(math.log(total) - score(u[i], u[j]))
    return losses


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def gradient(loss: Loss, z_a: Tensor, z_b: Tensor) -> tuple[Tensor, Tensor]:
    leaves = z_a.detach().clone().requires_grad_(), z_b.detach().clone().requires_grad_()
    g_a, g_b = torch.autograd.grad(loss(*leaves), leaves)
    return g_a, g_b


def check_gradient(loss: Loss) -> None:
    """The gradient is that of the value, by finite differences in float64."""
    assert torch.autograd.gradcheck(loss, tuple(z.requires_grad_() for z in draw(4, 3)))


def check_invariances(loss: Loss, pairing_matters: bool = True) -> None:
    """Swapping views, permuting images, rotating and rescaling rows change nothing; a shift does, and new pairs may."""
    z_a, z_b = draw(6, 4)
    value = loss(z_a, z_b)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=z_a.dtype))
    scale = torch.arange(1, 7, dtype=z_a.dtype)[:, None]
    for same in ((z_b, z_a), (z_a[order], z_b[order]), (z_a @ rotation, z_b @ rotation), (z_a * scale, z_b / scale)):
        torch.testing.assert_close(loss(*same), value, rtol=1e-12, atol=1e-12)
    assert (abs(loss(z_a[order], z_b) - value) > 1e-3) == pairing_matters
    assert abs(loss(z_a + 1, z_b) - value) > 1e-3


def check_half(loss: Loss, dtype: torch.dtype) -> None:
    """Finite, and near the value in float64; bfloat16 keeps eight bits."""
    z_a, z_b = draw(8, 16, dtype=dtype)
    value = loss(z_a, z_b)
    assert value.dtype == dtype
    assert value.item() == pytest.approx(loss(z_a.double(), z_b.double()).item(), rel=0.03, abs=0.03)
    assert all(g.isfinite().all() for g in gradient(loss, z_a, z_b))


DIFFICULT: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "zero rows": lambda a, b: (a * torch.tensor([[0.0], [1], [1]]), b * torch.tensor([[0.0], [0], [1]])),
    "identical views": lambda a, b: (a, a),
    "all at one point": lambda a, b: (a[:1].expand(3, -1), a[:1].expand(3, -1)),
    "antipodal views": lambda a, b: (a, -a),
    "antipodal images": lambda a, b: (torch.stack([a[0], -a[0], a[0]]), torch.stack([a[0], -a[0], -a[0]])),
    "huge and tiny norms": lambda a, b: (a * 1e15, b * 1e-15),
}


def check_difficult(loss: Loss, case: str) -> None:
    """Finite value and gradient in float32."""
    z_a, z_b = DIFFICULT[case](*draw(3, 4, dtype=torch.float32))
    assert loss(z_a, z_b).isfinite()
    assert all(g.isfinite().all() for g in gradient(loss, z_a, z_b))


def simplex(count: int, side: float) -> Tensor:
    """``count`` unit vectors, any two of them ``side`` apart."""
    corners = torch.eye(count, dtype=torch.float64)
    centred = unit(corners - 1 / count)  # sides sqrt(2 count / (count - 1))
    ratio = side / math.sqrt(2 * count / (count - 1))
    pole = torch.full((count, 1), math.sqrt(1 - ratio**2), dtype=torch.float64)
    return torch.cat([pole, ratio * centred], dim=1)


halves = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
difficult = pytest.mark.parametrize("case", DIFFICULT)
