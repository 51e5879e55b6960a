"""Attraction alone: the negative cosine similarity."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.objectives.geometry import unit


def negative_cosine(p: Float[Tensor, "n d"], z: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean over rows of -cos(p_i, z_i), in [-1, 1].

    Norms paper, Sec. 3 (L^A) and SimSiam's Eq. 1. The method, not the loss, stops the gradient of ``z``.

    Geometry: the gradient is tangent to the sphere, along the great circle to the other view, and for each row has
    length sin(angle) over the norm: it is weak for long embeddings and where the two views meet or are opposite.

    Figure: embedding_norms/fig1, embedding_norms/fig2a.
    """
    return -(unit(p) * unit(z)).sum(dim=1).mean()
