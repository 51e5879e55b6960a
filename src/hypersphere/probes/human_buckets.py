"""How far people agree about the images of each twentieth of the norms."""

from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from pydantic import NonNegativeInt
from torch import Tensor

from hypersphere.datasets.human import ENTROPY
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.probes.buckets import buckets, by_bucket
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.measured import Measured

MEASURES = ("human_accuracy", "human_entropy")
PIXELS = False

CONSENSUS = ("cifar10n-aggregate", "cifar100n")
"""Names of training labels by people; CIFAR-100N has the label of one person."""


def human_buckets(
    frozen: Frozen, *, scale: Literal["maximum", "range"] = "maximum", more_than: NonNegativeInt = 50
) -> Measured:
    """Accuracy and entropy of people's labels by the norm of the embedding: norms paper, Sec. 5 and Fig. 4.

    Args:
        frozen: embeddings of a dataset with people's labels.
        scale: what the norms are divided by, see ``buckets``; in each split by its own.
        more_than: a bucket with so many images or fewer has no value.

    Returns:
        ``human_accuracy;bucket=1`` to ``bucket=20``: training images whose label by people is the official one, in
        percent. ``human_entropy`` likewise: the mean entropy of people's choices, of test images, in nats. NaN for a
        bucket with too few images, and everywhere for what the dataset lacks (CIFAR-100 has no entropy).

    Raises:
        HypersphereError: the dataset has no labels by people.
    """
    given = next((name for name in CONSENSUS if frozen.has(TRAIN, name)), None)
    if given is None and not frozen.has(TEST, ENTROPY):
        raise HypersphereError(f"human_buckets: the dataset has none of {', '.join((*CONSENSUS, ENTROPY))}")
    right = 100.0 * (frozen.labels(TRAIN, given) == frozen.labels(TRAIN)).cpu() if given else None
    entropy = torch.from_numpy(np.array(frozen.attributes(TEST, ENTROPY))) if frozen.has(TEST, ENTROPY) else None
    values: dict[str, float] = {}
    counts: dict[str, int] = {}
    for measure, split, known in zip(MEASURES, (TRAIN, TEST), (right, entropy), strict=True):
        place = buckets(frozen.embeddings(split).double().norm(dim=1), scale).cpu()
        each = torch.full(place.shape, torch.nan) if known is None else known
        found, number = by_bucket(measure, place, more_than, partial(_mean, each))
        values, counts = values | found, counts | number
    return Measured(values, n=len(frozen.labels(TRAIN)), counts=counts)


def _mean(each: Float[Tensor, "n"], own: Bool[Tensor, "n"]) -> float:
    return each[own].double().mean().item()
