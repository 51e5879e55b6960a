"""InfoNCE with a weight on its denominator and a free choice of the map from cosines to logits."""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat
from hypersphere.objectives.pairs import pairs


def generalised_info_nce(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    to_logits: Callable[[Tensor, Tensor], Tensor],
    *,
    negatives: Literal["both_views", "other_view", "none"],
    beta: NonNegativeFloat = 1.0,
) -> Float[Tensor, ""]:
    """-logit of the positive + beta · log(sum over all candidates of exp(logit)), for each anchor.

    Margins paper, Eq. 3 and 5, right-hand side: beta multiplies the logarithm (erratum M2). beta = 1 is InfoNCE, and
    with both_views NT-Xent. beta = 0 with negatives none and plain logits is -cos/t, which is BYOL's 2 - 2·cos up to
    the factor 1/(2t) and a constant.

    Geometry: a candidate acts along the great circle, by p - beta·q times the slope of its logit: p is its target and q
    its softmax probability. A positive pulls, negatives push; with beta = 0 nothing pushes.

    Figure: margins/fig1.

    Args:
        z_b: embeddings of the second view, or the targets.
        to_logits: maps cosines and targets (1 for the positive, else 0), both [anchors, m], to logits:
            ``cosine_logits``, or a map with a margin or a changed gradient.
        negatives: both_views: 2n anchors, 2n-2 negatives each. other_view: anchors z_a, negatives from z_b only, in one
            direction (a symmetric loss is the mean of two calls). none: anchors z_a with their positives only.

    Numerics: cosines, never arccos (erratum M11).
    """
    cosines, targets = pairs(z_a, z_b, negatives)
    return info_nce_of_logits(to_logits(cosines, targets), targets, beta)


def info_nce_of_logits(
    logits: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], beta: float | Float[Tensor, " n"]
) -> Float[Tensor, ""]:
    """Eq. 5: mean over anchors of -sum_j p_j·logit_j + beta · sum_j p_j · log sum_k exp(logit_k), for any p."""
    attraction = (targets * logits).sum(dim=1)
    denominator = targets.sum(dim=1) * logits.logsumexp(dim=1)
    return (beta * denominator - attraction).mean()
