"""Hard-negative contrastive loss (HCL): the debiased loss with negatives weighted by similarity to the anchor."""

import math

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, NonNegativeFloat, PositiveFloat
from hypersphere.objectives.debiased import both_views, corrected


def hard_negative(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    tau_plus: Fraction,
    concentration: NonNegativeFloat,
) -> Float[Tensor, ""]:
    """``debiased`` with the sum of neg_k replaced by sum of w_k neg_k, w_k = neg_k^beta / mean of neg^beta.

    Robinson et al. 2021, Eq. 4 (number from memory), as in the authors' code: neg = exp(cos/t), so the weights are
    proportional to exp(beta cos/t). They have mean 1 over the N = 2n-2 negatives, and gradients flow through them;
    M = 1. beta = 0 is ``debiased``.

    Geometry: as in ``debiased``, with a push that leans to the negatives nearest to the anchor: the larger beta is, the
    more. Far negatives are pulled, because the weights have gradients too.

    Args:
        concentration: beta.

    Numerics: as ``debiased``; the weighted sum is a difference of two log-sum-exps.
    """
    positive, negatives = both_views(z_a, z_b, temperature)
    count = negatives.shape[1]
    log_weights = (concentration * negatives).logsumexp(dim=1) - math.log(max(count, 1))
    log_sum = ((1 + concentration) * negatives).logsumexp(dim=1) - log_weights
    return corrected(positive, log_sum, count, temperature, tau_plus)
