"""kNN accuracy and people's agreement among the images of each twentieth of the norms."""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeInt, PositiveInt
from hypersphere.datasets.reading.human import ENTROPY
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import vote
from hypersphere.probes.result import ProbeResult, reading

MEASURES = ("bucket_top1", "bucket_share", "human_accuracy", "human_entropy")
AT_MOST_THE_BANK = "k"

CONSENSUS = ("cifar10n-aggregate", "cifar100n")
"""Names of training labels by people; CIFAR-100N has the label of one person."""
BUCKETS = 20
"""Norms paper, Sec. 5: ranges of 0.05."""
EVERY = range(1, BUCKETS + 1)
ENDS = ("lowest", "highest")
"""The first and the last bucket that has a value."""


def norm_buckets(
    frozen: Frozen,
    *,
    k: PositiveInt = 200,
    scale: Literal["maximum", "range"] = "maximum",
    more_than: NonNegativeInt = 50,
) -> ProbeResult:
    """kNN accuracy of training images, and people's, by the norm of the embedding: norms paper, Sec. 5 and Fig. 4.

    The bank is the training set. An image has no vote on itself.

    Args:
        scale: maximum: norms are divided by the largest (the caption); range: by the distance from the smallest to the
            largest, which then is 0 (the authors' notebook).
        more_than: a bucket with so many images or fewer has no value (the caption's 50; the authors' notebook asks
            for 10, which is more than 9).

    Returns:
        ``bucket_top1;bucket=1`` to ``bucket=20``, NaN for a bucket of too few images; ``bucket_share``, the
        bucket's share of the classified images, in percent; ``human_accuracy`` of people's labels of
        training images; and ``human_entropy``, in nats, of their labels of test images. These two are NaN where the
        dataset has none (CIFAR-100 has no entropy). All but the shares also at ``bucket=lowest`` and ``highest``: the
        first and the last bucket that has a value, NaN where there are not two.
    """
    bank, truth = frozen.features(TRAIN), frozen.labels(TRAIN)
    scores = vote(bank, bank, truth, frozen.classes(), k, leave_out=True)
    # of equal votes the lower class wins
    right = 100.0 * (scores.argmax(dim=1) == truth)
    entropy = frozen.attribute(TEST, ENTROPY)
    each = {
        "bucket_top1": right,
        "human_accuracy": agreement(frozen),
        "human_entropy": None if entropy is None else torch.from_numpy(entropy),
    }
    values: dict[str, float] = {}
    counts: dict[str, int] = {}
    for measure in MEASURES:
        split = TEST if measure == "human_entropy" else TRAIN
        place = buckets(frozen.embeddings(split).double().norm(dim=1), scale).cpu()
        if measure == "bucket_share":
            for bucket in EVERY:
                number = int((place == bucket).sum())
                values[reading(measure, bucket=bucket)] = 100 * number / len(place)
            continue
        for name, (mean, number) in means(place, each[measure], more_than).items():
            key = reading(measure, bucket=name)
            values[key] = mean
            counts[key] = number
    return ProbeResult(values, n=len(truth), counts=counts)


def agreement(frozen: Frozen) -> Float[Tensor, "n"] | None:
    """100 where people's label of a training image is its class, else 0; None where there are no such labels."""
    for name in CONSENSUS:
        if name in frozen.split(TRAIN).labels:
            return 100.0 * (frozen.labels(TRAIN, name) == frozen.labels(TRAIN))
    return None


def means(
    place: Int[Tensor, "n"], each: Float[Tensor, "n"] | None, more_than: int
) -> dict[int | str, tuple[float, int]]:
    """The mean of each bucket's numbers, NaN where its images are too few or have none; and how many images it has.

    Also at the first and the last bucket that has a mean, if there are two.
    """
    by_bucket: dict[int | str, tuple[float, int]] = {}
    filled = []
    for bucket in EVERY:
        own = place == bucket
        number = int(own.sum())
        mean = math.nan
        if each is not None and number > more_than:
            mean = each.cpu()[own].double().mean().item()
        by_bucket[bucket] = (mean, number)
        if not math.isnan(mean):
            filled.append(by_bucket[bucket])
    lowest, highest = ENDS
    by_bucket[lowest] = filled[0] if len(filled) > 1 else (math.nan, 0)
    by_bucket[highest] = filled[-1] if len(filled) > 1 else (math.nan, 0)
    return by_bucket


def buckets(norms: Float[Tensor, "n"], scale: str) -> Int[Tensor, "n"]:
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
