"""Splits of images that lie in a folder for each class: ``<class>/<image>``."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.decoding import square
from hypersphere.datasets.types import CLASS, Pieces, Split
from hypersphere.errors import HypersphereError

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
"""Endings of images' names, in small or capital letters."""


class Labelled(NamedTuple):
    """Files of one split, with the number of the class of each."""

    names: list[str]
    labels: list[int]


def images(shelf: Shelf, names: Sequence[str], size: int) -> Pieces:
    """Images of the named files, decoded when they are read; N squares of ``size`` pixels."""

    def read(numbers: np.ndarray) -> np.ndarray:
        made = np.empty((len(numbers), size, size, 3), np.uint8)
        for place, number in enumerate(numbers):
            name = names[number]
            made[place] = square(shelf.read(name), f"{shelf.place}/{name}", size)
        return made

    return Pieces((len(names), size, size, 3), read)


def split(shelf: Shelf, labelled: Labelled, size: int) -> Split:
    """A split of files with classes."""
    return Split(images(shelf, labelled.names, size), {CLASS: np.array(labelled.labels, np.int64)})


def classes_of(shelf: Shelf, names: Sequence[str], depth: int) -> list[str]:
    """The folders of class in which the named files lie, sorted.

    Args:
        shelf: where the files are, for errors.
        names: files, as ``train/cat/1.jpg``.
        depth: the place of the class among the parts of a name: 1 in the example.
    """
    for name in names:
        if name.count("/") <= depth:
            raise HypersphereError(f"{shelf.place}/{name}: lies beside the folders of the classes, and belongs in one")
    return sorted({name.split("/")[depth] for name in names})


def labelled(shelf: Shelf, names: Sequence[str], depth: int, classes: Sequence[str]) -> Labelled:
    """The named files with their classes, class after class and in the order of names."""
    numbers = {name: number for number, name in enumerate(classes)}
    found: dict[str, list[str]] = {name: [] for name in classes}
    for name in sorted(names):
        parts = name.split("/")
        if parts[depth] not in numbers:
            raise HypersphereError(
                f"{shelf.place}/{'/'.join(parts[: depth + 1])}: is a class that the training images do not have"
            )
        if parts[-1] == "" and len(parts) == depth + 2:  # an empty folder
            continue
        if len(parts) != depth + 2:
            raise HypersphereError(f"{shelf.place}/{name}: lies deeper than <class>/<image>")
        if not parts[-1].lower().endswith(ENDINGS):
            raise HypersphereError(
                f"{shelf.place}/{name}: is no image by its name ({', '.join(ENDINGS)}); move it elsewhere"
            )
        found[parts[depth]].append(name)
    for name, members in found.items():
        if not members:
            prefix = names[0].split("/")[:depth] if names else []
            raise HypersphereError(f"{'/'.join([shelf.place, *prefix, name])}: has no images")
    return Labelled(
        [name for members in found.values() for name in members],
        [numbers[name] for name, members in found.items() for _ in members],
    )
