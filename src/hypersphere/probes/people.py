"""How far people agree about the images of each twentieth of the norms."""

from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere.datasets.reading.human import ENTROPY
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.buckets import Scale, buckets, by_bucket
from hypersphere.probes.frozen import Frozen

CONSENSUS = ("cifar10n-aggregate", "cifar100n")
"""Names of training labels by people; CIFAR-100N has the label of one person."""


def agreement(frozen: Frozen, scale: Scale, more_than: int) -> tuple[dict[str, float], dict[str, int]]:
    """Accuracy and entropy of people's labels by the norm of the embedding, and the number of images in each bucket.

    Norms paper, Sec. 5 and Fig. 4: the accuracy is of training images, the entropy of test images.

    Returns:
        ``human_accuracy;bucket=1`` and so on in percent, and ``human_entropy`` in nats. NaN for a bucket of
        ``more_than`` images or fewer, and everywhere for what the dataset lacks (CIFAR-100 has no entropy).
    """
    given = next((name for name in CONSENSUS if frozen.has(TRAIN, name)), None)
    right = 100.0 * (frozen.labels(TRAIN, given) == frozen.labels(TRAIN)).cpu() if given else None
    entropy = torch.from_numpy(np.array(frozen.attributes(TEST, ENTROPY))) if frozen.has(TEST, ENTROPY) else None
    values: dict[str, float] = {}
    counts: dict[str, int] = {}
    for measure, split, known in (("human_accuracy", TRAIN, right), ("human_entropy", TEST, entropy)):
        place = buckets(frozen.embeddings(split).double().norm(dim=1), scale).cpu()
        each = torch.full(place.shape, torch.nan) if known is None else known
        found, number = by_bucket(measure, place, more_than, partial(_mean, each))
        values, counts = values | found, counts | number
    return values, counts


def _mean(each: Float[Tensor, "n"], own: Bool[Tensor, "n"]) -> float:
    return each[own].double().mean().item()
