"""InfoNCE over all embeddings of a batch, the anchor itself among them or not."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.objectives.geometry import cosines


def info_nce(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat, include_self: bool = True
) -> Float[Tensor, ""]:
    """-log(exp(cos(z_i, z_j)/t) / sum over k of exp(cos(z_i, z_k)/t)) for each positive pair (i, j), both ways round.

    Lecture, "InfoNCE": P holds the 2n ordered pairs of views, and k runs over all of the slide's N embeddings, here 2n,
    k = i included: a constant exp(1/t) in every denominator, which keeps the loss above log(2 + (2n-2)e^(-2/t))
    (erratum S4). Without it this is NT-Xent. Where N counts images, and k = i is the positive, the loss is the
    cross-view one: see ``generalised_info_nce`` with negatives other_view.

    Args:
        z_a: embeddings of the first view, not normalised; row i is the positive of row i of ``z_b``.
        z_b: embeddings of the second view.
        temperature: t, in units of cosine.
        include_self: whether the denominator has k = i.

    Returns:
        The mean over the 2n anchors (the slide sums), in nats.

    Numerics: the log-sum-exp subtracts the row maximum; a zero embedding counts as cosine 0, with itself too.
    """
    z_2nd = torch.cat([z_a, z_b])
    logits = cosines(z_2nd, z_2nd) / temperature
    if not include_self:
        logits = logits.masked_fill(torch.eye(len(logits), dtype=torch.bool, device=logits.device), float("-inf"))
    positive = torch.arange(len(logits), device=logits.device).roll(len(z_a))
    return F.cross_entropy(logits, positive)
