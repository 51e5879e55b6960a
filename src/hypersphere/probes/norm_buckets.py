"""kNN accuracy and people's agreement among the images of each twentieth of the norms."""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeInt, PositiveFloat, PositiveInt
from hypersphere.datasets.reading.human import ENTROPY
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import vote
from hypersphere.probes.result import ProbeResult, reading, top_k

MEASURES = ("bucket_top1", "bucket_share", "human_accuracy", "human_entropy")
PIXELS = False
AT_MOST_THE_BANK = "k"

CONSENSUS = ("cifar10n-aggregate", "cifar100n")
"""Names of training labels by people; CIFAR-100N has the label of one person."""
BUCKETS = 20
"""Norms paper, Sec. 5: ranges of 0.05."""
Scale = Literal["maximum", "range"]
"""The norm's share of the largest norm (Fig. 4's caption), or its place between the smallest and the largest (the
authors' notebook)."""


def norm_buckets(
    frozen: Frozen,
    *,
    k: PositiveInt = 200,
    temperature: PositiveFloat = 0.1,
    split: Literal["train", "test"] = "train",
    scale: Literal["maximum", "range"] = "maximum",
    more_than: NonNegativeInt = 50,
) -> ProbeResult:
    """kNN accuracy, and people's, by the norm of the embedding: norms paper, Sec. 5 and Fig. 4.

    The bank is the training set. A training image has no vote on itself.

    Args:
        k: neighbours.
        temperature: of the votes, exp(cosine / temperature).
        split: the images that are classified by their neighbours.
        scale: what the norms are divided by, see ``buckets``.
        more_than: a bucket with so many images or fewer has no value (the caption's 50; the authors' notebook asks
            for 10, which is more than 9).

    Returns:
        ``bucket_top1;bucket=1`` to ``bucket=20`` in percent, NaN for a bucket of too few images; ``bucket_share``, the
        bucket's share of the classified images, in percent; and what ``agreement`` says of people.
    """
    place = buckets(frozen.embeddings(split).double().norm(dim=1), scale)
    truth = frozen.labels(split)
    scores = vote(
        frozen.features(TRAIN),
        frozen.features(split),
        frozen.labels(TRAIN),
        frozen.classes(),
        k,
        temperature,
        leave_out=split == TRAIN,
    )
    accuracy, counts = by_bucket("bucket_top1", place, more_than, lambda own: top_k(scores[own], truth[own], 1))
    share, _ = by_bucket("bucket_share", place, -1, lambda own: 100 * own.double().mean().item())
    people, of_people = agreement(frozen, scale, more_than)
    return ProbeResult(accuracy | share | people, n=len(truth), counts=counts | of_people)


def buckets(norms: Float[Tensor, "n"], scale: Scale) -> Int[Tensor, "n"]:
    """The bucket of each image, from 1 to 20; the largest norm is in the last.

    Under ``maximum`` bucket b has norms from (b - 1)/20 of the largest to below b/20; ``range`` divides the distance
    from the smallest to the largest norm likewise. If all norms are equal, ``maximum`` puts them into the last bucket,
    and ``range`` into the first; if all are zero, both put them into the first.
    """
    norms = norms.double()
    low = norms.min() if scale == "range" else torch.zeros_like(norms[0])
    span = norms.max() - low
    share = (norms - low) / span if span > 0 else torch.zeros_like(norms)
    return (share * BUCKETS).floor().long().clamp_max(BUCKETS - 1) + 1


def by_bucket(
    measure: str, place: Int[Tensor, "n"], more_than: int, mean: Callable[[Bool[Tensor, "n"]], float]
) -> tuple[dict[str, float], dict[str, int]]:
    """``mean`` of the images of each bucket, by reading, and their number; NaN for ``more_than`` images or fewer."""
    members = {reading(measure, bucket=bucket): place == bucket for bucket in range(1, BUCKETS + 1)}
    counts = {key: int(own.sum()) for key, own in members.items()}
    values = {key: mean(own) if counts[key] > more_than else math.nan for key, own in members.items()}
    return values, counts


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
        found, number = by_bucket(measure, place, more_than, partial(_mean_of, each))
        values, counts = values | found, counts | number
    return values, counts


def _mean_of(each: Float[Tensor, "n"], own: Bool[Tensor, "n"]) -> float:
    return each[own].double().mean().item()
