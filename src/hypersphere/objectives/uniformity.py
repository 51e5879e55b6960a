"""Uniformity: the logarithm of the mean Gaussian potential between the embeddings of a view."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.pairs import check_negatives, without_diagonal


def uniformity(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    t: PositiveFloat = 2.0,
    weight: NonNegativeFloat = 1.0,
) -> Float[Tensor, ""]:
    """weight · the mean over both views of log(mean over i < j of exp(-t |u_i - u_j|²)), u = z/|z|.

    Wang & Isola 2020, the uniformity loss of Sec. 4.1, over pairs of distinct images within a view and averaged over
    the two views, as in their code. Positive pairs do not enter, so the rows may be in any order.

    Geometry: all pairs of images repel each other with a Gaussian potential, whose slope is steepest at a distance of
    1/sqrt(2t). Of all distributions on the sphere the uniform one has the least.

    Args:
        z_a: at least two images.
        t: inverse width of the Gaussian, per unit of squared distance; the inverse of a temperature.

    Returns:
        The weighted mean over the two views, in nats; between -4t·weight and 0.

    Raises:
        HypersphereError: of one image, which has no pair, so that there is no mean.

    Numerics: the squared distance is computed as 2 - 2 cos, without a root, so rounding enters linearly. A
    large t does not underflow.
    """
    check_negatives("uniformity", z_a)
    potentials = [2 * t * (without_diagonal(cosines(z, z)).flatten() - 1) for z in (z_a, z_b)]
    logs = [potential.logsumexp(dim=0) - math.log(len(potential)) for potential in potentials]
    return weight * torch.stack(logs).mean()
