"""Types that every source of images returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, Shaped, UInt8

CLASS = "class"
"""Name of the main labels, which supervised methods learn and probes predict by default."""
CONFLICTING = "conflicting"
"""Name of the attribute that says whether an image's bias conflicts with its class."""
TRAIN, TEST = "train", "test"
"""Splits whose size a dataset's declaration may set. Every dataset has ``train``; to be evaluated it needs both."""
PROBE = "probe"
"""The split that probes read in place of ``train``, where a dataset has one: labelled images among unlabelled ones."""


@dataclass(frozen=True)
class Pieces:
    """N images that are read a few at a time, for a split that should not fill the memory."""

    shape: tuple[int, int, int, int]
    """N, H, W, 3."""
    read: Callable[[Int64[np.ndarray, "K"]], UInt8[np.ndarray, "K H W 3"]]
    """The images of these numbers, which ascend, in their order."""
    dtype = np.dtype(np.uint8)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, numbers: Int64[np.ndarray, "K"]) -> UInt8[np.ndarray, "K H W 3"]:
        return self.read(numbers)


def changed(
    images: UInt8[np.ndarray, "N H W 3"] | Pieces,
    change: Callable[
        [UInt8[np.ndarray, "K H W 3"], Int64[np.ndarray, "K"]], UInt8[np.ndarray, "K H W 3"]
    ],
) -> Pieces:
    """Images that are changed when they are read, by a function of some of them and of their numbers."""
    n, height, width, _ = images.shape
    return Pieces((n, height, width, 3), lambda numbers: change(images[numbers], numbers))


class Split(NamedTuple):
    """One part of a dataset: N images of height H and width W, RGB, 0 … 255; an array, or in pieces.

    ``labels`` holds any number of label arrays by name, the main one under ``class``; each counts from 0.
    ``attributes`` holds further facts about each image by name: booleans, numbers or words.
    """

    images: UInt8[np.ndarray, "N H W 3"] | Pieces
    labels: dict[str, Int64[np.ndarray, "N"]]
    attributes: Mapping[str, Shaped[np.ndarray, "N"]] = MappingProxyType({})


class Arrays(NamedTuple):
    """A whole dataset, as its authors divided it.

    ``splits`` are by name and include ``train``. ``class_names`` holds, by name of labels, the name of each class from
    0 on. ``about`` holds at least ``source``, ``licence`` and ``citation``, in plain words.
    """

    splits: dict[str, Split]
    class_names: dict[str, tuple[str, ...]]
    about: dict[str, str]
