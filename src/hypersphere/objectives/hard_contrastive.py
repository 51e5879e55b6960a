"""Hard contrastive loss: only the most similar negatives of each anchor stay in the denominator."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, PositiveFloat
from hypersphere.objectives.pairs import pairs
from hypersphere.rounding import settle


def hard_contrastive(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    share: Fraction,
) -> Float[Tensor, ""]:
    """-log(exp(c_ij/t) / (exp(c_ij/t) + sum over hard k of exp(c_ik/t))), c the cosine, j the positive of i.

    Wang & Liu 2021, hard contrastive loss (reference [25] of the double-metric paper): k is hard if c_ik is among the
    upper ``share`` of the anchor's negatives. The double-metric paper does not say whether the row "[25] (tau = 0.3)"
    of its Table 7 is this loss or plain NT-Xent at that temperature (erratum D20). Our reading: of the 2n-2 negatives
    of both views, ceil(share · (2n-2)) are kept, chosen anew in each batch. With share 1 it is NT-Xent; with share 0
    there are no negatives, and the loss is 0.

    Geometry: as in ``nt_xent`` a positive pulls and negatives push along great circles, but only the nearest negatives
    do.

    Numerics: among negatives that equal the threshold the choice is arbitrary: it changes which of them get the
    gradient, not the value.
    """
    cosines_2nm, targets = pairs(z_a, z_b, "both_views")
    count = math.ceil(settle(share * (2 * len(z_a) - 2)))
    positive = (cosines_2nm * targets).sum(dim=1, keepdim=True)
    hard = cosines_2nm.masked_fill(targets > 0, float("-inf")).topk(count, dim=1).values
    logits = torch.cat([positive, hard], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device))
