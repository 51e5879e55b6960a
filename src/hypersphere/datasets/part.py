"""A part of CIFAR, MNIST or scikit-learn's digits: some images of each class, shrunk, by fine or coarse labels."""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8
from pydantic import NonNegativeInt

from hypersphere.datasets.cifar import COARSE
from hypersphere.datasets.composing import bases
from hypersphere.datasets.types import CLASS, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError


def part(
    root: Path,
    download: bool = True,
    *,
    base: Literal["cifar10", "cifar100", "mnist", "digits"],
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
        root: the folder that holds the source.
        download: fetch it if it is not there; False: only read.
        base: the source.
        labels: the main labels. coarse: the 20 superclasses of CIFAR-100; its 100 classes then have no labels here.
        side: of an image, pixels, by area averages; 0: as the source has it.
        border: black pixels that are added on each of its four sides: MNIST at 14 + 2 x 1 = 16.
        train_per_class: training images of each class of the source; 0: all.
        test_per_class: test images of each class of the source; 0: all.
        seed: of the choice of images.
        human_labels: add the labels that people gave CIFAR's images (see ``cifar``).

    Raises:
        HypersphereError: the source is missing, has no such labels or too few images, or ``side`` does not divide its.
    """
    if human_labels and base not in ("cifar10", "cifar100"):
        raise HypersphereError(f"part: human_labels: people labelled cifar10 and cifar100 (given: {base})")
    arrays = bases.load(root, download, bases.Wanted(base, side, train_per_class, test_per_class, seed, human_labels))
    if border:
        splits = {name: split._replace(images=_framed(split, border)) for name, split in arrays.splits.items()}
        arrays = arrays._replace(splits=splits)
    if labels not in arrays.class_names:
        raise HypersphereError(f"part: labels: {base} has no superclasses")
    if labels == CLASS:
        return arrays
    splits = {name: split._replace(labels={CLASS: split.labels[COARSE]}) for name, split in arrays.splits.items()}
    return arrays._replace(splits=splits, class_names={CLASS: arrays.class_names[COARSE]})


def _framed(split: Split, border: int) -> Pieces:
    n, height, width, colours = split.images.shape

    def read(numbers: Int64[np.ndarray, "K"]) -> UInt8[np.ndarray, "K H W 3"]:
        return np.pad(split.images[numbers], ((0, 0), (border, border), (border, border), (0, 0)))

    return Pieces((n, height + 2 * border, width + 2 * border, colours), read)
