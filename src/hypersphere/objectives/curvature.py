"""Plain logits whose positives' gradient is multiplied by a curve of their angle."""

import math
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import angles
from hypersphere.objectives.surgery import scale_positives


def curvature(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    c: PositiveFloat,
    s: PositiveFloat = 1.0,
    curve: Literal["equation_10", "algorithm_3"] = "equation_10",
) -> Float[Tensor, "n m"]:
    """cos / t, the gradient of the positive's logit multiplied by s · gamma(theta/pi, c) ("+ curv.", "+ pos. & curv.").

    Margins paper, Eq. 9 to 11. With negatives none and beta 0 it is BYOL's version.

    Geometry: gamma falls from 1 where a positive meets its anchor to 0 where it is opposite: near positives are pulled
    by the whole factor s, far ones by less. At c = 1 it falls in a straight line; a larger c keeps it near 1 for
    longer.

    Args:
        c: exponent: the curve is convex below 1, the line 1 - theta/pi at 1, concave above; its limit at infinity is 1.
        curve: equation_10: (1 - x^c)^(1/c). algorithm_3: (1 - x)^(1/c), the pseudo-code's; they agree only at c = 1 and
            in the limit (erratum M1).

    Numerics: only the weight uses the angle, so the slope of arccos never enters (erratum M11).
    """
    logits = cosines / temperature
    return scale_positives(logits, targets, s * gamma(angles(cosines.detach()) / math.pi, c, curve))


def gamma(
    x: Float[Tensor, "*n"], c: float, curve: Literal["equation_10", "algorithm_3"]
) -> Float[Tensor, "*n"]:
    """The curve from (0, 1) to (1, 0). The paper's |·| is kept, for x that rounds to more than 1."""
    return (1 - (x**c if curve == "equation_10" else x)).abs() ** (1 / c)
