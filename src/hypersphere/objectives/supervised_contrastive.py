"""Contrast by label: every other embedding of the anchor's class is a positive."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.pairs import without_diagonal


def supervised_contrastive(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], labels: Int[Tensor, "n"], *, temperature: PositiveFloat
) -> Float[Tensor, ""]:
    """Mean over the anchor's positives of -log(exp(cos(z_i, z_p)/t) / sum over k != i of exp(cos(z_i, z_k)/t)).

    Khosla et al. 2020, Eq. 2 (L_out: the mean over positives is outside the logarithm). If all labels differ it is
    NT-Xent.

    Geometry: all other embeddings of its class pull an anchor with one weight, and every point pushes by its softmax
    share: classes gather in clusters.

    Args:
        z_b: embeddings of the second view; row i has the label of row i of ``z_a``.
        labels: the n images' classes.

    Returns:
        The mean over the 2n anchors, in nats. The equation sums; the authors' code also multiplies by t over a base
        temperature (from memory).

    Numerics: the log-softmax subtracts the row maximum; a zero embedding counts as cosine 0. Every anchor has a
    positive, its other view.
    """
    z_2nd, y_2n = torch.cat([z_a, z_b]), torch.cat([labels, labels])
    log_softmax = (without_diagonal(cosines(z_2nd, z_2nd)) / temperature).log_softmax(dim=1)
    positive = without_diagonal(y_2n[:, None] == y_2n[None])
    return -((log_softmax * positive).sum(dim=1) / positive.sum(dim=1)).mean()
