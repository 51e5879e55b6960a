"""Normalised temperature-scaled cross-entropy (InfoNCE over both views)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import unit


def nt_xent(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    normalise: bool = True,
) -> Float[Tensor, ""]:
    """-log(exp(cos(z_i, z_j)/t) / sum over k != i of exp(cos(z_i, z_k)/t)), j the other view of i.

    Norms paper, Eq. 1: each of the 2n embeddings is an anchor, with 2n-2 negatives; the positive is in the denominator.

    Geometry: an anchor is pulled along the great circle to its positive, by 1 less the positive's softmax share, and
    pushed from every other point by that point's share; both are multiplied by sin(angle)/t and divided by the anchor's
    norm. A small t gives the push to the nearest points.

    Figure: embedding_norms/fig2b, embedding_norms/fig2c, lecture/table5_entropy.

    Args:
        normalise: cosines; False: inner products of the embeddings as they are (SimCLR, Table 5), with t in their
            units.
    """
    z_2nd = torch.cat([z_a, z_b])
    z_2nd = unit(z_2nd) if normalise else z_2nd
    logits = z_2nd @ z_2nd.T / temperature
    logits = logits.masked_fill(
        torch.eye(len(logits), dtype=torch.bool, device=logits.device), float("-inf")
    )
    n = len(z_a)
    positive = torch.arange(2 * n, device=logits.device).roll(n)
    return F.cross_entropy(logits, positive)
