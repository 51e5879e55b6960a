"""What the tests of the margins paper's objectives share: draws, a softmax in Python floats, gradients of maps."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hypersphere.objectives.generalised_info_nce import info_nce_of_logits

Map = Callable[[Tensor, Tensor], Tensor]


def draw(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Two views' embeddings, of norms far from 1."""
    z = torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3
    return z[0].to(dtype), z[1].to(dtype)


def cosines_and_targets(n: int = 5, m: int = 4) -> tuple[Tensor, Tensor]:
    """Cosines all over (-1, 1); the positive of anchor i is candidate i mod m."""
    cosines = torch.rand(n, m, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 1.98 - 0.99
    return cosines, torch.eye(m, dtype=torch.float64)[torch.arange(n) % m]


def softmax(logits: Sequence[float]) -> list[float]:
    top = max(logits)
    total = math.fsum(math.exp(x - top) for x in logits)
    return [math.exp(x - top) / total for x in logits]


def weighted(
    cosines: Tensor, targets: Tensor, t: float, weight: Callable[[list[float], list[int], int], float], beta: float = 1
) -> Tensor:
    """Eq. 9 with Eq. 13: a cosine gets w_j·(beta·q_j - p_j)/t; ``weight`` sees (cosines, p, j) of one anchor."""
    rows = []
    for row, p in zip(cosines.tolist(), targets.int().tolist(), strict=True):
        q = softmax([c / t for c in row])
        rows.append([weight(row, p, j) * (beta * q[j] - p[j]) / t for j in range(len(row))])
    return torch.tensor(rows, dtype=torch.float64)


def gradient(to_logits: Map, cosines: Tensor, targets: Tensor, beta: float = 1) -> Tensor:
    """Of the sum over anchors of Eq. 5, with respect to the cosines."""
    cosines = cosines.clone().requires_grad_()
    loss = info_nce_of_logits(to_logits(cosines, targets), targets, beta) * len(cosines)
    (found,) = torch.autograd.grad(loss, cosines)
    return found
