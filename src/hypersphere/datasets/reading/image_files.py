"""Image files as squares of one size, and splits of images that lie in a folder for each class: ``<class>/<image>``.

An image is read by its content, whatever its name. Grey values are repeated, a palette is looked up, transparency is
dropped, CMYK becomes RGB, of 16 bits the upper 8 are kept, and of an animation the first frame. The orientation that a
camera notes beside the pixels is not applied. torchvision's ``ImageFolder`` does the same, but for grey of 16 bits,
which it clips.
"""

import io
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.types import CLASS, Pieces, Split
from hypersphere.errors import HypersphereError

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
"""The formats that are read. Others are refused: some start programs, and some hold no pixels."""
LARGEST = 89_478_485
"""Pixels of the largest image that is decoded: 256 MB as RGB. Pillow warns of larger ones."""
DEEP = 8
"""Bits by which grey values of 16 bits are shifted."""
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
"""Endings of images' names, in small or capital letters."""


def square(content: bytes, name: str, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """Decode an image: the central square, resized to ``size`` × ``size`` pixels.

    The square is cut first and then resized (bilinear with antialiasing, as torchvision's ``CenterCrop`` and
    ``Resize``); an image of that size keeps its pixels.
    """
    if not content:
        raise HypersphereError(f"{name}: the file is empty, and should be an image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow, about metadata and large images
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                width, height = image.size
                if width * height > LARGEST:
                    raise HypersphereError(
                        f"{name}: has {width} × {height} pixels, and at most {LARGEST:,} are decoded; make it smaller"
                    )
                image.load()
                if image.mode == "F":
                    raise HypersphereError(f"{name}: its pixels are fractions; save it with 8 or 16 bits")
                if not image.mode.startswith("I"):
                    return resized(image.convert("RGB"), size)
                values = np.asarray(image)
                if values.min() < 0 or values.max() >= 1 << 16:
                    raise HypersphereError(f"{name}: its pixels have more than 16 bits; save it with 8 or 16")
                return resized(Image.fromarray((values >> DEEP).astype(np.uint8)).convert("RGB"), size)
    except Image.UnidentifiedImageError:
        raise HypersphereError(f"{name}: is no image in a format that is read: {', '.join(FORMATS)}") from None
    except Image.DecompressionBombError:
        raise HypersphereError(f"{name}: has more pixels than are decoded: {LARGEST:,}; make it smaller") from None
    except HypersphereError:
        raise
    except Exception as error:  # a decoder may raise anything for bytes that are not as they should be
        raise HypersphereError(f"{name}: damaged: cannot be decoded ({' '.join(str(error).split())})") from None


def resized(image: Image.Image, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """The central square of an RGB image, resized."""
    width, height = image.size
    side = min(width, height)
    left, top = round((width - side) / 2), round((height - side) / 2)
    if (width, height) != (side, side):
        image = image.crop((left, top, left + side, top + side))
    if side != size:
        image = image.resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(image)


def resize_all(images: UInt8[np.ndarray, "N H W 3"], size: int) -> UInt8[np.ndarray, "N size size 3"]:
    """Resize images of equal height and width."""
    if images.shape[1:3] == (size, size):
        return images
    made = np.empty((len(images), size, size, 3), np.uint8)
    for number, image in enumerate(images):
        made[number] = resized(Image.fromarray(image), size)
    return made


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
    """The folders of class in which the named files lie, sorted: of ``train/cat/1.jpg``, at ``depth`` 1, ``cat``."""
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
