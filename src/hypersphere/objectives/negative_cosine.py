"""Attraction alone: the negative cosine similarity."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def negative_cosine(p: Float[Tensor, "n d"], z: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean over rows of -cos(p_i, z_i), in [-1, 1].

    Norms paper, Sec. 3 (L^A) and SimSiam's Eq. 1; the stop-gradient on ``z`` is the method's, not the loss's.

    Args:
        p: predictions, not normalised.
        z: targets, not normalised.

    Numerics: a zero vector counts as cosine 0.
    """
    return -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(dim=1).mean()
