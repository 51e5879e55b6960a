"""The images that generated sets start from: CIFAR, MNIST and others, all or some of each class, perhaps shrunk."""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.config.run import Imbalance
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.digits import digits
from hypersphere.datasets.mnist import mnist
from hypersphere.datasets.preparing import imbalance
from hypersphere.datasets.tiny_imagenet import tiny_imagenet
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

Base = Literal["cifar10", "cifar100", "mnist", "digits", "tiny_imagenet"]
CANVAS, TRAIN_DIGITS, TEST_DIGITS = 12, 240, 100
"""Side of scikit-learn's digits, pixels, and their images per class, unless others are asked for."""


class Wanted(NamedTuple):
    """Which images. A zero asks for all of a class, or for images as they come."""

    base: Base
    side: int = 0
    train_per_class: int = 0
    test_per_class: int = 0
    seed: int = 0
    """Of the choice of images, and of the digits' composition."""
    human_labels: bool = False
    """Whether CIFAR's images have people's labels too."""


def load(root: Path, download: bool, wanted: Wanted) -> Arrays:
    """The wanted images with their labels; every split is an array or in pieces.

    Args:
        root: the folder that holds the source.
        download: fetch it if it is not there; False: only read.
        wanted: which images. Smaller ones are area averages, so the side must divide that of the source.

    Raises:
        HypersphereError: the source is missing, a class has too few images, or the side does not divide the source's.
    """
    if wanted.base == "digits":
        return digits(
            root,
            canvas=wanted.side or CANVAS,
            train_per_class=wanted.train_per_class or TRAIN_DIGITS,
            test_per_class=wanted.test_per_class or TEST_DIGITS,
            seed=wanted.seed,
        )
    if wanted.base == "mnist":
        arrays = mnist(root, download)
    elif wanted.base == "tiny_imagenet":
        arrays = tiny_imagenet(root, download)
    else:
        arrays = cifar(
            root, download, classes=100 if wanted.base == "cifar100" else 10, human_labels=wanted.human_labels
        )
    per_class = {TRAIN: wanted.train_per_class, TEST: wanted.test_per_class}
    splits = {name: _chosen(split, per_class[name], arrays, wanted) for name, split in arrays.splits.items()}
    return arrays._replace(splits=splits)


def _chosen(split: Split, per_class: int, arrays: Arrays, wanted: Wanted) -> Split:
    numbers = np.arange(len(split.images), dtype=np.int64)
    if per_class:
        balanced = Imbalance(head=per_class, ratio=1, seed=wanted.seed)
        numbers = imbalance.choose(split.labels[CLASS], balanced, len(arrays.class_names[CLASS]))
    images, side = split.images, wanted.side or split.images.shape[1]
    if images.shape[1] % side:
        raise HypersphereError(f"{wanted.base}: side: must divide {images.shape[1]}, the images' own (given: {side})")

    def read(asked: Int64[np.ndarray, "K"]) -> UInt8[np.ndarray, "K side side 3"]:
        return shrunk(images[numbers[asked]], side)

    pieces = Pieces((len(numbers), side, side, 3), read)
    named = ({name: one[numbers] for name, one in arrays.items()} for arrays in (split.labels, split.attributes))
    return Split(pieces, *named)


def shrunk(images: UInt8[np.ndarray, "N H H C"], side: int) -> UInt8[np.ndarray, "N side side C"]:
    """Area averages, rounded half up; ``side`` divides the images' own."""
    n, factor, colours = len(images), images.shape[1] // side, images.shape[3]
    if factor == 1:
        return images
    sums = images.reshape(n, side, factor, side, factor, colours).sum(axis=(2, 4), dtype=np.int64)
    return ((2 * sums + factor**2) // (2 * factor**2)).astype(np.uint8)
