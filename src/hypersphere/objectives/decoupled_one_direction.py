"""Decoupled contrastive loss across views, in one direction."""

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines
from hypersphere.objectives.pairs import check_negatives, without_diagonal


def decoupled_one_direction(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat
) -> Float[Tensor, ""]:
    """Each of the n embeddings ``z_a`` is drawn to its other view and pushed from the n-1 other rows of ``z_b``.

    -log(exp(cos(a_i, b_i)/t) / sum over k != i of exp(cos(a_i, b_k)/t)): the loss in the code of the norms paper's
    authors, where the paper has Eq. 1 (erratum N24). The positive is not in the denominator (decoupled, Yeh et al.
    2022, Eq. 5), negatives come from the other view alone, and rows of ``z_b`` are never anchors.

    Geometry: the pull does not fade, as in ``decoupled``, and the push is between the views alone: points of one view
    do not repel each other.

    Returns:
        The mean over the n anchors, in nats. It can be negative: with n = 2 it is in [-2/t, 2/t].

    Raises:
        HypersphereError: of one image, which has no negative: the logarithm of an empty sum is -infinity.
    """
    check_negatives("decoupled_one_direction", z_a)
    logits = cosines(z_a, z_b) / temperature
    return (torch.logsumexp(without_diagonal(logits), dim=1) - logits.diagonal()).mean()
