"""STL-10 in its binary files: 96 × 96 photographs, 500 labelled training images of each of ten classes.

They are read from the official ``stl10_binary.tar.gz``, in place. The 100,000 unlabelled images are left out.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import resized, squares
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split

FOLDER, ARCHIVE = "stl10_binary", "stl10_binary.tar.gz"
SIDE = 96


def stl10(root: Path, download: bool = True, *, size: PositiveInt = 96) -> Arrays:
    """5,000 training and 8,000 test images.

    Args:
        size: side of an image, pixels; below 96, images are resized (bilinear, antialiased).
    """
    about = published.table()["stl10"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download, in_order=True)
    names = shelf.read("class_names.txt").decode().split()
    splits = {}
    for part in (TRAIN, TEST):
        labels = np.frombuffer(shelf.read(f"{part}_y.bin"), np.uint8).astype(np.int64) - 1  # the file counts from 1
        splits[part] = Split(_images(shelf.read(f"{part}_X.bin"), size), {CLASS: labels})
    return Arrays(splits, {CLASS: tuple(names)}, about.about())


def _images(content: bytes, size: int) -> Pieces:
    """A split's images. The file stores an image as colours, columns, rows."""
    stored = np.frombuffer(content, np.uint8).reshape(-1, 3, SIDE, SIDE).transpose(0, 3, 2, 1)
    return squares(len(stored), size, lambda n: resized(Image.fromarray(np.ascontiguousarray(stored[n])), size))
