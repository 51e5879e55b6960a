"""Noise-contrastive estimation of the softmax over a memory bank, with a proximal term."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import NonNegativeFloat, PositiveFloat
from torch import Tensor

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

    What the lecture's "Noise-Contrastive Estimation" is named after: Wu et al. 2018, Eq. 4-10, with
    P(k) = exp(cos(z_i, bank_k)/t) / Z and noise drawn uniformly. The slide's own formula has no noise (erratum
    S10): it is ``nonparametric_softmax``.

    Args:
        z: embeddings, not normalised.
        index: which image each row is of.
        bank: each image's embedding when it was last seen, a constant.
        noise: m images for each row, drawn uniformly.
        temperature: t, in units of cosine.
        proximal: lambda (the slide's beta), on the squared distance, between unit vectors, from where it was last.

    Returns:
        The mean over the n rows, in nats.

    Numerics: log-sigmoids of log(P/(m/images)). Z is one constant for the batch, without gradient, estimated as in
    Eq. 8 from this batch's noise, images/m · mean over rows of the sum over noise; the authors keep their first
    batches' (from memory), which would be a state. The number of images then cancels.
    """
    anchors, own = unit(z), unit(bank[index])
    positive = (anchors * own).sum(dim=1) / temperature
    rivals = torch.einsum("nd,nmd->nm", anchors, unit(bank[noise])) / temperature
    log_odds_of_noise = rivals.detach().flatten().logsumexp(dim=0) - math.log(len(z))  # log(Z m / images)
    told_apart = F.logsigmoid(positive - log_odds_of_noise) + F.logsigmoid(log_odds_of_noise - rivals).sum(dim=1)
    return (proximal * (anchors - own).square().sum(dim=1) - told_apart).mean()
