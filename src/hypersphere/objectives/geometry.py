"""Unit vectors, cosines, angles and distances, finite also where the papers' formulas are not.

Shapes: n, m rows, d dimensions; ``*n`` stands for any leading axes.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def unit(z: Float[Tensor, "*n d"]) -> Float[Tensor, "*n d"]:
    """Rows divided by their Euclidean norm. A zero row stays zero and has a finite gradient, the incoming one over eps.

    The norm is clamped to at least eps: 1e-12, or the smallest normal number in half precision, where 1e-12 would be 0.
    """
    return F.normalize(z, dim=-1, eps=max(1e-12, torch.finfo(z.dtype).tiny))


def cosines(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    """cos(a_i, b_j); by rounding it can exceed ±1 by a few units in the last place."""
    return unit(a) @ unit(b).T


def sines(cosine: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """sin(arccos(c)) = sqrt(1 - c²) >= 0; the gradient is 0 at c = ±1, where it would be infinite, and beyond."""
    square = (1 - cosine) * (1 + cosine)
    inside = square > 0
    return torch.where(inside, square, 1).sqrt() * inside


def angles(cosine: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """arccos(c) in [0, pi]; the gradient is 0 at c = ±1, where it would be infinite, and beyond."""
    inside = cosine.abs() < 1
    return torch.where(
        inside, torch.where(inside, cosine, 0).acos(), cosine.detach().clamp(-1, 1).acos()
    )


def distances(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    """||a_i - b_j||, from differences (no cancellation); the gradient is 0 where two points coincide."""
    exact = torch.promote_types(a.dtype, torch.float32)  # squares would overflow in half precision
    return torch.cdist(a.to(exact), b.to(exact), compute_mode="donot_use_mm_for_euclid_dist").to(
        a.dtype
    )


def effective_rank(matrix: Float[Tensor, "n d"]) -> float:
    """The exponential of the entropy of the singular values' shares (Roy & Vetterli 2007, Eq. 2-4).

    Returns:
        Between 1 and min(n, d); 0 for a matrix of zeros, all of whose rows coincide.
    """
    singular = torch.linalg.svdvals(matrix)
    if not singular.sum() > 0:
        return 0.0
    shares = singular / singular.sum()
    return float(torch.special.entr(shares).sum().exp())
