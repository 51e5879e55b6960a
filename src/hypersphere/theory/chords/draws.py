"""Random inputs for the statements of the double-metric paper, and their distances.

Shapes: n draws, d = 3 dimensions, m candidates of an anchor, the positive first.
"""

from math import pi

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from torch.linalg import vector_norm

from hypersphere.theory.statement import PRINTED, Inputs


def identifier(name: str, reading: str) -> str:
    """A claim's id. For a corrected statement, it ends in the erratum."""
    return f"double_metric.{name}" + ("" if reading == PRINTED else f".{reading.lower()}")


def inputs(**columns: list) -> Inputs:
    return {name: torch.tensor(column, dtype=torch.float64) for name, column in columns.items()}


def uniform(g: Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=g, dtype=torch.float64)


def magnitude(g: Generator, *shape: int, low: float = -3, high: float = 3) -> Tensor:
    return 10 ** (low + (high - low) * uniform(g, *shape))


def angle(g: Generator, *shape: int) -> Tensor:
    """Three of five draws are uniform in [0, pi]. One is near 0 and one near pi, some exactly 0 or pi."""
    kind, near = (5 * uniform(g, *shape)).long(), magnitude(g, *shape, low=-8, high=-1) * (uniform(g, *shape) > 0.1)
    return torch.where(kind == 0, near, torch.where(kind == 1, pi - near, pi * uniform(g, *shape)))


def directions(g: Generator, n: int) -> Tensor:
    return F.normalize(torch.randn(n, 3, generator=g, dtype=torch.float64), dim=1)


def at_angle(g: Generator, u: Tensor) -> Tensor:
    """A unit vector at a drawn angle to u, in a random direction."""
    return turned(u, directions(g, len(u)), angle(g, len(u)))


def turned(u: Tensor, towards: Tensor, theta: Tensor) -> Tensor:
    """u turned by theta in the plane of u and ``towards``."""
    perpendicular = F.normalize(towards - (towards * u).sum(dim=1, keepdim=True) * u, dim=1)
    return F.normalize(theta.cos()[:, None] * u + theta.sin()[:, None] * perpendicular, dim=1)


def path(g: Generator, n: int) -> Inputs:
    """Three points. In a quarter of the draws w is on the great circle of u and v, so that triangles are flat."""
    u = directions(g, n)
    v = at_angle(g, u)
    straight = turned(v, -u, angle(g, n))
    return {"u": u, "v": v, "w": torch.where(uniform(g, n, 1) < 0.25, straight, at_angle(g, v))}


def chord(u: Tensor, v: Tensor) -> Tensor:
    return vector_norm(u - v, dim=-1)


def arc(u: Tensor, v: Tensor) -> Tensor:
    """arccos(u·v), from the half-angle's tangent; arccos itself keeps only half of the digits near 0 and pi."""
    return 2 * torch.atan2(vector_norm(u - v, dim=-1), vector_norm(u + v, dim=-1))


def worse(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(a, b)
