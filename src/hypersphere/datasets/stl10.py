"""STL-10 in its binary files: 96 × 96 photographs, 500 labelled training images of each of ten classes.

The files are in ``stl10_binary`` of a data folder, or else in the official ``stl10_binary.tar.gz``, which is read in
place. The 100,000 unlabelled images are left out. Images are read a few at a time.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf, readable
from hypersphere.datasets.reading.image_files import resize_all
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

FOLDER, ARCHIVE = "stl10_binary", "stl10_binary.tar.gz"
LISTED = "stl10_binary"
SIDE = 96
BYTES = SIDE * SIDE * 3
IMAGES = {TRAIN: 5_000, TEST: 8_000}
"""Images of each split, as published."""
CLASSES = 10
AT_ONCE = 256
"""Images that are read at once, 7 MB."""


def stl10(root: Path, download: bool = True, *, size: PositiveInt = 96) -> Arrays:
    """5,000 training and 8,000 test images.

    Args:
        size: side of an image, pixels; below 96, images are resized (bilinear, antialiased).
    """
    about = published.table()["stl10"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download, in_order=True)
    names = shelf.read("class_names.txt").decode("ascii", errors="replace").split()
    if len(names) != CLASSES:
        raise HypersphereError(f"{shelf.place}/class_names.txt: names {len(names)} classes, and STL-10 has {CLASSES}")
    splits = {}
    for part in (TRAIN, TEST):
        place = f"{shelf.place}/{part}_y.bin"
        labels = np.frombuffer(shelf.read(f"{part}_y.bin"), np.uint8).astype(np.int64) - 1  # the file counts from 1
        if len(labels) != IMAGES[part]:
            raise HypersphereError(f"{place}: has {len(labels):,} labels for {IMAGES[part]:,} images")
        if not ((labels >= 0) & (labels < CLASSES)).all():
            wrong = labels[(labels < 0) | (labels >= CLASSES)][0] + 1
            raise HypersphereError(f"{place}: has the label {wrong}, and labels are from 1 to {CLASSES}")
        splits[part] = Split(_images(shelf, part, size), {CLASS: labels})
    return Arrays(splits, {CLASS: tuple(names)}, about.about())


def _images(shelf: Shelf, part: str, size: int) -> Pieces:
    """A split's images. The file stores an image as colours, columns, rows."""
    file = f"{part}_X.bin"
    count = IMAGES[part]
    opened, length = shelf.open(file)
    if length != count * BYTES:
        raise HypersphereError(
            f"{shelf.place}/{file}: has {length:,} bytes, and {count:,} images of {SIDE} × {SIDE} pixels have "
            f"{count * BYTES:,}"
        )

    def read(numbers: Int64[np.ndarray, "K"]) -> np.ndarray:
        gaps = set((np.flatnonzero(np.diff(numbers) != 1) + 1).tolist())
        starts: list[int] = []  # of runs of successive numbers, each of at most ``AT_ONCE``
        for place in range(len(numbers)):
            if not starts or place in gaps or place - starts[-1] == AT_ONCE:
                starts.append(place)
        made = np.empty((len(numbers), size, size, 3), np.uint8)
        with readable(f"{shelf.place}/{file}"):  # the shelf is kept, because the archive closes with it
            for start, stop in pairwise([*starts, len(numbers)]):
                opened.seek(int(numbers[start]) * BYTES)
                content = opened.read((stop - start) * BYTES)
                if len(content) != (stop - start) * BYTES:
                    raise EOFError("it ends early")
                images = np.frombuffer(content, np.uint8).reshape(-1, 3, SIDE, SIDE).transpose(0, 3, 2, 1)
                made[start:stop] = resize_all(np.ascontiguousarray(images), size)
        return made

    return Pieces((count, size, size, 3), read)
