"""LMCL's toy training: many linear maps of the plane at once, by Adam on Eq. 1 and Eq. 9 with written-out gradients.

A row is one map, with its own start, batch and setting. Rows do not influence each other. The gradient of a map with 4
numbers needs only two thin products with the matrix of pairs; autograd would take three times as long.

Shapes: rows; n points of a batch.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

LOWER, UPPER = 0.1, 0.5
"""delta+ and delta-, Sec. 5."""
WEIGHT = 0.1
"""lambda, Sec. 5.1."""
RATE = 0.001
"""Adam's learning rate, Sec. 5.1."""
DECAYS = (0.9, 0.999)
EPSILON = 1e-8
"""torch's defaults, as erratum L14 decides."""


def gradient(
    maps: Float[Tensor, "2 2 rows"],
    x: Float[Tensor, "2 rows n"],
    perturbed: Float[Tensor, "2 rows n"],
    penalty: Float[Tensor, "penalised"],
    on_sphere: Bool[Tensor, "rows"],
) -> Float[Tensor, "2 2 rows"]:
    """Gradient in the map P of nce + penalty times the sum over ordered pairs of |min((D - delta+)(D - delta-), 0)|.

    LMCL paper, Eq. 1 (the mean over the n points as anchors, the other n - 1 as negatives) and Eq. 9 and 10. The last
    ``len(penalty)`` rows are penalised, the others are not. A row that is not ``on_sphere`` uses Px in place of the
    unit vector in both terms. A point that is mapped to 0 counts as in ``geometry.unit``.
    """
    rows, n = x.shape[1:]
    u, norm = _mapped(maps, x, on_sphere)
    v, norm_perturbed = _mapped(maps, perturbed, on_sphere)
    cosine = u[0, :, :, None] * u[0, :, None] + u[1, :, :, None] * u[1, :, None]
    first = rows - len(penalty)
    offset = cosine[first:] - (1 - LOWER - UPPER)
    # With s the cosine less the one in the middle of the margin region, the penalty's slope there is -s/2.
    inside = offset - torch.nn.functional.hardshrink(offset, UPPER - LOWER)
    inside.diagonal(dim1=1, dim2=2).zero_()  # off the sphere a point's product with itself can be in the region
    scores = cosine.exp_()
    scores.diagonal(dim1=1, dim2=2).zero_()
    positive = (u[0] * v[0] + u[1] * v[1]).exp()
    sums = positive + scores.sum(dim=2)
    pull = (positive / sums - 1) / n
    weighted = (scores @ torch.stack([u[0], u[1], u[0] / sums, u[1] / sums], dim=2)).movedim(2, 0)
    along_u = pull * v + (weighted[:2] / sums + weighted[2:]) / n
    push = inside @ torch.stack([u[0, first:], u[1, first:]], dim=2)
    along_u[:, first:] -= penalty[:, None] * push.movedim(2, 0)
    along = _through(along_u, u, norm, on_sphere)
    along_perturbed = _through(pull * u, v, norm_perturbed, on_sphere)
    return (along[:, None] * x[None] + along_perturbed[:, None] * perturbed[None]).sum(dim=3)


def _mapped(
    maps: Float[Tensor, "2 2 rows"], x: Float[Tensor, "2 rows n"], on_sphere: Bool[Tensor, "rows"]
) -> tuple[Float[Tensor, "2 rows n"], Float[Tensor, "rows n"]]:
    """Px over its norm, and the norm; 1 where Px is left as it is."""
    z = maps[:, 0, :, None] * x[0] + maps[:, 1, :, None] * x[1]
    norm = (z[0].square() + z[1].square()).sqrt().clamp(min=1e-12)
    norm = torch.where(on_sphere[:, None], norm, 1)
    return z / norm, norm


def _through(
    along: Float[Tensor, "2 rows n"],
    unit: Float[Tensor, "2 rows n"],
    norm: Float[Tensor, "rows n"],
    on_sphere: Bool[Tensor, "rows"],
) -> Float[Tensor, "2 rows n"]:
    """Carry a gradient in unit vectors back to the vectors themselves: its part across them, over the norm."""
    radial = torch.where(on_sphere[:, None], along[0] * unit[0] + along[1] * unit[1], 0)
    return (along - radial * unit) / norm


class Moments(NamedTuple):
    """Adam's memory."""

    first: Float[Tensor, "2 2 rows"]
    second: Float[Tensor, "2 2 rows"]


def adam(
    maps: Float[Tensor, "2 2 rows"], slope: Float[Tensor, "2 2 rows"], moments: Moments, step: int
) -> tuple[Float[Tensor, "2 2 rows"], Moments]:
    """A step of Adam; ``step`` counts from 1 (Kingma and Ba 2015, Algorithm 1; LMCL paper, Algorithm 1 and Eq. 12)."""
    first = DECAYS[0] * moments.first + (1 - DECAYS[0]) * slope
    second = DECAYS[1] * moments.second + (1 - DECAYS[1]) * slope.square()
    root = (second / (1 - DECAYS[1] ** step)).sqrt() + EPSILON
    return maps - RATE * first / (1 - DECAYS[0] ** step) / root, Moments(first, second)
