"""Gradient surgery on logits: values stay, gradients are multiplied. Every weight here is a stop-gradient.

Shapes: n anchors, m candidates of each.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def scale_gradient(x: Float[Tensor, "*n"], weight: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """x, with its gradient multiplied by ``weight`` (margins paper, Eq. 9).

    The paper's x·w + sg(x)·(1 - w) rounds; here w multiplies x - sg(x), which is exactly 0. ``weight`` must be finite.
    """
    kept = x.detach()
    return kept + weight.detach() * (x - kept)


def scale_positives(
    logits: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], weight: Float[Tensor, "*n"]
) -> Float[Tensor, "n m"]:
    """Eq. 9 with the weights of Eq. 8 and 11: 1 - p + p·weight, so that negatives keep their gradient."""
    return scale_gradient(logits, 1 - targets + targets * weight)


def attenuation(logits: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], alpha: float) -> Float[Tensor, "n 1"]:
    """1/(1 - alpha·q_l), q_l the softmax of an anchor's positive l among its candidates (Eq. 12, one-hot p).

    1 - alpha·q_l is summed as (1 - alpha)·q_l + the other q's, which does not cancel, and is held above the smallest
    difference that the loss's own 1 - q_l can resolve.
    """
    q = logits.detach().softmax(dim=1)
    left = (1 - alpha) * (q * targets).sum(dim=1, keepdim=True) + (q * (1 - targets)).sum(dim=1, keepdim=True)
    return 1 / left.clamp(min=torch.finfo(q.dtype).eps)


def ratio_of_sums(above: Float[Tensor, "n m"], below: Float[Tensor, "n m"]) -> Float[Tensor, "n 1"]:
    """Sum of exp(above) over sum of exp(below), row by row, by log-sum-exp; held below 1/eps, see ``attenuation``."""
    difference = above.detach().logsumexp(dim=1, keepdim=True) - below.detach().logsumexp(dim=1, keepdim=True)
    return difference.clamp(max=-math.log(torch.finfo(difference.dtype).eps)).exp()
