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
from hypersphere.datasets.cifar import cifar
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
        raise HypersphereError(
            f"part: human_labels: people labelled cifar10 and cifar100 (given: {base})"
        )
    per_class = {TRAIN: train_per_class, TEST: test_per_class}
    if base == "digits":
        arrays = digits(
            root,
            canvas=side or CANVAS,
            train_per_class=train_per_class or TRAIN_DIGITS,
            test_per_class=test_per_class or TEST_DIGITS,
            seed=seed,
        )
        # they are composed as asked for
        side = 0
        per_class = {}
    elif base == "mnist":
        arrays = mnist(root, download)
    elif base == "tiny_imagenet":
        arrays = tiny_imagenet(root, download)
    else:
        classes: Literal[10, 100] = 100 if base == "cifar100" else 10
        arrays = cifar(root, download, classes=classes, human_labels=human_labels)
    if labels not in arrays.class_names:
        raise HypersphereError(f"part: labels: {base} has no superclasses")
    splits = {}
    for name, split in arrays.splits.items():
        own = split.images.shape[1]
        if own % (side or own):
            raise HypersphereError(
                f"{base}: side: must divide {own}, the images' own (given: {side})"
            )
        numbers = np.arange(len(split.images), dtype=np.int64)
        if per_class.get(name):
            balanced = Imbalance(head=per_class[name], ratio=1, seed=seed)
            number = len(arrays.class_names[CLASS])
            numbers = store.choose_images(split.labels[CLASS], balanced, number)
        named = split.labels if labels == CLASS else {CLASS: split.labels[labels]}
        splits[name] = Split(
            _shown(split.images, numbers, side or own, border),
            {key: values[numbers] for key, values in named.items()},
            {key: values[numbers] for key, values in split.attributes.items()},
        )
    class_names = arrays.class_names if labels == CLASS else {CLASS: arrays.class_names[labels]}
    return Arrays(splits, class_names, arrays.about)


def _shown(
    images: UInt8[np.ndarray, "N H W 3"] | Pieces,
    numbers: Int64[np.ndarray, "K"],
    side: int,
    border: int,
) -> Pieces:
    """The images of these numbers, shrunk and framed."""
    around = ((0, 0), (border, border), (border, border), (0, 0))
    whole = side + 2 * border
    return Pieces(
        (len(numbers), whole, whole, 3),
        lambda asked: np.pad(shrunk(images[numbers[asked]], side), around),
    )


def shrunk(images: UInt8[np.ndarray, "N H H C"], side: int) -> UInt8[np.ndarray, "N side side C"]:
    """Area averages, rounded half up; ``side`` divides the images' own."""
    n, own, _, colours = images.shape
    factor = own // side
    if factor == 1:
        return images
    sums = images.reshape(n, side, factor, side, factor, colours).sum(axis=(2, 4), dtype=np.int64)
    return ((2 * sums + factor**2) // (2 * factor**2)).astype(np.uint8)
