"""Check that a source's arrays are consistent, once, before they are written."""

import re
from collections.abc import Iterator

import numpy as np

from hypersphere.datasets.types import TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Allowed names of splits, labels and attributes, because files are named after them."""
CONTENT = {3: np.dtype(np.uint8), 2: np.dtype(np.int32)}
"""Type of a split's content, by the dimensions of one example: images [H, W, 3], or tokens [S, L]."""
NAME_RULE = "a name consists of lower-case letters, digits, - and _"


def check(arrays: Arrays, source: str) -> None:
    """Check that splits, labels, attributes and names of classes belong together.

    Raises:
        HypersphereError: they do not; the sentence names ``source``, split and array.
    """
    if TRAIN not in arrays.splits:
        raise HypersphereError(f"{source}: has no split {TRAIN}, only {', '.join(sorted(arrays.splits)) or 'nothing'}")
    for name, split in arrays.splits.items():
        problem = next(_problems(split, arrays), None)
        if problem or not WORD.fullmatch(name):
            raise HypersphereError(f"{source}: split {name}: {problem or NAME_RULE}")


def _problems(split: Split, arrays: Arrays) -> Iterator[str]:
    shape = arrays.splits[TRAIN].images.shape[1:]
    expected = CONTENT.get(len(shape), np.dtype(np.uint8))
    if split.images.shape[1:] != shape or split.images.dtype != expected:
        yield f"images are {split.images.dtype} {split.images.shape[1:]}, not {expected} {shape}"
    for name, values in (*split.labels.items(), *split.attributes.items()):
        if not WORD.fullmatch(name):
            yield f"'{name}': {NAME_RULE}"
        if values.shape != split.images.shape[:1]:
            yield f"{name}: has shape {values.shape}, but there are {len(split.images)} images"
    for name, values in split.labels.items():
        classes = len(arrays.class_names.get(name, ()))
        if values.dtype != np.int64 or not ((values >= 0) & (values < classes)).all():
            yield f"labels {name}: must be integers (int64) from 0 to below {classes}, the number of class_names"
    for name, values in split.attributes.items():
        if values.dtype.hasobject:
            yield f"attribute {name}: must be booleans, numbers or words, not Python objects"
