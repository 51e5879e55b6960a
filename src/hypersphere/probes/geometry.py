"""What an intervention is meant to change: length of weights and embeddings, rank, and the angle to the positive."""

import torch
from torch import nn

from hypersphere.objectives.geometry import effective_rank
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("weight_norm", "norm", "effective_rank", "positive_cosine")


def geometry(frozen: Frozen) -> ProbeResult:
    """Manipulation checks of a trained network, on two views of test images.

    Returns:
        ``weight_norm``, of all weights of the encoder's convolutions and linear layers as one vector, without biases
        and normalisations; ``norm``, the mean Euclidean norm of the first view's embeddings; ``effective_rank`` of the
        same, centred; and ``positive_cosine``, the mean cosine of the two views' embeddings.
    """
    first, second = (side.double() for side in view_pairs(frozen)[:2])
    lengths = []
    for module in frozen.encoder.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            lengths.append(module.weight.detach().double().norm())
    values = {
        "weight_norm": float(torch.stack(lengths).norm()) if lengths else 0.0,
        "norm": float(first.norm(dim=1).mean()),
        "effective_rank": effective_rank(first - first.mean(dim=0)),
        "positive_cosine": float((directions(first) * directions(second)).sum(dim=1).mean()),
    }
    return ProbeResult(values, n=len(first))
