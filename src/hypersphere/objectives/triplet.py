"""The triplet loss: a positive should be nearer than a negative, by a margin."""

import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.objectives.pairs import without_diagonal


def triplet(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, margin: PositiveFloat, hinge: bool = True
) -> Float[Tensor, ""]:
    """||z_a_i - z_b_i||² + margin - ||z_a_i - z_b_j||² for every anchor i and every j != i (batch-all).

    Lecture, "Triplet Loss", which prints no hinge and so a loss without lower bound (erratum S2); Schroff et al. 2015,
    Eq. 3 (FaceNet) keep only its positive part. Their embeddings have unit norm; the slide's, and these, are free.

    Args:
        z_a: anchors.
        z_b: row i is the positive of row i of ``z_a``, and a negative of every other row.
        margin: alpha, in units of squared distance.
        hinge: whether a triplet that fulfils the margin costs nothing; False is the slide's formula.

    Returns:
        The mean over the n(n-1) triplets, those that cost nothing included, in units of squared distance; 0 if n = 1.

    Numerics: squared distances are sums of squared differences, without cancellation; beyond 65504 they overflow in
    float16.
    """
    squares = (z_a[:, None] - z_b[None]).square().sum(dim=-1)
    excess = squares.diagonal()[:, None] + margin - without_diagonal(squares)
    if hinge:
        excess = F.relu(excess)
    return excess.mean() if excess.numel() else excess.sum()
