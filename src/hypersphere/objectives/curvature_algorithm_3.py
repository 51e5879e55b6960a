"""The pseudo-code of curvature as it is printed, which changes values."""

import math

from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.objectives.curvature import gamma
from hypersphere.objectives.geometry import angles


def curvature_algorithm_3(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    c: PositiveFloat,
    s: PositiveFloat = 1.0,
) -> Float[Tensor, "n m"]:
    """The positive's logit becomes cos/(pi·t) in value, and keeps a gradient of s · (1 - theta/pi)^(1/c) times cos/t's.

    Margins paper, Alg. 3 to the letter, its 1/pi where every other algorithm has 1 (erratum M3). It is here to measure
    what that misprint would do: a smaller positive in the softmax, and with it other gradients for the whole row. The
    intended objective is ``curvature``.

    Args:
        cosines: cos theta of n anchors with their m candidates.
        targets: p, 1 for the positive and 0 for negatives.
        temperature: t, in units of cosine.
        c: the curve's exponent.
        s: the factor at theta = 0.

    Returns:
        Logits, in nats: not the values of ``cosine_logits``.

    Numerics: as ``curvature``.
    """
    logits = cosines / temperature
    kept = logits.detach()
    scales = s * gamma(angles(cosines.detach()) / math.pi, c, "algorithm_3")
    return (1 - targets) * logits + targets * ((1 / math.pi - scales) * kept + scales * logits)
