"""The triplet loss: a positive should be nearer than a negative, by a margin."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.pairs import without_diagonal


def triplet(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    margin: PositiveFloat,
    hinge: bool = True,
) -> Float[Tensor, ""]:
    """||z_a_i - z_b_i||² + margin - ||z_a_i - z_b_j||² for every anchor i and every j != i (batch-all).

    Lecture, "Triplet Loss", which prints no hinge and so a loss without lower bound (erratum S2); Schroff et al. 2015,
    Eq. 3 (FaceNet) keep only the positive part. Their embeddings have unit norm; the slide's and these are not
    normalised.

    Geometry: the force on an anchor is 2 (z_b_i - z_b_j), from the negative to the positive, wherever the anchor is.
    Without the hinge no distance ends it; with the hinge it acts while the negative is not farther than the positive by
    the margin, in squared distance.

    Args:
        margin: alpha, in units of squared distance.

    Returns:
        The mean over all n(n-1) triplets, also those of loss 0, in units of squared distance; 0 if n = 1.

    Numerics: squared distances are sums of squared differences, without cancellation; in float16 they overflow beyond
    65504.
    """
    squares = (z_a[:, None] - z_b[None]).square().sum(dim=-1)
    excess = squares.diagonal()[:, None] + margin - without_diagonal(squares)
    if hinge:
        excess = F.relu(excess)
    return excess.mean() if excess.numel() else excess.sum()
