"""Debiased contrastive loss: the negatives' sum is corrected for negatives of the anchor's class."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, PositiveFloat
from hypersphere.errors import HypersphereError
from hypersphere.objectives.pairs import pairs


def debiased(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    tau_plus: Fraction,
) -> Float[Tensor, ""]:
    """-log(pos / (pos + max((sum of neg - tau_plus N pos) / (1 - tau_plus), N e^(-1/t)))), each exp(cos/t).

    Chuang et al. 2020, Eq. 7-8 (numbers from memory), with M = 1 positive; the LMCL paper's "DCL" (not the decoupled
    loss, erratum X1). The negatives are those of the authors' code: the N = 2n-2 embeddings of other images, in both
    views. tau_plus = 0 is ``nt_xent``.

    Geometry: while the corrected sum is above its bound, the forces on an anchor are those of ``nt_xent``, all times
    1/(1 - tau_plus (N + 1) q), where q is the positive's softmax share there. At the bound only the pull stays.

    Args:
        tau_plus: probability that a negative is of the anchor's class; below 1.

    Numerics: see ``corrected``; with n = 1 there is no negative and the loss is 0.
    """
    positive, negatives = both_views(z_a, z_b, temperature)
    return corrected(
        positive, negatives.logsumexp(dim=1), negatives.shape[1], temperature, tau_plus
    )


def both_views(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], temperature: float
) -> tuple[Float[Tensor, "anchors"], Float[Tensor, "anchors negatives"]]:
    """cos/t of each of the 2n anchors with its positive, and with the 2n-2 embeddings of other images."""
    cosines, targets = pairs(z_a, z_b, "both_views")
    logits = cosines / temperature
    # Places and no mask: a GPU's host would wait to learn how many entries a mask has.
    positive = targets.argmax(dim=1, keepdim=True)
    others = torch.arange(logits.shape[1] - 1, device=logits.device)
    others = others + (others >= positive)
    return logits.gather(1, positive)[:, 0], logits.gather(1, others)


def corrected(
    positive: Float[Tensor, "anchors"],
    log_sum: Float[Tensor, "anchors"],
    count: int,
    temperature: float,
    tau_plus: float,
) -> Float[Tensor, ""]:
    """The loss, from the positives' logits and the logarithm of the sum over the ``count`` negatives.

    Numerics: all in logarithms, so that e^(1/t) is never formed. Where the corrected sum is below its lower bound
    N e^(-1/t), or negative, the bound replaces it, and only the positive has a gradient, as with a clamp.
    """
    if not tau_plus < 1:
        raise HypersphereError(
            f"debiased: tau_plus: must be below 1, but is {tau_plus}: no negative would be of another class"
        )
    same_class = positive + _log(tau_plus * count)
    gap = same_class - log_sum
    valid = gap < 0  # the corrected sum is positive
    log_difference = log_sum + (-torch.where(valid, gap, -1).expm1()).log()
    estimate = torch.where(valid, log_difference - math.log1p(-tau_plus), -math.inf)
    bound = _log(count) - 1 / temperature
    return -F.logsigmoid(positive - torch.where(estimate > bound, estimate, bound)).mean()


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
