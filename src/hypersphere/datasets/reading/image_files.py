"""Image files as squares of one size, and splits of images that lie in a folder for each class: ``<class>/<image>``.

An image is read by its content, whatever its name, as torchvision's ``ImageFolder`` does. Grey values are repeated, a
palette is looked up, transparency is dropped, CMYK becomes RGB, and an animation is its first frame. The orientation
that a camera notes beside the pixels is not applied.
"""

import io
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.types import CLASS, Pieces, Split
from hypersphere.errors import HypersphereError

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
"""The formats that are read. Others are refused: some start programs, and some hold no pixels."""


def square(content: bytes, name: str, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """Decode an image: the central square, resized to ``size`` × ``size`` pixels.

    The square is cut first and then resized (bilinear with antialiasing, as torchvision's ``CenterCrop`` and
    ``Resize``); an image of that size keeps its pixels. Images that Pillow warns of, larger than 256 MB, are refused.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about metadata
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=FORMATS)
            image.load()
            if image.mode.startswith(("I", "F")):
                raise ValueError("its grey values have more than 8 bits")
            return resized(image.convert("RGB"), size)
    except Image.UnidentifiedImageError:
        raise HypersphereError(
            f"{name}: is not an image in a format that we read: {', '.join(FORMATS)}"
        ) from None
    # a decoder may raise anything for bytes that are not as they should be
    except Exception as error:
        raise HypersphereError(
            f"{name}: cannot be decoded ({' '.join(str(error).split())})"
        ) from None


def resized(image: Image.Image, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """The central square of an RGB image, resized."""
    width, height = image.size
    side = min(width, height)
    left = round((width - side) / 2)
    top = round((height - side) / 2)
    if (width, height) != (side, side):
        image = image.crop((left, top, left + side, top + side))
    if side != size:
        image = image.resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(image)


def images(shelf: Shelf, names: Sequence[str], size: int) -> Pieces:
    """Images of the named files, decoded when they are read; N squares of ``size`` pixels."""

    def one(n: int) -> UInt8[np.ndarray, "size size 3"]:
        name = names[n]
        return square(shelf.read(name), f"{shelf.place}/{name}", size)

    return squares(len(names), size, one)


def squares(
    count: int, size: int, one: Callable[[int], UInt8[np.ndarray, "size size 3"]]
) -> Pieces:
    """Images that are made one by one, by their number, when they are read."""

    def read(numbers: np.ndarray) -> np.ndarray:
        pixels = np.empty((len(numbers), size, size, 3), np.uint8)
        for place, number in enumerate(numbers):
            pixels[place] = one(number)
        return pixels

    return Pieces((count, size, size, 3), read)


def by_class(
    shelf: Shelf, names: Sequence[str], classes: Sequence[str], size: int, above: str = ""
) -> Split:
    """A split of files in a folder for each class, class after class and in the order of names.

    ``classes`` are the names of the folders, sorted: each must have images, and no other may be there. All are in the
    folder ``above``: ``train`` for ``train/cat/1.jpg``.
    """
    place = f"{shelf.place}/{above}" if above else shelf.place
    if {*names} <= {f"{above}/"}:
        raise HypersphereError(f"{place}: has no images")
    numbers = {name: number for number, name in enumerate(classes)}
    shown: list[str] = []
    labels: list[int] = []
    for name in sorted(names, key=lambda name: name.split("/")):
        folder, slash, image = name.removeprefix(f"{above}/").partition("/")
        if folder not in numbers or "/" in image or not slash:
            wish = "<class>/<image>, and the class one of the training images"
            raise HypersphereError(f"{shelf.place}/{name}: should be {wish}; move it elsewhere")
        if image:
            shown.append(name)
            labels.append(numbers[folder])
    for number in sorted(set(numbers.values()) - set(labels)):
        name = classes[number]
        if f"{above}/{name}/".removeprefix("/") in names:
            raise HypersphereError(f"{place}/{name}: has no images")
        raise HypersphereError(f"{place}: has no folder {name}, a class of the training images")
    return Split(images(shelf, shown, size), {CLASS: np.array(labels, np.int64)})
