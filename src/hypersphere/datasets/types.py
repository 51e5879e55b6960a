"""Types that every source of images returns."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, Shaped, UInt8

CLASS = "class"
"""Name of the main labels, which supervised methods learn and probes predict by default."""
TRAIN, TEST = "train", "test"
"""Splits whose size a dataset's declaration may set. Every dataset has ``train``; to be evaluated it needs both."""


class Split(NamedTuple):
    """One part of a dataset: N images of height H and width W, RGB, 0 … 255.

    ``labels`` holds any number of label arrays by name, the main one under ``class``; each counts from 0.
    ``attributes`` holds further facts about each image by name: booleans, numbers or words.
    """

    images: UInt8[np.ndarray, "N H W 3"]
    labels: dict[str, Int64[np.ndarray, "N"]]
    attributes: Mapping[str, Shaped[np.ndarray, "N"]] = MappingProxyType({})


class Arrays(NamedTuple):
    """A whole dataset in memory, as its authors divided it.

    ``splits`` are by name and include ``train``. ``class_names`` holds, by name of labels, the name of each class from
    0 on. ``about`` holds at least ``source``, ``licence`` and ``citation``, in plain words.
    """

    splits: dict[str, Split]
    class_names: dict[str, tuple[str, ...]]
    about: dict[str, str]
