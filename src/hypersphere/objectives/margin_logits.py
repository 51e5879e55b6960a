"""Logits with an angular and a subtractive margin on the positives."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import sines


def margin_logits(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    angular: NonNegativeFloat = 0.0,
    subtractive: NonNegativeFloat = 0.0,
    beyond_pi: Literal["printed", "monotone"] = "printed",
) -> Float[Tensor, "n m"]:
    """(cos(theta + m1·p) - m2·p) / t.

    Margins paper, Eq. 4, Alg. 2. Values and gradients change, those of negatives through the denominator.

    Geometry: a positive counts as farther than it is, by the angle m1 and by m2 of cosine, so that pull and push fade
    later. At an angle beyond pi - m1 the printed angular margin turns the pull into a push.

    Figure: margins/fig2.

    Args:
        angular: m1, in radians (ArcFace's margin).
        subtractive: m2, in units of cosine (CosFace's margin).
        beyond_pi: the rule where theta + m1 > pi. printed: the formula as it is, which there pushes positives further
            away (erratum M10). monotone: cos theta - m1·sin m1 (ArcFace's guard, Deng et al. 2019), which keeps falling
            with theta, after a jump down. For m1 above 2.34 the jump is upwards, and the rule is not monotone.

    Numerics: the cosine of the sum comes from the addition theorem, not from arccos (erratum M11). At cos = ±1 the
    slope in the cosine would be infinite. It is taken as cos(m1·p), which is harmless because an embedding's own
    gradient is 0 there.
    """
    margins = angular * targets
    rotated = cosines * margins.cos() - sines(cosines) * margins.sin()
    if beyond_pi == "monotone":
        rotated = torch.where(cosines < -margins.cos(), cosines - margins * margins.sin(), rotated)
    return (rotated - subtractive * targets) / temperature
