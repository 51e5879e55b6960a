"""Alignment: the expected power of the distance between the two views of an image."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import unit


def alignment(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    power: PositiveFloat = 2.0,
    weight: NonNegativeFloat = 1.0,
) -> Float[Tensor, ""]:
    """weight · mean over i of |u_a_i - u_b_i|^power, u = z/|z|.

    Wang & Isola 2020, the alignment loss of Sec. 4.1 (reference [5] of the double-metric paper, a row of its Table 7).
    At power 2 it is 2 - 2 cos(z_a_i, z_b_i).

    Geometry: at power 2 the two views of an image pull each other along their great circle by 2 sin(angle): most at a
    right angle, and not at all when they meet or are opposite. Nothing keeps images apart: one point for all is a
    minimum.

    Args:
        power: the exponent, alpha in the paper.

    Returns:
        The weighted mean over the n positive pairs; between 0 and weight · 2^power.

    Numerics: distances come from differences. Where two views coincide the gradient is set to 0; for power < 1 it would
    be infinite there, and it is large nearby. A zero embedding stays at the centre: distance 1 to every unit vector.
    """
    square = (unit(z_a) - unit(z_b)).square().sum(dim=1)
    distinct = square > 0
    return weight * (square.where(distinct, 1) ** (power / 2) * distinct).mean()
