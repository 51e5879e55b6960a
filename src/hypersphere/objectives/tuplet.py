"""The (n+1)-tuplet loss: a positive of the anchor's class against embeddings of other classes."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.objectives.geometry import unit


def tuplet(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], labels: Int[Tensor, "n"], *, normalise: bool = True
) -> Float[Tensor, ""]:
    """log(1 + sum over rows j of another class of exp(z_a_i·z_b_j - z_a_i·z_b_i)).

    LMCL paper, Eq. 2; Sohn 2016, the (N+1)-tuplet loss. The paper's form, -log(e^pos / (e^pos + sum of e^neg)), is the
    same number. Its sum over positives k is one k for each anchor, row i of ``z_b``; its negatives are drawn, here they
    are all rows of ``z_b`` of another class, so that with labels all different and ``normalise`` off it is ``n_pair``.

    Args:
        z_a: anchors.
        z_b: row i is of the class of row i of ``z_a``: another image of it, or another view.
        labels: the n rows' classes; rows of one class are not each other's negatives.
        normalise: inner products of unit vectors, as the LMCL paper has them (Sec. 3.1); Sohn's are not normalised.

    Returns:
        The mean over the n anchors, in nats; 0 for an anchor that has no negative.

    Numerics: the log-sum-exp subtracts the row maximum; a zero embedding counts as inner product 0.
    """
    anchors, candidates = (unit(z_a), unit(z_b)) if normalise else (z_a, z_b)
    own = torch.eye(len(z_a), dtype=torch.bool, device=z_a.device)
    left_out = (labels[:, None] == labels[None]) & ~own
    logits = (anchors @ candidates.T).masked_fill(left_out, float("-inf"))
    return F.cross_entropy(logits, torch.arange(len(z_a), device=z_a.device))
