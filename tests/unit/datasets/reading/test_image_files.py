"""What an image file becomes: each kind of pixels, each kind of damage, and the resizing of torchvision."""

import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hypersphere.datasets.reading.image_files import square
from hypersphere.errors import HypersphereError

from ....harm import flipped
from ..miniatures import noise, photograph, picture, saved

RGB = noise(0, 8, 8, 3)
GREY = noise(1, 8, 8)


def in_three(grey: np.ndarray) -> np.ndarray:
    return np.repeat(grey[..., None], 3, axis=2)


def noting_that_it_is_turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: to be turned by 90 degrees
    return saved(Image.fromarray(RGB), exif=exif)


# file, and the pixels that the format's definition gives it, as they are stored
KINDS: dict[str, tuple[bytes, np.ndarray]] = {
    "rgb": (picture(RGB), RGB),
    "grey": (picture(GREY), in_three(GREY)),
    "transparent": (picture(np.dstack([RGB, GREY])), RGB),
    "noted orientation": (noting_that_it_is_turned(), RGB),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_pixels_becomes_rgb(kind: str) -> None:
    content, expected = KINDS[kind]
    found = square(content, "a.png", 8)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


def huge() -> bytes:
    """A file of a few bytes that announces 10,000 by 10,000 pixels."""
    announced = bytearray(picture(RGB))
    header = struct.pack(">II", 10_000, 10_000) + bytes(announced[24:29])
    announced[16:33] = header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return bytes(announced)


NONE = {
    "empty": b"",
    "text": b"these are words\n" * 9,
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    "cut PNG": picture(RGB)[:-30],
    "cut JPEG": photograph(0, 40, 60)[:-300],
    "cut header": picture(RGB)[:20],
    "flipped": flipped(picture(RGB)),  # a PNG has checksums
    "16 bits": picture(GREY.astype(np.uint16) * 256 + 200),
    "fractions": saved(Image.fromarray(GREY.astype(np.float32)), "TIFF"),
    "huge": huge(),
}


@pytest.mark.parametrize("content", NONE.values(), ids=NONE)
def test_what_is_no_image_is_a_sentence_that_names_the_file(content: bytes, approve: Any) -> None:
    with pytest.raises(HypersphereError) as caught:
        square(content, "folder/cat/1.jpg", 8)
    approve(str(caught.value).partition(" (")[0])  # without the words of Pillow's
