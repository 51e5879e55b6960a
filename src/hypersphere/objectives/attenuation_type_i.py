"""Plain logits whose gradients do not fade as the positive's probability nears 1."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, PositiveFloat
from hypersphere.objectives.surgery import attenuation, scale_gradient


def attenuation_type_i(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    alpha: Fraction,
) -> Float[Tensor, "n m"]:
    """cos / t, with the gradients of all logits of an anchor multiplied by 1/(1 - alpha·q_l), q_l of its positive.

    Margins paper, Eq. 12, Alg. 5. q_l is the positive's softmax probability. alpha = 1 has exactly the gradient of the
    decoupled loss, whose denominator omits the positive (Yeh et al. 2022; erratum M14); alpha = 1 - exp(-m2/t) has that
    of a subtractive margin m2 alone (M13).

    Geometry: pull and push fade with 1 - q_l as the positive wins. The weight gives back a part of that, at alpha = 1
    all: the positive is then pulled by 1/t times sin(angle), and the negatives share a push of 1/t.

    Numerics: the weight is taken at the positive; the paper also divides by p - alpha·q of negatives, which is 0/0 at
    alpha = 0 (erratum M5). Where q_l has rounded to 1, the loss's own gradient is 0, and stays 0. Without negatives
    q_l = 1, and the weight is meaningless.
    """
    logits = cosines / temperature
    return scale_gradient(logits, attenuation(logits, targets, alpha))
