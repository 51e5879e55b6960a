"""Propositions 3.1 and 3.2 of the norms paper, and its remarks on other losses."""

from functools import partial

import torch
from torch import Generator, Tensor

from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.theory.norms.vectors import (
    RIGHT_ANGLE,
    STEP,
    TWO,
    Loss,
    across,
    attraction,
    dot,
    given,
    info_nce,
    largest,
    named,
    norm,
    points,
    sine,
    spread,
    squared_error,
    stepped,
    unit,
)
from hypersphere.theory.statement import PRINTED, Checked, Inputs, everywhere, gradient

_of_pairs = partial(points, n=2)


def _gradient_3_1(z: Tensor) -> Checked:
    slope = gradient(attraction, z)[:, 0] * norm(z[:, 0])[:, None]
    return everywhere(norm(slope + across(unit(z[:, 1]), z[:, 0])))


def _tangent(z: Tensor, *, loss: Loss) -> Checked:
    return largest(dot(gradient(loss, z), z).abs())


def _magnitude(z: Tensor, *, loss: Loss, factor: float = 1, power: float = 0) -> Checked:
    """factor · sin(phi) · ||z||^(power - 1), for both points; in units of ||z||^(power - 1)."""
    slope = norm(gradient(loss, z)) * norm(z) ** (1 - power)
    return largest((slope - factor * sine(z[:, 0], z[:, 1])[:, None]).abs())


def _inverse(z: Tensor, gamma: Tensor) -> Checked:
    """Scale the anchor by gamma and keep the others: its gradient shrinks by gamma."""
    scaled = torch.cat([z[:, :1] * gamma[:, None, None], z[:, 1:]], dim=1)
    near, far = (gradient(info_nce, x)[:, 0] for x in (z, scaled))
    return everywhere(norm(far * gamma[:, None] - near) * norm(z[:, 0]))


def _equation_2(z: Tensor, temperature: Tensor | None = None) -> Checked:
    """The paper sets t = 1. With t (ours) the right side is divided by t, and so are roundings."""
    t = torch.ones(len(z), 1, dtype=z.dtype) if temperature is None else temperature[:, None]
    share = (dot(unit(z[:, :1]), unit(z[:, 1:])) / t).softmax(dim=1)[..., None]
    pull = across(unit(z[:, 1:]), z[:, :1])
    slope = gradient(lambda x: info_nce(x, t), z)[:, 0] * norm(z[:, 0])[:, None] * t
    return everywhere(norm(slope - (share * pull).sum(dim=1) + pull[:, 0]))


def _equation_3(z: Tensor, *, sign: float, pull: float) -> Checked:
    """Gradients of all l != i: sign times the share of the denominator, minus ``pull`` for the positive."""
    share = dot(unit(z[:, :1]), unit(z[:, 1:])).softmax(dim=1)
    share = sign * share - pull * (torch.arange(share.shape[1]) == 0)
    slope = gradient(info_nce, z)[:, 1:] * norm(z[:, 1:])[..., None]
    return largest(norm(slope - share[..., None] * across(unit(z[:, :1]), z[:, 1:])))


def _grad_scaled(z: Tensor) -> Tensor:
    return attraction(grad_scale(z, power=1))


def _with_temperature(generator: Generator, draws: int) -> Inputs:
    return points(generator, draws) | {"temperature": spread(generator, -5, 3, draws)}


_HALF = given(z=[RIGHT_ANGLE], temperature=[0.5])
_squared = partial(_magnitude, loss=squared_error, factor=2)

STATEMENTS = (
    named("proposition_3_1.gradient", PRINTED, _gradient_3_1, _of_pairs, TWO),
    named("proposition_3_1.tangent", PRINTED, partial(_tangent, loss=attraction), _of_pairs, TWO),
    named("proposition_3_1.magnitude", PRINTED, partial(_magnitude, loss=attraction), _of_pairs, TWO),
    named("proposition_3_2.equation_2", PRINTED, _equation_2, points, TWO),
    named("proposition_3_2.temperature", PRINTED, _equation_2, _with_temperature, _HALF),
    named("proposition_3_2.equation_3", PRINTED, partial(_equation_3, sign=-1, pull=0), points, TWO),
    named("proposition_3_2.equation_3.n10", "N10", partial(_equation_3, sign=1, pull=1), points, TWO),
    named("proposition_3_2.tangent", PRINTED, partial(_tangent, loss=info_nce), points, TWO),
    named("proposition_3_2.inverse_norm", PRINTED, _inverse, stepped, STEP),
    named("section_3.squared_error.tangent", PRINTED, partial(_tangent, loss=squared_error), _of_pairs, TWO),
    named("section_3.squared_error.magnitude", PRINTED, _squared, _of_pairs, TWO),
    named("section_6.grad_scale", PRINTED, partial(_magnitude, loss=_grad_scaled, power=1), _of_pairs, TWO),
)
