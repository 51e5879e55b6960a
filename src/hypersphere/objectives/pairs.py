"""Cosines of anchors with their candidates, and which candidate is the positive.

Shapes: n images, d dimensions, m candidates of an anchor.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.objectives.geometry import cosines, unit

Negatives = Literal["both_views", "other_view", "none"]


def pairs(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], negatives: Negatives
) -> tuple[Float[Tensor, "anchors m"], Float[Tensor, "anchors m"]]:
    """Cosines of each anchor with its candidates, of which it is none itself, and targets: 1 for the positive, else 0.

    ``both_views``: 2n anchors, 2n-1 candidates each (SimCLR). ``other_view``: the n anchors ``z_a``, with the n rows of
    ``z_b`` as candidates (MoCo v3's queries and keys). ``none``: the n anchors ``z_a``, each with its positive only
    (BYOL: the all-ones p of the margins paper, App. E).
    """
    if negatives == "none":
        positive = (unit(z_a) * unit(z_b)).sum(dim=1, keepdim=True)
        return positive, torch.ones_like(positive)
    if negatives == "other_view":
        return cosines(z_a, z_b), torch.eye(len(z_a), dtype=z_a.dtype, device=z_a.device)
    z = torch.cat([z_a, z_b])
    identity = torch.eye(len(z), dtype=z.dtype, device=z.device)
    return without_diagonal(cosines(z, z)), without_diagonal(identity.roll(len(z_a), dims=1))


def check_negatives(objective: str, z: Float[Tensor, "n d"]) -> None:
    """Refuse fewer than two images: one has no negative, and a loss that is a logarithm of their sum is infinite."""
    if len(z) < 2:
        raise HypersphereError(
            f"{objective}: needs at least two images in a pass (given: {len(z)})"
        )


def without_diagonal(square: Float[Tensor, "n n"]) -> Float[Tensor, "n m"]:
    """Row i without its entry i, in the same order: m = n - 1. Unlike a mask it adds no infinite values."""
    n = len(square)
    return square.flatten()[1:].view(n - 1, n + 1)[:, :-1].reshape(n, n - 1)
