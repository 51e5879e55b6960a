"""The multi-class N-pair loss: the inner product with the positive against those with all other pairs' positives."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def n_pair(z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """log(1 + sum over j != i of exp(z_a_i·z_b_j - z_a_i·z_b_i)), which is cross-entropy over z_a_i's inner products.

    Lecture, "N-pair loss" (N-pair-mc); Sohn 2016, Sec. 3.2. Each term is the (N+1)-tuplet loss of the slide before
    (``tuplet``), with the other pairs' positives as the N-1 negatives. Inner products are not normalised, and there is
    no temperature; Sohn's penalty on squared norms is not on the slide.

    Geometry: there is no sphere: a pair lowers the loss by turning together and, once its inner product is the largest,
    by growing longer.

    Args:
        z_b: each row is a negative of every other anchor, so all pairs must be of different classes.

    Numerics: norms are not bounded, so inner products beyond 65504 overflow in float16.
    """
    return F.cross_entropy(z_a @ z_b.T, torch.arange(len(z_a), device=z_a.device))
