"""Logits with an angular and a subtractive margin on the positives."""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import NonNegativeFloat, PositiveFloat
from torch import Tensor

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

    Margins paper, Eq. 4, Alg. 2. Both values and gradients change, and through the denominator the negatives' too.

    Args:
        cosines: cos theta of n anchors with their m candidates.
        targets: p, 1 for the positive and 0 for negatives.
        temperature: t, in units of cosine.
        angular: m1, in radians (ArcFace's margin).
        subtractive: m2, in units of cosine (CosFace's margin).
        beyond_pi: what to do where theta + m1 > pi. printed: nothing, so that there the loss pushes positives further
            away (erratum M10). monotone: cos theta - m1·sin m1 (ArcFace's guard, Deng et al. 2019), which still falls
            with theta, after a jump down; from m1 = 2.34 on the jump is upwards, and the name no longer holds.

    Returns:
        Logits, in nats.

    Numerics: the cosine of the sum by the addition theorem, not by arccos (erratum M11); at cos = ±1, where the slope
    in the cosine is infinite, it is cos(m1·p), which is harmless: an embedding's own gradient there is 0.
    """
    margins = angular * targets
    turned = cosines * margins.cos() - sines(cosines) * margins.sin()
    if beyond_pi == "monotone":
        turned = torch.where(cosines < -margins.cos(), cosines - margins * margins.sin(), turned)
    return (turned - subtractive * targets) / temperature
