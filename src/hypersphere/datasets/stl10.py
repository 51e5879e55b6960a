"""STL-10 in its binary files: 96 × 96 photographs, 500 labelled training images of each of ten classes.

The files are in ``stl10_binary`` of a data folder, or else in the official ``stl10_binary.tar.gz``, which is read in
place. The 100,000 unlabelled images are left out.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import resized, squares
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

FOLDER, ARCHIVE = "stl10_binary", "stl10_binary.tar.gz"
LISTED = "stl10_binary"
SIDE = 96
IMAGES = {TRAIN: 5_000, TEST: 8_000}
"""Images of each split, as published."""
CLASSES = 10


def stl10(root: Path, download: bool = True, *, size: PositiveInt = 96) -> Arrays:
    """5,000 training and 8,000 test images.

    Args:
        size: side of an image, pixels; below 96, images are resized (bilinear, antialiased).
    """
    about = published.table()["stl10"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download, in_order=True)
    names = shelf.text("class_names.txt").split()
    splits = {}
    for part, count in IMAGES.items():
        labels = np.frombuffer(shelf.read(f"{part}_y.bin"), np.uint8).astype(np.int64) - 1  # the file counts from 1
        content = shelf.read(f"{part}_X.bin")
        if (len(names), len(labels), len(content)) != (CLASSES, count, count * 3 * SIDE**2):
            raise HypersphereError(
                f"{shelf.place}: {part}_X.bin, {part}_y.bin and class_names.txt: do not hold {count:,} images of "
                f"{SIDE} × {SIDE} pixels, as many labels, and the names of {CLASSES} classes"
            )
        splits[part] = Split(_images(content, size), {CLASS: labels})
    return Arrays(splits, {CLASS: tuple(names)}, about.about())


def _images(content: bytes, size: int) -> Pieces:
    """A split's images. The file stores an image as colours, columns, rows."""
    stored = np.frombuffer(content, np.uint8).reshape(-1, 3, SIDE, SIDE).transpose(0, 3, 2, 1)
    return squares(len(stored), size, lambda n: resized(Image.fromarray(np.ascontiguousarray(stored[n])), size))
