"""The task of a contrastive loss: which of many views is the other one of an image?"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("entropy", "contrastive_top1")
PIXELS = False
RUN = True
"""It takes the run's views, its temperature, and whether it normalises."""

BLOCK = 512
"""Anchors at once; it changes no result."""


def contrastive(frozen: Frozen, *, candidates: PositiveInt = 4096) -> ProbeResult:
    """Each embedding's distribution over all others, as in the run's own loss (SimCLR, Table 5).

    SimCLR says "4096 examples"; here these are the embeddings of two views of half as many test images. An anchor is
    not among its own candidates.

    Args:
        candidates: embeddings, two for each image; fewer if the test set has fewer images.

    Returns:
        ``contrastive_top1``, the percentage of anchors whose positive has a higher logit than every negative (a tie is
        a miss); and ``entropy``, the mean of the distributions', in nats, at most the logarithm of the candidates.
    """
    run = frozen.run
    given: dict[str, Any] = {}
    for part in (run.objective, run.logits):
        given |= part.parameters if part is not None else {}
    if "temperature" not in given:
        raise HypersphereError(f"probe contrastive: objective: {run.objective.name} has no temperature")
    temperature, normalise = float(given["temperature"]), bool(given.get("normalise", True))
    found = view_pairs(frozen, TEST, max(2, candidates // 2), least=2)
    n = len(found.images)
    z = torch.cat([found.first, found.second])
    z = directions(z) if normalise else z.double()
    hits, entropies = zip(*(_of(z, rows, temperature) for rows in torch.arange(2 * n).split(BLOCK)), strict=True)
    values = {"entropy": float(torch.cat(entropies).mean()), "contrastive_top1": 100 * float(torch.cat(hits).mean())}
    return ProbeResult(values, n=n)


def _of(z: Float[Tensor, "m d"], rows: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Hits (1 or 0) and entropies, nats, of the anchors ``rows``; image i has the rows i and i + m/2."""
    rows = rows.to(z.device)
    own = torch.arange(len(rows), device=z.device)
    logits = z[rows] @ z.T / temperature
    logits[own, rows] = -torch.inf
    logs = logits.log_softmax(dim=1)
    entropies = -torch.where(logs > -torch.inf, logs.exp() * logs, 0).sum(dim=1)
    positive = (rows + len(z) // 2) % len(z)
    of_positive = logits[own, positive].clone()
    logits[own, positive] = -torch.inf
    return (of_positive > logits.amax(dim=1)).double(), entropies
