"""InfoNCE over all embeddings of a batch, with or without the anchor itself."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines


def info_nce(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    include_self: bool = True,
) -> Float[Tensor, ""]:
    """-log(exp(cos(z_i, z_j)/t) / sum over k of exp(cos(z_i, z_k)/t)) for each ordered positive pair (i, j).

    Lecture, "InfoNCE": P holds the 2n ordered pairs of views, and k runs over all N embeddings of the slide, here 2n,
    including k = i. This adds a constant exp(1/t) to every denominator and keeps the loss above
    log(2 + (2n-2)e^(-2/t)) (erratum S4); without it the loss is NT-Xent. If N counts images and k = i is the positive,
    it is the cross-view loss: ``generalised_info_nce`` with negatives other_view. The slide
    prints no mean.

    Geometry: as in ``nt_xent``, but the anchor is a candidate of itself, at cosine 1. It exerts no force, and takes a
    share of the softmax, so that the positive's share is at most one half and its pull keeps at least half its weight.

    Numerics: a zero embedding counts as cosine 0 with itself, too.
    """
    z_2nd = torch.cat([z_a, z_b])
    logits = cosines(z_2nd, z_2nd) / temperature
    if not include_self:
        logits = logits.masked_fill(
            torch.eye(len(logits), dtype=torch.bool, device=logits.device), float("-inf")
        )
    positive = torch.arange(len(logits), device=logits.device).roll(len(z_a))
    return F.cross_entropy(logits, positive)
