"""Images that a dataset holds more than once: twice in a split, in the training images too, or under two labels.

Images count as equal if all bytes of their pixels are, as they are prepared: after decoding and resizing, before any
view is drawn. Near duplicates (another crop, other compression) are not looked for. Sentences are compared as numbers
of words, and that many are equal is in the nature of language.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int32, Int64, Shaped, UInt8

from hypersphere.datasets.types import PROBE, TRAIN


class Content(NamedTuple):
    """What is compared of a split of N images, or of N groups of S sentences."""

    images: UInt8[np.ndarray, "N H W 3"] | Int32[np.ndarray, "N S L"]
    labels: Mapping[str, Int64[np.ndarray, "N"]]


def count(splits: Mapping[str, Content]) -> dict[str, Any]:
    """How many images of each split are repeated, of splits that include ``train``.

    ``again`` counts those that are equal to an earlier one of the split, ``in_train`` those that training images are
    equal to, and ``two_labels`` those that an image under another label is equal to, in the split or in training, by
    the name of the labels. ``probe`` may be a part of ``train``, so that its images in ``train`` are not counted.
    Images may be memory-mapped: one is read at a time.
    """
    train = splits[TRAIN]
    trained = _digests(train.images)
    counts = {}
    for name, split in splits.items():
        own = trained if name == TRAIN else _digests(split.images)
        two_labels = {}
        for label, values in split.labels.items():
            compared = own
            if name != TRAIN and label in train.labels:
                compared = np.concatenate([own, trained])
                values = np.concatenate([values, train.labels[label]])
            ambiguous = _under_two_labels(compared, values)
            two_labels[label] = int(ambiguous[: len(own)].sum())
        in_train = 0
        if name not in (TRAIN, PROBE):
            in_train = int(np.isin(own, trained).sum())
        counts[name] = {
            "images": len(own),
            "again": len(own) - len(np.unique(own)),
            "in_train": in_train,
            "two_labels": two_labels,
        }
    return {"of": "images" if train.images.ndim == 4 else "sentences", "splits": counts}


def _digests(images: Shaped[np.ndarray, "N ..."]) -> Shaped[np.ndarray, "N"]:
    """A digest of 16 bytes for each image."""
    each = (blake2b(np.ascontiguousarray(image).data, digest_size=16).digest() for image in images)
    return np.fromiter(each, "S16", count=len(images))


def _under_two_labels(
    compared: Shaped[np.ndarray, "N"], labels: Int64[np.ndarray, "N"]
) -> Bool[np.ndarray, "N"]:
    """Which images have an equal one with another label; images are given by their digests."""
    distinct, which = np.unique(compared, return_inverse=True)
    lowest = np.full(len(distinct), np.iinfo(np.int64).max)
    highest = np.full(len(distinct), -1)
    np.minimum.at(lowest, which, labels)
    np.maximum.at(highest, which, labels)
    return (lowest < highest)[which]
