"""What every source of images returns."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, Shaped, UInt8

CLASS = "class"
"""Name of the main labels: what supervised methods learn, what probes predict unless told otherwise."""
TRAIN, TEST = "train", "test"
"""Splits whose size a dataset's declaration may set. Every dataset has the first; those that are evaluated, both."""


class Split(NamedTuple):
    """One part of a dataset: N images of height H and width W, RGB, 0 … 255.

    ``labels`` holds any number of label arrays by name, the main one under ``class``; each counts from 0.
    ``attributes`` holds what else is known of each image, by name: a truth value, a number or a word.
    """

    images: UInt8[np.ndarray, "N H W 3"]
    labels: dict[str, Int64[np.ndarray, "N"]]
    attributes: Mapping[str, Shaped[np.ndarray, "N"]] = MappingProxyType({})


class Arrays(NamedTuple):
    """A whole dataset in memory, as its authors divided it.

    Splits by name, ``train`` among them. ``class_names`` holds, by name of labels, what each number from 0 stands for.
    ``about`` holds at least ``source``, ``licence`` and ``citation``, in plain words.
    """

    splits: dict[str, Split]
    class_names: dict[str, tuple[str, ...]]
    about: dict[str, str]
