"""Plain logits whose gradients are multiplied by the ratio of the denominators without and with an angular margin."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.objectives.surgery import ratio_of_sums, scale_gradient, scale_positives


def ratio_scaling(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    angular: NonNegativeFloat,
    scope: Literal["positives", "row"] = "positives",
) -> Float[Tensor, "n m"]:
    """cos / t, with gradients multiplied by sum_k exp(logit_k) / sum_k exp(logit_k with margin m1) ("+ ratio.").

    Margins paper, Sec. 5.4, Alg. 4; the ratio is that of Lemma 4.2.

    Geometry: by Theorem 4.1 and Lemma 4.2 an angular margin multiplies the positive's gradient by a quotient of sines,
    and all gradients by this ratio. Here the positive's force (or every force of its row) has the ratio alone, and
    cosines keep their values.

    Figure: margins/fig8.

    Args:
        angular: m1, in radians; 0 changes nothing.
        scope: positives: the positive's logit only (Alg. 4). row: all logits of the anchor, which weights its loss
            (Sec. 4.1). Algorithm 4's caption names Fig. 7; nothing says which of them the tables used (erratum M4).

    Numerics: the ratio comes from log-sum-exps. It is at most 1/(1 - q_l), q_l the positive's softmax probability, and
    clamped to 1/eps, beyond which the loss's own 1 - q_l is rounding.
    """
    logits = cosines / temperature
    ratio = ratio_of_sums(
        logits, margin_logits(cosines, targets, temperature=temperature, angular=angular)
    )
    return (
        scale_positives(logits, targets, ratio)
        if scope == "positives"
        else scale_gradient(logits, ratio)
    )
