"""Accuracies of a probe's scores; of a biased test set also those of aligned and of conflicting images."""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.datasets.types import TEST
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading, top_k


def scored(frozen: Frozen, scores: Float[Tensor, "n c"], measures: Mapping[str, int]) -> ProbeResult:
    """The share of test images whose class is among those with the highest scores, in percent.

    Args:
        scores: of each test image, for each class; of fewer, the first ones.
        measures: how many classes count as the highest, by measure.

    Returns:
        Each measure; and of a biased set also ``<measure>;bias=aligned`` and ``<measure>;bias=conflicting``, unless
        there is no such image.
    """
    truth, conflicting = frozen.labels(TEST)[: len(scores)], frozen.conflicting(TEST)
    values = {measure: top_k(scores, truth, k) for measure, k in measures.items()}
    counts = {}
    groups = {} if conflicting is None else {"aligned": ~conflicting, "conflicting": conflicting}
    for name, members in groups.items():
        if not members.any():
            continue
        chosen = torch.from_numpy(members).to(scores.device)
        for measure, k in measures.items():
            key = reading(measure, bias=name)
            values[key], counts[key] = top_k(scores[chosen], truth[chosen], k), int(members.sum())
    return ProbeResult(values, n=len(truth), counts=counts)
