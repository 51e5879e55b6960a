"""Decoupled contrastive loss: NT-Xent without the positive in the denominator."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.pairs import check_negatives, pairs


def decoupled(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, temperature: PositiveFloat
) -> Float[Tensor, ""]:
    """-c_ij/t + log(sum over k of exp(c_ik/t)), c the cosine, j the positive of i, k over the negatives alone.

    Yeh et al. 2022, DCL: the 2n-2 negatives of both views. If this is L for one anchor, NT-Xent is log(1 + exp(L)): its
    gradient is that of L times 1 - p, p the positive's softmax probability, and decoupling removes this factor. The
    double-metric paper's Eq. 1, read literally, is this loss with the negatives of one view (erratum D2).

    Geometry: the positive pulls by 1/t times sin(angle), however well it already does in the softmax; the negatives
    share a push of the same 1/t. In NT-Xent both fade together as the positive wins.

    Args:
        z_a: at least two images.

    Returns:
        The mean over the 2n anchors, in nats; negative where positives are much closer than negatives.

    Raises:
        HypersphereError: of one image, which has no negative: the logarithm of an empty sum is -infinity.
    """
    check_negatives("decoupled", z_a)
    cosines_2nm, targets = pairs(z_a, z_b, "both_views")
    logits = cosines_2nm / temperature
    negatives = logits.masked_fill(targets > 0, float("-inf")).logsumexp(dim=1)
    return (negatives - (logits * targets).sum(dim=1)).mean()
