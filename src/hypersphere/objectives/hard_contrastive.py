"""Hard contrastive loss: only the most similar negatives of each anchor stay in the denominator."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.declared.registry import Fraction
from hypersphere.objectives.pairs import pairs


def hard_contrastive(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat, share: Fraction
) -> Float[Tensor, ""]:
    """-log(exp(c_ij/t) / (exp(c_ij/t) + sum over hard k of exp(c_ik/t))), c the cosine, j the positive of i.

    Wang & Liu 2021, hard contrastive loss (reference [25] of the double-metric paper): k is hard if c_ik is among the
    upper ``share`` of the anchor's own negatives. Whether the row "[25] (tau = 0.3)" of the double-metric paper's
    Table 7 is this loss or plain NT-Xent at that temperature is not said (erratum D20). Our reading: the 2n-2
    negatives of both views, of which ceil(share · (2n-2)) stay, chosen anew from the values of each batch. With
    share 1 it is NT-Xent; with share 0 nothing is contrasted, and the loss is 0.

    Args:
        z_a: embeddings of the first view, not normalised; row i is the positive of row i of ``z_b``.
        z_b: embeddings of the second view.
        temperature: t, in units of cosine.
        share: the fraction of negatives kept, rounded up to a whole number of them.

    Returns:
        The mean over the 2n anchors, in nats.

    Numerics: the log-sum-exp subtracts the row maximum; a zero embedding counts as cosine 0. Of negatives equal to the
    threshold any may be kept: the value is the same, the gradient goes to those kept.
    """
    cosines_2nm, targets = pairs(z_a, z_b, "both_views")
    kept = math.ceil(share * (2 * len(z_a) - 2) - 1e-9)  # 0.14 · 50 is a little above 7
    positive = (cosines_2nm * targets).sum(dim=1, keepdim=True)
    hard = cosines_2nm.masked_fill(targets > 0, float("-inf")).topk(kept, dim=1).values
    logits = torch.cat([positive, hard], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device))
