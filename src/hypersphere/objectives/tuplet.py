"""The (n+1)-tuplet loss: a positive of the anchor's class against embeddings of other classes."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.objectives.geometry import unit


def tuplet(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    *,
    normalise: bool = True,
) -> Float[Tensor, ""]:
    """log(1 + sum over rows j of another class of exp(z_a_i·z_b_j - z_a_i·z_b_i)).

    LMCL paper, Eq. 2; Sohn 2016, the (N+1)-tuplet loss. The paper's form, -log(e^pos / (e^pos + sum of e^neg)), is the
    same number. The paper sums over positives k; here each anchor has one, row i of ``z_b``. The paper draws negatives;
    here they are all rows of ``z_b`` of another class. If all labels differ and ``normalise`` is off it is ``n_pair``.

    Geometry: an anchor is pulled to its positive and pushed from rows of other classes by their softmax shares: along
    great circles if ``normalise`` is on; otherwise longer embeddings lower the loss too, as in ``n_pair``.

    Args:
        z_b: row i has the class of row i of ``z_a``: another image of that class, or another view.
        normalise: inner products of unit vectors, as in the LMCL paper (Sec. 3.1); Sohn's are not normalised.
    """
    anchors, candidates = (unit(z_a), unit(z_b)) if normalise else (z_a, z_b)
    positives = torch.eye(len(z_a), dtype=torch.bool, device=z_a.device)
    same_class = (labels[:, None] == labels[None]) & ~positives
    logits = (anchors @ candidates.T).masked_fill(same_class, float("-inf"))
    return F.cross_entropy(logits, torch.arange(len(z_a), device=z_a.device))
