"""Contrast with a queue: each query is matched with its key against keys of earlier batches (MoCo)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines, unit


def momentum_contrast(
    q: Float[Tensor, "n d"],
    k: Float[Tensor, "n d"],
    queue: Float[Tensor, "m d"],
    *,
    temperature: PositiveFloat,
) -> Float[Tensor, ""]:
    """-log(exp(cos(q_i, k_i)/t) / (exp(cos(q_i, k_i)/t) + sum over the queue of exp(cos(q_i, queue_j)/t))).

    Lecture, "MoCo", which shows no formula (erratum S12); He et al. 2020, Eq. 1. The other keys of the batch are no
    negatives. The method provides the momentum encoder, the stop-gradient on ``k`` and the queue's updates.

    Geometry: a query is pulled to its own key and pushed from the keys of the queue, by their softmax shares. Keys do
    not move.
    """
    positive = (unit(q) * unit(k)).sum(dim=1, keepdim=True)
    logits = torch.cat([positive, cosines(q, queue)], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))
