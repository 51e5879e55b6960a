"""Plain logits whose positives' gradient does not fade as their probability nears 1."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, PositiveFloat
from hypersphere.objectives.surgery import attenuation, scale_positives


def attenuation_type_ii(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    alpha: Fraction,
) -> Float[Tensor, "n m"]:
    """cos / t, with the gradient of the positive's logit multiplied by 1/(1 - alpha·q_l).

    Margins paper, Eq. 12, Alg. 6. q_l is the positive's softmax probability. At alpha = 1 every positive is pulled with
    the same force 1/t, while the negatives keep their fading gradients: this is not the gradient of any loss.

    Geometry: at alpha = 1 the pull no longer fades as the positive wins, and the push does: pairs go on contracting
    after negatives have let go. Below 1 the pull fades later than the push.

    Numerics: as ``attenuation_type_i``; the pseudo-code's infinity times p = 0 does not arise (erratum M5).
    """
    logits = cosines / temperature
    return scale_positives(logits, targets, attenuation(logits, targets, alpha))
