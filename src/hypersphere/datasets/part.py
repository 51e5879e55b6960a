"""A part of CIFAR, MNIST, Tiny ImageNet or scikit-learn's digits: all or some images of each class, perhaps shrunk.

Generated sets, such as corrupted CIFAR, start from these images.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.arguments import NonNegativeInt
from hypersphere.config.run import Imbalance
from hypersphere.datasets import store
from hypersphere.datasets.cifar import COARSE, cifar
from hypersphere.datasets.digits import digits
from hypersphere.datasets.mnist import mnist
from hypersphere.datasets.tiny_imagenet import tiny_imagenet
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

CANVAS, TRAIN_DIGITS, TEST_DIGITS = 12, 240, 100
"""Side of scikit-learn's digits, pixels, and their images per class, unless others are asked for."""


def part(
    root: Path,
    download: bool = True,
    *,
    base: Literal["cifar10", "cifar100", "mnist", "digits", "tiny_imagenet"],
    labels: Literal["class", "coarse"] = "class",
    side: NonNegativeInt = 0,
    border: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
    human_labels: bool = False,
) -> Arrays:
    """A small set of real images, to stand for a published one where that is too large.

    Args:
        base: the source.
        labels: the main labels. coarse: the 20 superclasses of CIFAR-100; its 100 classes then have no labels here.
        side: of an image, pixels, by area averages, so that it divides the source's own; 0: as the source has it.
        border: black pixels that are added on each of its four sides: MNIST at 14 + 2 x 1 = 16.
        train_per_class: training images of each class of the source; 0: all.
        test_per_class: test images of each class of the source; 0: all.
        seed: of the choice of images, and of the digits' composition.
        human_labels: add the labels that people gave CIFAR's images (see ``cifar``).
    """
    if human_labels and base not in ("cifar10", "cifar100"):
        raise HypersphereError(f"part: human_labels: people labelled cifar10 and cifar100 (given: {base})")
    per_class = {TRAIN: train_per_class, TEST: test_per_class}
    if base == "digits":
        arrays = digits(
            root,
            canvas=side or CANVAS,
            train_per_class=train_per_class or TRAIN_DIGITS,
            test_per_class=test_per_class or TEST_DIGITS,
            seed=seed,
        )
    else:
        if base == "mnist":
            arrays = mnist(root, download)
        elif base == "tiny_imagenet":
            arrays = tiny_imagenet(root, download)
        else:
            arrays = cifar(root, download, classes=100 if base == "cifar100" else 10, human_labels=human_labels)
        splits = {}
        for name, split in arrays.splits.items():
            numbers = np.arange(len(split.images), dtype=np.int64)
            if per_class[name]:
                balanced = Imbalance(head=per_class[name], ratio=1, seed=seed)
                numbers = store.choose_images(split.labels[CLASS], balanced, len(arrays.class_names[CLASS]))
            own = split.images.shape[1]
            if own % (side or own):
                raise HypersphereError(f"{base}: side: must divide {own}, the images' own (given: {side})")
            splits[name] = _chosen(split, numbers, side or own)
        arrays = arrays._replace(splits=splits)
    if border:
        splits = {name: split._replace(images=_framed(split.images, border)) for name, split in arrays.splits.items()}
        arrays = arrays._replace(splits=splits)
    if labels not in arrays.class_names:
        raise HypersphereError(f"part: labels: {base} has no superclasses")
    if labels == CLASS:
        return arrays
    splits = {name: split._replace(labels={CLASS: split.labels[COARSE]}) for name, split in arrays.splits.items()}
    return arrays._replace(splits=splits, class_names={CLASS: arrays.class_names[COARSE]})


def _chosen(split: Split, numbers: Int64[np.ndarray, "K"], side: int) -> Split:
    """The images of these numbers, shrunk to ``side`` pixels."""
    images = Pieces((len(numbers), side, side, 3), lambda asked: shrunk(split.images[numbers[asked]], side))
    named = ({name: one[numbers] for name, one in arrays.items()} for arrays in (split.labels, split.attributes))
    return Split(images, *named)


def _framed(images: UInt8[np.ndarray, "N H W 3"] | Pieces, border: int) -> Pieces:
    n, height, width, _ = images.shape
    around = ((0, 0), (border, border), (border, border), (0, 0))
    shape = n, height + 2 * border, width + 2 * border, 3
    return Pieces(shape, lambda numbers: np.pad(images[numbers], around))


def shrunk(images: UInt8[np.ndarray, "N H H C"], side: int) -> UInt8[np.ndarray, "N side side C"]:
    """Area averages, rounded half up; ``side`` divides the images' own."""
    n, factor, colours = len(images), images.shape[1] // side, images.shape[3]
    if factor == 1:
        return images
    sums = images.reshape(n, side, factor, side, factor, colours).sum(axis=(2, 4), dtype=np.int64)
    return ((2 * sums + factor**2) // (2 * factor**2)).astype(np.uint8)
