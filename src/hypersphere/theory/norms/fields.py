"""Propositions C.1 (two random directions) and D.1 (GradScale has no potential) of the norms paper."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy import special
from torch import Generator, Tensor

from hypersphere.theory.norms.vectors import (
    across,
    dot,
    given,
    named,
    norm,
    spread,
    unit,
)
from hypersphere.theory.statement import PRINTED, Checked, Inputs, everywhere


def _tail(d: Tensor, epsilon: Tensor, *, bound: Callable[[Tensor, Tensor], Tensor]) -> Checked:
    """P[cos >= 1 - eps] / bound - 1. (1 + cos)/2 has the distribution Beta((d-1)/2, (d-1)/2); on a line, cos is ±1."""
    half = (d - 1).numpy() / 2
    tail = np.where(half > 0, special.betainc(np.maximum(half, 0.5), np.maximum(half, 0.5), epsilon.numpy() / 2), 0.5)
    limit = bound(d, 1 - epsilon)
    return everywhere(torch.where(limit > 0, torch.from_numpy(tail) / limit - 1, torch.from_numpy(tail)))


def _cap(d: Tensor, x: Tensor) -> Tensor:
    """Ours: P[cos >= x] <= (1 - x²)^((d-1)/2) / 2 for x in [0, 1]."""
    return ((1 - x) * (1 + x)) ** ((d - 1) / 2) / 2


def _tails(generator: Generator, draws: int) -> Inputs:
    epsilon = spread(generator, -8, 0, draws) * (1 - 1e-9)
    flipped = torch.where(torch.arange(draws) % 2 == 0, epsilon, 1 - epsilon)
    return {"d": spread(generator, 0, 5, draws).round(), "epsilon": flipped}


def _field(t: Tensor, z: Tensor, alpha: Tensor) -> Tensor:
    """||z||^alpha times the gradient of t · z / ||z||."""
    (gradient,) = torch.autograd.grad((dot(t, z) / norm(z)).sum(), z, create_graph=True)
    return norm(z)[:, None] ** alpha[:, None] * gradient


def _no_potential(t: Tensor, z: Tensor, alpha: Tensor) -> Checked:
    """The asymmetry of the Jacobian is |alpha| ||z||^(alpha-2) sin(phi); with a potential it would be 0.

    In two dimensions or more, of which the proof speaks; on a line there are no half circles (N46).
    The excess is the missing share of it where z is orthogonal to t (sin = 1); 1 means that all is missing.
    """
    leaf = z.clone().requires_grad_()
    field = _field(t, leaf, alpha)
    rows = [torch.autograd.grad(column.sum(), leaf, retain_graph=True)[0] for column in field.unbind(dim=1)]
    jacobian = torch.stack(rows, dim=1)
    asymmetry = norm((jacobian - jacobian.mT).flatten(1)) / math.sqrt(2)
    excess = 1 - asymmetry / (alpha.abs() * norm(z) ** (alpha - 2))
    return Checked(alpha != 0, excess)


def _fields(generator: Generator, draws: int) -> Inputs:
    t, z = unit(torch.randn(2, draws, 3, generator=generator, dtype=torch.float64))
    alpha = spread(generator, -3, 1, draws) * torch.where(torch.arange(draws) % 2 == 0, 1.0, -1.0)
    return {"t": t, "z": unit(across(z, t)) * spread(generator, -2, 2, draws, 1), "alpha": alpha}


def _half_circle(t: Tensor, z: Tensor, alpha: Tensor, *, sign: float) -> Checked:
    """Eq. 8: the integral from 2t past 2z to -2t, by 24 Gauss nodes (exact for sin), over the claimed size."""
    nodes, weights = (torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(24))
    total = torch.zeros(len(t), dtype=t.dtype)
    for node, weight in zip((nodes + 1) * math.pi / 2, weights * math.pi / 2, strict=True):
        point = (2 * (node.cos() * t + node.sin() * unit(z))).requires_grad_()
        velocity = 2 * (node.cos() * unit(z) - node.sin() * t)
        total = total + weight * dot(_field(t, point, alpha), velocity).detach()
    claimed = 2 ** (alpha + 1)
    return everywhere((total - sign * claimed).abs() / claimed)


_FIELD = given(t=[[1, 0], [1, 0], [0.6, 0.8]], z=[[0, 1], [0, 2], [-0.8, 0.6]], alpha=[1, -1, 2])
_TAIL = given(d=[1, 2, 3, 128], epsilon=[0.5, 0.5, 0.5, 0.1])

STATEMENTS = (
    named("proposition_c_1", PRINTED, partial(_tail, bound=lambda d, x: 1 / (2 * d * x**2)), _tails, _TAIL),
    named("proposition_c_1.exponential", PRINTED, partial(_tail, bound=_cap), _tails, _TAIL),
    named("proposition_d_1", PRINTED, _no_potential, _fields, _FIELD),
    named("appendix_d.equation_8", PRINTED, partial(_half_circle, sign=1), _fields, _FIELD),
    named("appendix_d.equation_8.n47", "N47", partial(_half_circle, sign=-1), _fields, _FIELD),
)
