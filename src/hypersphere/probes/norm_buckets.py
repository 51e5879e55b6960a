"""kNN accuracy among the images of each twentieth of the norms."""

from typing import Literal

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from hypersphere.datasets.types import TRAIN
from hypersphere.probes.buckets import buckets, by_bucket
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import vote
from hypersphere.probes.measured import Measured, top_k

MEASURES = ("knn_top1", "bucket_share")
PIXELS = False


def norm_buckets(
    frozen: Frozen,
    *,
    k: PositiveInt = 200,
    temperature: PositiveFloat = 0.1,
    split: Literal["train", "test"] = "train",
    scale: Literal["maximum", "range"] = "maximum",
    more_than: NonNegativeInt = 50,
) -> Measured:
    """kNN accuracy by the norm of the embedding: norms paper, Sec. 5 and Fig. 4, left.

    The bank is the training set. A training image has no vote on itself.

    Args:
        frozen: embeddings, whose norms count, and vectors of the protocol's layer, which vote.
        k: neighbours.
        temperature: of the votes, exp(cosine / temperature).
        split: the images that are classified.
        scale: what the norms are divided by, see ``buckets``.
        more_than: a bucket with so many images or fewer has no accuracy (the caption's 50; the authors' notebook asks
            for 10, which is more than 9).

    Returns:
        ``knn_top1;bucket=1`` to ``bucket=20`` in percent, NaN for a bucket with too few images; and ``bucket_share``,
        its share of all images in percent.

    Raises:
        HypersphereError: ``k`` is more than the images that vote.
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
    accuracy, counts = by_bucket("knn_top1", place, more_than, lambda own: top_k(scores[own], truth[own], 1))
    share, _ = by_bucket("bucket_share", place, -1, lambda own: 100 * own.double().mean().item())
    return Measured(accuracy | share, n=len(truth), counts=counts)
