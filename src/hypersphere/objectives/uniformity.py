"""Uniformity: the logarithm of the mean Gaussian potential between the embeddings of a view."""

import math

import torch
from jaxtyping import Float
from pydantic import NonNegativeFloat, PositiveFloat
from torch import Tensor

from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.pairs import without_diagonal


def uniformity(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    t: PositiveFloat = 2.0,
    weight: NonNegativeFloat = 1.0,
) -> Float[Tensor, ""]:
    """weight · the mean over both views of log(mean over i < j of exp(-t |u_i - u_j|²)), u = z/|z|.

    Wang & Isola 2020, the uniformity loss of Sec. 4.1, over distinct pairs within a view and averaged over the two, as
    in their code. No positive enters: ``z_a`` and ``z_b`` may be paired in any order.

    Args:
        z_a: embeddings of the first view, not normalised, n >= 2.
        z_b: embeddings of the second view.
        t: inverse width of the Gaussian, in units of squared distance; not a temperature, its inverse.
        weight: what the mean is multiplied by.

    Returns:
        The weighted mean over the two views, in nats; between -4t·weight and 0.

    Numerics: the squared distance is 2 - 2 cos, whose rounding enters linearly; no root is taken. The log-sum-exp
    subtracts the maximum, so a large t does not underflow. A zero embedding counts as cosine 0.
    """
    potentials = [2 * t * (without_diagonal(cosines(z, z)).flatten() - 1) for z in (z_a, z_b)]
    logs = [potential.logsumexp(dim=0) - math.log(len(potential)) for potential in potentials]
    return weight * torch.stack(logs).mean()
