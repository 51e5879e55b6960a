"""Draw a grid of a prepared dataset's images, as a small file: a column for each class, or images of any class.

It is drawn by ``python -m hypersphere.datasets.showing.grid``, followed by the prepared dataset's folder in
``data/processed`` and the picture's file in ``docs/images/datasets``.
"""

import io
import sys
from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from hypersphere import files, prng
from hypersphere.datasets import store
from hypersphere.datasets.reading.decoding import resize_all
from hypersphere.datasets.store import Prepared
from hypersphere.datasets.types import CLASS, TRAIN
from hypersphere.errors import HypersphereError

LIMIT = 60_000
"""Bytes of the largest file."""
SIDES = (96, 64, 48, 32, 24, 16)
"""Sides of an image in the grid, pixels: the first at which the file is small enough, and never more than its own."""
SMALLEST = 32
"""Smaller images are enlarged by a whole factor, up to this side, so that a person can see them."""
GAP = 2  # pixels of white between images
COLOURS = 128


def grid(prepared: Prepared, split: str = TRAIN, rows: int = 5, columns: int = 10) -> bytes:
    """A PNG of at most ``LIMIT`` bytes, with a palette of ``COLOURS`` colours.

    Classes have a column each, if there are columns enough; otherwise the images are of any class.

    Args:
        prepared: the dataset.
        split: its split.
        rows: images below each other.
        columns: images beside each other.

    Raises:
        HypersphereError: no such split, or its images cannot be drawn that small.
    """
    images = prepared.split(split).images
    places = choose(prepared, split, rows, columns)
    factor = max(1, SMALLEST // images.shape[1])
    shown = images[places.reshape(-1)].repeat(factor, axis=1).repeat(factor, axis=2)
    own = shown.shape[1]
    for side in (own, *(side for side in SIDES if side < own)):
        content = _png(tile(resize_all(shown, side), places.shape[1]))
        if len(content) <= LIMIT:
            return content
    raise HypersphereError(f"{prepared.folder}: no grid of {rows} × {columns} images has at most {LIMIT:,} bytes")


def choose(prepared: Prepared, split: str, rows: int, columns: int) -> Int64[np.ndarray, "r c"]:
    """Places of images in the split: drawn by a fixed key, so that a picture can be drawn again."""
    part = prepared.split(split)
    order = prng.permutation(len(part.images), 0, "grid", split).astype(np.int64)
    if CLASS in part.labels and prepared.classes() <= columns:
        labels = part.labels[CLASS][order]
        by_class = [order[labels == label] for label in range(prepared.classes())]
        if fewest := min(rows, *map(len, by_class)):
            return np.stack([members[:fewest] for members in by_class], axis=1)
    width = min(columns, len(order))
    return order[: min(rows, len(order) // width) * width].reshape(-1, width)


def tile(images: UInt8[np.ndarray, "N s s 3"], columns: int) -> UInt8[np.ndarray, "H W 3"]:
    """Images beside and below each other on white."""
    side, rows = images.shape[1], -(-len(images) // columns)
    step = side + GAP
    page = np.full((rows * step - GAP, columns * step - GAP, 3), 255, np.uint8)
    for number, image in enumerate(images):
        top, left = number // columns * step, number % columns * step
        page[top : top + side, left : left + side] = image
    return page


def _png(page: UInt8[np.ndarray, "H W 3"]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(page).quantize(COLOURS).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


if __name__ == "__main__":
    picture = Path(sys.argv[2])
    with files.replacing(picture) as temporary:
        temporary.write_bytes(grid(store.open(Path(sys.argv[1]))))
