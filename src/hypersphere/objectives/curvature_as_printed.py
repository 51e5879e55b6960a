"""Curvature with the misprint of its pseudo-code, which changes values too."""

import math

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.curvature import gamma
from hypersphere.objectives.geometry import angles


def curvature_as_printed(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    c: PositiveFloat,
    s: PositiveFloat = 1.0,
) -> Float[Tensor, "n m"]:
    """The positive's logit has the value cos/(pi·t), and the gradient of cos/t times s · (1 - theta/pi)^(1/c).

    Margins paper, Alg. 3 to the letter, with its 1/pi where every other algorithm has 1 (erratum M3). It shows what the
    misprint does: the positive is smaller in the softmax, so that all gradients of the row change. The intended
    objective is ``curvature``, with either of its curves.

    Geometry: a positive counts as farther than it is below a right angle, and as nearer beyond it. Pull and push follow
    that softmax; the curve of the pull is Algorithm 3's.

    Args:
        c: the curve's exponent.
        s: the factor at theta = 0.

    Returns:
        Logits, in nats: not the values of ``cosine_logits``.

    Numerics: as ``curvature``.
    """
    logits = cosines / temperature
    stopped = logits.detach()
    scales = s * gamma(angles(cosines.detach()) / math.pi, c, "algorithm_3")
    return (1 - targets) * logits + targets * ((1 / math.pi - scales) * stopped + scales * logits)
