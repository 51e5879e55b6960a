"""Contrastive multiview coding (CMC): each view is matched with its image among the images of the other view."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines


def multiview_coding(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat
) -> Float[Tensor, ""]:
    """-log(exp(cos(a_i, b_i)/t) / sum over j of exp(cos(a_i, b_j)/t)), and the same with the views swapped.

    Tian et al. 2020, Sec. 3.2 (from memory), two views; the LMCL paper's "CMC". Unlike in ``nt_xent``, negatives are
    of the other view only: here the n-1 other rows of the batch. Tian et al. draw thousands from a memory bank of each
    view and approximate the softmax by noise-contrastive estimation (``nce_memory_bank``, from memory); the "negative
    sample size" of LMCL's Table 2 is presumably the number drawn (erratum L11). One direction alone is ``nce`` with
    other_view.

    Geometry: a point is pulled to its image's point in the other view, and pushed from the other images' points there,
    by their softmax shares. Points of one view do not repel each other.

    Returns:
        The mean over the 2n anchors, in nats; the paper adds the two directions, which gives twice as much.
    """
    logits = cosines(z_a, z_b) / temperature
    positive = torch.arange(len(z_a), device=z_a.device)
    return (F.cross_entropy(logits, positive) + F.cross_entropy(logits.T, positive)) / 2
