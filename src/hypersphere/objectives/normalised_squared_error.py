"""Attraction alone: the squared distance between unit vectors (BYOL's regression loss)."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.objectives.geometry import unit


def normalised_squared_error(p: Float[Tensor, "n d"], z: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean over rows of ||p_i/||p_i|| - z_i/||z_i|| ||² = 2 - 2 cos(p_i, z_i), in [0, 4].

    Lecture, "BYOL" (printed "BOYL"); Grill et al. 2020, Eq. 2. The squares are summed over dimensions, not averaged. It
    equals twice ``negative_cosine`` (SimSiam's loss) plus a constant, and ``alignment`` at power 2 exactly. The method
    stops the gradient of ``z`` and sums both directions (erratum S13).

    Geometry: the same direction as that of ``negative_cosine``, along the great circle, and twice the length: 2
    sin(angle) over the norm.

    Numerics: it comes from differences, so nothing cancels near cosine 1. A zero vector stays zero, at squared distance
    1 from every unit vector.
    """
    return (unit(p) - unit(z)).square().sum(dim=1).mean()
