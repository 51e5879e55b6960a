"""MNIST in torchvision's folder: 70,000 handwritten digits of 28 × 28 pixels, 60,000 of them for training.

The four files are in ``MNIST/raw`` of a data folder, gzipped as published or unpacked. Either way the sha256 of the
unpacked bytes is compared with the constants below.
"""

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.datasets.reading import published
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

FOLDER = Path("MNIST") / "raw"
SIDE = 28
# First bytes of an IDX file: big-endian 32-bit numbers, the magic number and then one size for each axis.
IMAGES, LABELS = 16, 8

FILES = {
    TRAIN: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    TEST: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
# sha256 of the unpacked files, whose gzip archives have the md5 that torchvision publishes.
SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


class Scans(NamedTuple):
    """One part of MNIST, in its official order: white ink (255) on black."""

    pixels: UInt8[np.ndarray, "N 28 28"]
    digit: Int64[np.ndarray, "N"]


def mnist(root: Path, download: bool = True) -> Arrays:
    """60,000 training and 10,000 test images, 28 × 28; the grey value is repeated in the three channels.

    Args:
        root: the folder that holds ``MNIST/raw``.
        download: fetch missing files into it; False: only read.

    Raises:
        HypersphereError: a file is missing or damaged, or cannot be fetched.
    """
    splits = {}
    for part, scans in load(root, download).items():
        splits[part] = Split(_rgb(scans.pixels), {CLASS: scans.digit})
    about = published.table()["mnist"].about()
    return Arrays(splits, {CLASS: tuple(str(digit) for digit in range(10))}, about)


def load(root: Path, download: bool = True) -> dict[str, Scans]:
    """The grey scans of both parts, by name of the split. Arguments and errors are those of ``mnist``."""
    found = {}
    for part, (images, labels) in FILES.items():
        digit = np.frombuffer(_content(root, labels, download), np.uint8, offset=LABELS).astype(np.int64)
        pixels = np.frombuffer(_content(root, images, download), np.uint8, offset=IMAGES)
        found[part] = Scans(pixels.reshape(-1, SIDE, SIDE), digit)
    return found


def _rgb(pixels: UInt8[np.ndarray, "N h w"]) -> Pieces:
    return Pieces((*pixels.shape, 3), lambda numbers: np.repeat(pixels[numbers][..., None], 3, axis=3))


def _content(root: Path, name: str, download: bool) -> bytes:
    """The unpacked bytes of one file, checked."""
    plain, packed = root / FOLDER / name, root / FOLDER / f"{name}.gz"
    path = plain if plain.exists() else packed
    if path == packed and download:
        published.obtain(published.table()["mnist"].files[packed.name], packed)
    elif not path.exists():
        raise HypersphereError(f"{root / FOLDER}: holds neither {plain.name} nor {packed.name}, a file of MNIST")
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path == packed else content
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise HypersphereError(f"{path}: damaged: cannot be unpacked ({error}); put the official file there") from None
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
    actual = hashlib.sha256(content).hexdigest()
    if actual != SHA256[name]:
        remedy = "delete it and run again to download it" if download else "put the official file there"
        raise HypersphereError(
            f"{path}: damaged: {len(content)} bytes unpacked, with sha256 {actual[:12]}…, not {SHA256[name][:12]}…; "
            f"{remedy}"
        )
    return content
