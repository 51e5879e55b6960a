"""Alignment and uniformity: their weighted sum, as one loss."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.uniformity import uniformity


def alignment_uniformity(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    power: PositiveFloat = 2.0,
    t: PositiveFloat = 2.0,
    align_weight: NonNegativeFloat = 1.0,
    uniform_weight: NonNegativeFloat = 1.0,
) -> Float[Tensor, ""]:
    """align_weight · alignment + uniform_weight · uniformity.

    Wang & Isola 2020, Sec. 5 (reference [5] of the double-metric paper, a row of its Table 7, which calls the weights
    optimal and does not print them). ``power`` is that of ``alignment``, ``t`` that of ``uniformity``.

    Geometry: one force draws the two views of an image together, the other spreads all images over the sphere; the
    weights set the balance.
    """
    aligned = alignment(z_a, z_b, power=power, weight=align_weight)
    return aligned + uniformity(z_a, z_b, t=t, weight=uniform_weight)
