"""MNIST in torchvision's folder: 70,000 handwritten digits of 28 × 28 pixels, 60,000 of them for training.

The four files are in ``MNIST/raw`` of a data folder, gzipped as published or unpacked. Either way the sha256 of the
unpacked bytes is compared with data/checksums.csv.
"""

import gzip
from pathlib import Path

import numpy as np

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

FOLDER = Path("MNIST") / "raw"
SIDE = 28
# First bytes of an IDX file: big-endian 32-bit numbers, the magic number and then one size for each axis.
IMAGES, LABELS = 16, 8

FILES = {
    TRAIN: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    TEST: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def mnist(root: Path, download: bool = True) -> Arrays:
    """60,000 training and 10,000 test images, 28 × 28, white ink (255) on black, repeated in the three channels."""
    about = published.table()["mnist"]
    splits = {}
    for part, names in FILES.items():
        scans, labels = (
            _content(root / FOLDER / name, about.files[f"{name}.gz"], download) for name in names
        )
        pixels = np.frombuffer(scans, np.uint8, offset=IMAGES).reshape(-1, SIDE, SIDE, 1)
        digit = np.frombuffer(labels, np.uint8, offset=LABELS).astype(np.int64)
        splits[part] = Split(np.repeat(pixels, 3, axis=3), {CLASS: digit})
    return Arrays(splits, {CLASS: tuple(str(digit) for digit in range(10))}, about.about())


def _content(plain: Path, file: published.File, download: bool) -> bytes:
    """An unpacked file, or what its packed ``file`` holds, where that lies beside one that is not whole."""
    listed = str(FOLDER / plain.name)
    packed = plain.with_name(file.name)
    if plain.exists():
        try:
            return published.checked(Shelf(plain.parent).read(plain.name), listed, plain)
        except HypersphereError as error:
            if not packed.exists():
                raise
            print(f"note: {error}; {packed} is read instead", flush=True)
    published.require(file, packed, download)  # so its md5 is right
    content = gzip.decompress(Shelf(packed.parent).read(packed.name))
    return published.checked(content, listed, packed)
