"""Noise-contrastive estimation of the softmax over a memory bank, with a proximal term."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import unit


def nce_memory_bank(
    z: Float[Tensor, "n d"],
    index: Int[Tensor, "n"],
    bank: Float[Tensor, "images d"],
    noise: Int[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    proximal: NonNegativeFloat = 0.0,
) -> Float[Tensor, ""]:
    """-log h(i) - sum over noise k of log(1 - h(k)) + proximal · ||z_i - bank_i||², h = P / (P + m/images).

    Wu et al. 2018, Eq. 4-10, with P(k) = exp(cos(z_i, bank_k)/t) / Z and m images of noise for each row, drawn
    uniformly: the loss that the lecture's "Noise-Contrastive Estimation" is named after. The slide's formula has no
    noise (erratum S10): it is ``nonparametric_softmax``.

    Geometry: a point is pulled to its own entry of the bank and pushed from entries drawn at random. The proximal term
    holds it near where it was in the last epoch.

    Args:
        proximal: lambda (the slide's beta), weight of the squared distance between unit vectors z_i and bank_i.

    Numerics: log-sigmoids of log(P/(m/images)). Z is one constant per batch, without gradient, estimated as in Eq. 8
    from the batch's noise: images/m · mean over rows of the sum over noise. The number of images then cancels. The
    authors keep the Z of their first batches (from memory), which would have to be stored.
    """
    anchors, previous = unit(z), unit(bank[index])
    positive = (anchors * previous).sum(dim=1) / temperature
    negatives = torch.einsum("nd,nmd->nm", anchors, unit(bank[noise])) / temperature
    # log(Z m / images)
    log_noise = negatives.detach().flatten().logsumexp(dim=0) - math.log(len(z))
    log_likelihood = F.logsigmoid(positive - log_noise) + F.logsigmoid(log_noise - negatives).sum(
        dim=1
    )
    return (proximal * (anchors - previous).square().sum(dim=1) - log_likelihood).mean()
