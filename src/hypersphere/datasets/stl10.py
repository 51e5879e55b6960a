"""STL-10 in its binary files: 96 × 96 photographs, 500 labelled training images of each of ten classes.

They are read from the official ``stl10_binary.tar.gz``, which has 100,000 images without labels, too.
"""

from collections.abc import Callable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import resized, squares
from hypersphere.datasets.types import CLASS, PROBE, TEST, TRAIN, Arrays, Pieces, Split

FOLDER, ARCHIVE = "stl10_binary", "stl10_binary.tar.gz"
SIDE = 96
BYTES = 3 * SIDE * SIDE


def stl10(
    root: Path,
    download: bool = True,
    *,
    size: PositiveInt = 96,
    train: Literal["train", "train+unlabeled"] = "train",
) -> Arrays:
    """5,000 training and 8,000 test images, or 105,000 training images.

    Args:
        size: side of an image, pixels; below 96, images are resized (bilinear, antialiased).
        train: ``train+unlabeled``, as torchvision calls it: ``train`` has the labelled images and then the 100,000
            unlabelled ones, and no labels. Probes read the split ``probe``, which has the labelled ones.
    """
    about, unlabelled = published.table()["stl10"], train == "train+unlabeled"
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download, in_order=not unlabelled)
    names = shelf.read("class_names.txt").decode().split()
    splits = {}
    for part in (TRAIN, TEST):
        # the file counts from 1
        labels = np.frombuffer(shelf.read(f"{part}_y.bin"), np.uint8).astype(np.int64) - 1
        content = shelf.read(f"{part}_X.bin")
        splits[part] = Split(_images([_of_bytes(content)], size), {CLASS: labels})
    if unlabelled:
        every = [shelf.records(name, BYTES) for name in ("train_X.bin", "unlabeled_X.bin")]
        splits |= {PROBE: splits[TRAIN], TRAIN: Split(_images(every, size), {})}
    return Arrays(splits, {CLASS: tuple(names)}, about.about())


def _of_bytes(content: bytes) -> tuple[int, Callable[[int], bytes]]:
    """The number of images that are in memory, and what gives one of them."""

    def read(number: int) -> bytes:
        start = number * BYTES
        return content[start : start + BYTES]

    return len(content) // BYTES, read


def _images(files: Sequence[tuple[int, Callable[[int], bytes]]], size: int) -> Pieces:
    """The images of some files, one file after the other. A file stores an image as colours, columns, rows."""
    places: list[tuple[Callable[[int], bytes], int]] = []
    for count, read in files:
        places += zip(repeat(read), range(count), strict=False)

    def one(n: int) -> np.ndarray:
        read, number = places[n]
        stored = np.frombuffer(read(number), np.uint8).reshape(3, SIDE, SIDE)
        image = np.ascontiguousarray(stored.transpose(2, 1, 0))
        return resized(Image.fromarray(image), size)

    return squares(len(places), size, one)
