"""Swapped prediction (SwAV): each view predicts the other view's code over prototypes."""

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat, PositiveInt


def swapped_prediction(
    scores_a: Float[Tensor, "n k"],
    scores_b: Float[Tensor, "n k"],
    *,
    temperature: PositiveFloat = 0.1,
    epsilon: PositiveFloat = 0.05,
    iterations: PositiveInt = 3,
) -> Float[Tensor, ""]:
    """-sum over prototypes of q_b log softmax(scores_a/t), and the same with the views swapped.

    Caron et al. 2020, Eq. 1-2; the LMCL paper's "SwAV", which has no negatives (erratum L11). The codes q come from
    Sinkhorn-Knopp over this batch, and no gradient flows through them. Prototypes, further crops and a queue of earlier
    features are the method's part.

    Geometry: prototypes are points of the sphere. A view is pulled to those that the other view's code names and pushed
    from all by its own softmax shares; equal use of the prototypes keeps images apart.

    Args:
        scores_a: cosines of a view's embeddings with the k prototypes.
        epsilon: entropy weight of the codes; smaller is sharper.

    Returns:
        The mean over the 2n predictions, in nats, as in the authors' code; Eq. 1 adds the two directions, which gives
        twice as much.
    """
    losses = []
    for predicting, coded in ((scores_a, scores_b), (scores_b, scores_a)):
        log_p = (predicting / temperature).log_softmax(dim=1)
        losses.append(-(codes(coded, epsilon, iterations) * log_p).sum(dim=1).mean())
    return (losses[0] + losses[1]) / 2


@torch.no_grad()
def codes(scores: Float[Tensor, "n k"], epsilon: float, iterations: int) -> Float[Tensor, "n k"]:
    """exp(scores/epsilon), scaled ``iterations`` times to equal column sums and then to rows that sum to 1.

    Caron et al. 2020, Eq. 3-5 (numbers from memory). As in the authors' code the rows come last: each row is exactly a
    distribution, while prototypes are used equally only in the limit. No gradient flows.

    Numerics: in logarithms and at least float32, so that a small epsilon does not overflow the exponential and no
    column sum underflows to 0.
    """
    log_q = scores.to(torch.promote_types(scores.dtype, torch.float32)) / epsilon
    for _ in range(iterations):
        log_q = log_q - log_q.logsumexp(dim=0, keepdim=True)
        log_q = log_q - log_q.logsumexp(dim=1, keepdim=True)
    return log_q.exp().to(scores.dtype)
