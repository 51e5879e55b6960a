"""The distance polarization (DP) regulariser R1: a penalty on distances inside a margin region."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, NonNegativeFloat
from hypersphere.errors import HypersphereError
from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.pairs import without_diagonal


def distance_polarization(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    weight: NonNegativeFloat,
    lower: Fraction = 0.1,
    upper: Fraction = 0.5,
    reduction: Literal["mean", "sum"] = "mean",
    among: Literal["first_view", "each_view", "both_views"] = "each_view",
) -> Float[Tensor, ""]:
    """weight · sum or mean over pairs of |min((D - lower)(D - upper), 0)|, D = (1 - cos)/2.

    LMCL paper, Eq. 3, Eq. 10 and footnote 3; it is added to a contrastive loss (Eq. 9). Only the absolute value makes
    it a penalty (erratum L3): 0 outside the margin region, inside it at most (upper - lower)²/4, which by default is
    0.04 at D = 0.3. A pair is pulled together below the middle and pushed apart above it.

    Geometry: D is 0 where two points meet and 1 where they are opposite. Pairs in the margin region are driven out of
    it, to the nearer end; all others feel no force.

    Figure: lmcl/fig3.

    Args:
        weight: lambda; the paper uses 0.1.
        lower: delta+, below which a pair counts as similar; "+" is for positive (erratum L4).
        upper: delta-, above which it counts as dissimilar.
        reduction: not stated in the paper (erratum L5). mean: over the pairs, so that lambda does not depend on the
            batch. sum: the double sum of Eq. 10, over the n(n-1) ordered pairs.
        among: the pairs (erratum L6). Eq. 10 has the sampled points once, without views or positive pairs. first_view:
            pairs of rows of ``z_a``. each_view: pairs of rows of ``z_a`` and pairs of rows of ``z_b``, averaged.
            both_views: all pairs of the 2n rows, with the positive pairs.

    Numerics: there is no square root and no arccos, so nothing is singular at cos = ±1; the gradient at the two kinks
    D = lower and D = upper is 0. Pairs of a row with itself have no penalty, and the mean excludes them.
    """
    if not lower < upper:
        raise HypersphereError(
            f"distance_polarization: lower: must be below upper, but {lower} is not below {upper}"
        )
    batches = {"first_view": [z_a], "each_view": [z_a, z_b], "both_views": [torch.cat([z_a, z_b])]}[
        among
    ]
    distance = torch.stack([(1 - without_diagonal(cosines(z, z))) / 2 for z in batches])
    penalty = (-(distance - lower) * (distance - upper)).relu()
    return (
        weight * penalty.sum() / (len(batches) if reduction == "sum" else max(penalty.numel(), 1))
    )
