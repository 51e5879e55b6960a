"""Gradient surgery on logits: values stay, gradients are multiplied. No gradient flows through the weights.

Shapes: n anchors, m candidates of each.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def scale_gradient(x: Float[Tensor, "*n"], weight: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """x, with its gradient multiplied by ``weight`` (margins paper, Eq. 9).

    sg is the stop-gradient. The paper's x·w + sg(x)·(1 - w) rounds; here w multiplies x - sg(x), which is exactly 0.
    ``weight`` must be finite.
    """
    stopped = x.detach()
    return stopped + weight.detach() * (x - stopped)


def scale_positives(
    logits: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], weight: Float[Tensor, "*n"]
) -> Float[Tensor, "n m"]:
    """Eq. 9 with the weights 1 - p + p·weight of Eq. 8 and 11: negatives keep their gradient."""
    return scale_gradient(logits, 1 - targets + targets * weight)


def attenuation(
    logits: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], alpha: float
) -> Float[Tensor, "n 1"]:
    """1/(1 - alpha·q_l), q_l the softmax probability of an anchor's positive l (Eq. 12, one-hot p).

    1 - alpha·q_l is summed as (1 - alpha)·q_l + the other q's, which does not cancel, and clamped to at least eps, the
    smallest 1 - q_l that the loss itself can resolve.
    """
    q = logits.detach().softmax(dim=1)
    remainder = (1 - alpha) * (q * targets).sum(dim=1, keepdim=True) + (q * (1 - targets)).sum(
        dim=1, keepdim=True
    )
    return 1 / remainder.clamp(min=torch.finfo(q.dtype).eps)


def ratio_of_sums(
    numerator: Float[Tensor, "n m"], denominator: Float[Tensor, "n m"]
) -> Float[Tensor, "n 1"]:
    """Sum of exp(numerator) over sum of exp(denominator), row by row, at most 1/eps as in ``attenuation``."""
    difference = numerator.detach().logsumexp(dim=1, keepdim=True) - denominator.detach().logsumexp(
        dim=1, keepdim=True
    )
    return difference.clamp(max=-math.log(torch.finfo(difference.dtype).eps)).exp()
