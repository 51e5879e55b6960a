"""Vectors, losses and draws that the norms paper's statements share.

Shapes: draws, n points of a set, d dimensions. Row 0 of a set is the anchor i, row 1 its positive j, the others are
negatives. Gradients are autograd's, of the loss as it is defined. Cosines have scale 1, and so has a gradient times the
norm of its point. Excesses are in these units, where rounding errors are near 1e-16 unless a check says otherwise.
"""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from hypersphere.theory.statement import Checked, Inputs, Statement, everywhere

Loss = Callable[[Tensor], Tensor]


def named(
    name: str,
    reading: str,
    check: Callable[..., Checked],
    draw: Callable[[Generator, int], Inputs],
    simple: Callable[[], Inputs],
) -> Statement:
    """A statement of the norms paper. Rounding errors stay below 1e-12 for all draws, even for steps of 1000 norms."""
    return Statement(f"norms.{name}", reading, check, draw, simple, tolerance=1e-11)


def dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(dim=-1)


def norm(a: Tensor) -> Tensor:
    return torch.linalg.vector_norm(a, dim=-1)


def unit(a: Tensor) -> Tensor:
    return a / norm(a)[..., None]


def across(a: Tensor, b: Tensor) -> Tensor:
    """The component of a that is orthogonal to b."""
    return a - dot(a, unit(b))[..., None] * unit(b)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return dot(a, b) / (norm(a) * norm(b))


def sine(a: Tensor, b: Tensor) -> Tensor:
    """2 sin(phi/2) cos(phi/2) from chords. It is exact near 0 and pi, where sqrt(1 - cos²) loses half its digits."""
    return norm(unit(a) - unit(b)) * norm(unit(a) + unit(b)) / 2


def attraction(z: Tensor) -> Tensor:
    return -cosine(z[:, 0], z[:, 1])


def squared_error(z: Tensor) -> Tensor:
    return (unit(z[:, 0]) - unit(z[:, 1])).square().sum(dim=-1)


def info_nce(z: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """Eq. 1 for the anchor; the positive is in the denominator."""
    similarity = cosine(z[:, :1], z[:, 1:]) / temperature
    return similarity.logsumexp(dim=1) - similarity[:, 0]


def largest(excess: Tensor) -> Checked:
    return everywhere(excess.amax(dim=1))


def spread(generator: Generator, low: float, high: float, *shape: int) -> Tensor:
    """Log-uniform between 10^low and 10^high."""
    return 10 ** (low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64))


def points(generator: Generator, draws: int, n: int = 5, d: int = 4) -> dict[str, Tensor]:
    """Norms 1e-4 … 1e4. A third of the positives are near the anchor, a third opposite to it, some exactly."""
    z = unit(torch.randn(draws, n, d, generator=generator, dtype=torch.float64))
    near = torch.tensor([1.0, -1.0, 0.0], dtype=torch.float64)[torch.arange(draws) % 3][:, None]
    exactly = (torch.arange(draws) % 20 == 0)[:, None]
    noise = torch.where(near == 0, 1.0, spread(generator, -9, 0, draws, 1) * ~exactly)
    z[:, 1] = near * z[:, 0] + noise * z[:, 1]
    return {"z": unit(z) * spread(generator, -4, 4, draws, n, 1)}


def stepped(generator: Generator, draws: int) -> Inputs:
    return points(generator, draws) | {"gamma": spread(generator, -4, 4, draws)}


def angled(generator: Generator, draws: int, widest: float = math.pi) -> Inputs:
    """Pairs of equal norm at angles in [0, widest], a third near each end, one in 30 at 0; gamma/rho² in 1e-6 … 1e3."""
    end = spread(generator, -8, 0, draws)
    inner = widest * torch.rand(draws, generator=generator, dtype=torch.float64)
    kind = torch.arange(draws) % 30
    angle = torch.where(kind % 3 == 0, inner, torch.where(kind % 3 == 1, end, widest - end)) * (kind > 0)
    u, w = unit(torch.randn(2, draws, 4, generator=generator, dtype=torch.float64))
    other = angle.cos()[:, None] * u + angle.sin()[:, None] * unit(across(w, u))
    rho = spread(generator, -3, 3, draws)
    z = torch.stack([u, torch.where(angle[:, None] == 0, u, other)], dim=1) * rho[:, None, None]
    return {"z": z, "gamma": spread(generator, -6, 3, draws) * rho**2}


def given(**inputs: object) -> Callable[[], Inputs]:
    return lambda: {name: torch.tensor(value, dtype=torch.float64) for name, value in inputs.items()}


RIGHT_ANGLE = [[1, 0], [0, 1]]
TWO = given(z=[RIGHT_ANGLE, [[1, 0], [1, 0]], [[1, 0], [-1, 0]], [[2, 0], [3, 4]]])
STEP = given(z=[RIGHT_ANGLE, [[1, 0], [0, 2]], [[3, 4], [4, 3]]], gamma=[1, 1, 10])
