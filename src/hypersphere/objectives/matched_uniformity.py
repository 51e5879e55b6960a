"""Uniformity with the gradient norm of distance polarization: the same push, in another direction."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import Fraction, NonNegativeFloat, PositiveFloat
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.surgery import scale_gradient
from hypersphere.objectives.uniformity import uniformity


def matched_uniformity(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    weight: NonNegativeFloat,
    lower: Fraction = 0.1,
    upper: Fraction = 0.5,
    reduction: Literal["mean", "sum"] = "mean",
    t: PositiveFloat = 2.0,
) -> Float[Tensor, ""]:
    """``uniformity``, its gradient multiplied by |gradient of distance polarization| / |its own gradient|.

    Ours: a control for LMCL's Eq. 9. If any term that spreads embeddings helps as much as ``distance_polarization``
    does, then the margin region is not the reason. The norms are of the gradients with respect to all rows of both
    views of this batch, so that they are equal at every step. One fixed weight cannot do this: at the start sentences
    lie so close together that distance polarization has no gradient, and its gradient changes as they spread.

    Geometry: all pairs repel each other as in ``uniformity``, together as hard as ``distance_polarization`` would push
    its pairs.

    Args:
        z_a: at least two images.
        weight: lambda of the distance polarization whose gradient is matched, as ``lower``, ``upper`` and ``reduction``
            are its own; ``t`` is uniformity's.

    Numerics: no gradient flows through the factor, which is computed in at least single precision and is at most 1/eps.
    Where uniformity has no gradient, this has none.
    """
    exact = torch.promote_types(z_a.dtype, torch.float32)
    leaves = [z.detach().to(exact).requires_grad_() for z in (z_a, z_b)]
    with torch.enable_grad():
        ours = uniformity(*leaves, t=t)
        theirs = distance_polarization(
            *leaves, weight=weight, lower=lower, upper=upper, reduction=reduction
        )
    own, wanted = (torch.cat(torch.autograd.grad(term, leaves)).norm() for term in (ours, theirs))
    factor = wanted / own.clamp(min=torch.finfo(exact).tiny)
    value = uniformity(z_a, z_b, t=t)
    return scale_gradient(value, factor.clamp(max=1 / torch.finfo(value.dtype).eps).to(value.dtype))
