"""Attraction alone: the negative cosine similarity."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.objectives.geometry import unit


def negative_cosine(p: Float[Tensor, "n d"], z: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean over rows of -cos(p_i, z_i), in [-1, 1].

    Norms paper, Sec. 3 (L^A) and SimSiam's Eq. 1. The method, not the loss, stops the gradient of ``z``.

    Args:
        p: predictions, not normalised.
        z: targets, not normalised.

    Numerics: a zero vector counts as cosine 0, also in half precision.
    """
    return -(unit(p) * unit(z)).sum(dim=1).mean()
