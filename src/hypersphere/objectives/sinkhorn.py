"""Sinkhorn-Knopp: soft codes that use all prototypes equally. Part of ``swapped_prediction``."""

import torch
from jaxtyping import Float
from torch import Tensor


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
