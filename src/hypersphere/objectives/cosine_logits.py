"""Plain logits: cosine over temperature."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat


def cosine_logits(
    cosines: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], *, temperature: PositiveFloat
) -> Float[Tensor, "n m"]:
    """cos / t, whatever the targets (margins paper, Eq. 2, Alg. 1).

    Geometry: the slope of a logit by the angle is -sin(angle)/t: forces along a great circle are greatest at a right
    angle, and vanish where two points meet or are opposite.

    Figure: margins/fig1.

    Numerics: the cosine is used directly, not as cos(arccos(·)) as in the paper (erratum M11).
    """
    return cosines / temperature
