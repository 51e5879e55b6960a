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
    bank, truth, values, counts = (
        frozen.features(TRAIN),
        frozen.labels(TRAIN),
        dict[str, float](),
        dict[str, int](),
    )
    scores = vote(bank, bank, truth, frozen.classes(), k, leave_out=True)
    given = next((name for name in CONSENSUS if name in frozen.split(TRAIN).labels), None)
    entropy = frozen.attribute(TEST, ENTROPY)
    measured = (
        # of equal votes the lower class wins
        ("bucket_top1", TRAIN, 100.0 * (scores.argmax(dim=1) == truth)),
        ("bucket_share", TRAIN, None),
        (
            "human_accuracy",
            TRAIN,
            100.0 * (frozen.labels(TRAIN, given) == truth) if given else None,
        ),
        ("human_entropy", TEST, None if entropy is None else torch.from_numpy(entropy)),
    )
    for measure, of, each in measured:
        place = buckets(frozen.embeddings(of).double().norm(dim=1), scale).cpu()
        for bucket in range(1, BUCKETS + 1):
            own, key = place == bucket, reading(measure, bucket=bucket)
            number = int(own.sum())
            if measure == "bucket_share":
                values[key] = 100 * number / len(own)
                continue
            counts[key], values[key] = number, math.nan
            if each is not None and number > more_than:
                values[key] = each.cpu()[own].double().mean().item()
        if measure != "bucket_share":
            keys = [reading(measure, bucket=bucket) for bucket in range(1, BUCKETS + 1)]
            filled = [key for key in keys if not math.isnan(values[key])]
            for end, at in zip(ENDS, (0, -1), strict=True):
                key = reading(measure, bucket=end)
                values[key] = values[filled[at]] if len(filled) > 1 else math.nan
                counts[key] = counts[filled[at]] if len(filled) > 1 else 0
    return ProbeResult(values, n=len(truth), counts=counts)


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
