"""The task of a contrastive loss: which of many views is the other one of an image?"""

import torch

from hypersphere.arguments import PositiveInt
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("entropy", "contrastive_top1")

BLOCK = 512
"""Anchors at once; it changes no result."""


def contrastive(frozen: Frozen, *, candidates: PositiveInt = 4096) -> ProbeResult:
    """Each embedding's distribution over all others, as in the run's own loss (SimCLR, Table 5).

    SimCLR says "4096 examples"; here these are the embeddings of two views of half as many test images, or of all that
    there are. An anchor is not among its own candidates.

    Returns:
        ``contrastive_top1``, the share of anchors whose positive has a higher logit than every negative (a tie is
        a miss); and ``entropy``, the mean of the distributions', in nats, at most the logarithm of the candidates.
    """
    objective, logits = frozen.run.objective, frozen.run.logits
    given = objective.parameters | (logits.parameters if logits else {})
    if "temperature" not in given:
        raise HypersphereError(f"probe contrastive: objective: {objective.name} has no temperature")
    first, second, places = view_pairs(frozen, most=max(2, candidates // 2))
    z = torch.cat([first, second])
    z = directions(z) if given.get("normalise", True) else z.double()
    temperature = float(given["temperature"])
    hits, entropies = [], []
    # image i has the rows i and i + n
    for rows in torch.arange(len(z), device=z.device).split(BLOCK):
        own = torch.arange(len(rows), device=z.device)
        scores = z[rows] @ z.T / temperature
        scores[own, rows] = -torch.inf
        logs = scores.log_softmax(dim=1)
        shares = torch.where(logs > -torch.inf, logs.exp() * logs, 0)
        entropies.append(-shares.sum(dim=1))
        positive = (rows + len(z) // 2) % len(z)
        of_positive = scores[own, positive].clone()
        scores[own, positive] = -torch.inf
        hits.append((of_positive > scores.amax(dim=1)).double())
    values = {
        "entropy": float(torch.cat(entropies).mean()),
        "contrastive_top1": 100 * float(torch.cat(hits).mean()),
    }
    return ProbeResult(values, n=len(places))
