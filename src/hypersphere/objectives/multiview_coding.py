"""Contrastive multiview coding (CMC): each view must find its image among the images of the other view."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.objectives.geometry import cosines


def multiview_coding(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat
) -> Float[Tensor, ""]:
    """-log(exp(cos(a_i, b_i)/t) / sum over j of exp(cos(a_i, b_j)/t)), and the same with the views swapped.

    Tian et al. 2020, Sec. 3.2 (from memory), two views; the LMCL paper's "CMC". Negatives are of the other view only,
    which is what tells it from ``nt_xent``: here the n-1 other rows of the batch. Their experiments on images draw
    them, thousands, from a memory bank of each view and approximate the softmax by noise-contrastive estimation
    (``nce_memory_bank``, from memory); the "negative sample size" of LMCL's Table 2 is presumably the number drawn
    (erratum L11). One direction alone is ``nce`` with other_view.

    Args:
        z_a: embeddings of the first view, not normalised; row i is the positive of row i of ``z_b``.
        z_b: embeddings of the second view.
        temperature: t, in units of cosine.

    Returns:
        The mean over the 2n anchors, in nats; the paper adds the two directions, which is twice that.

    Numerics: the log-sum-exp subtracts the maximum; a zero embedding counts as cosine 0.
    """
    logits = cosines(z_a, z_b) / temperature
    own = torch.arange(len(z_a), device=z_a.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2
