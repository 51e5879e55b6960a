"""What an image file becomes: each kind of pixels, each kind of damage, and the resizing of torchvision."""

import struct
import zlib
from itertools import chain
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
COLOURS = np.array([(9, 8, 7), (250, 0, 0), (0, 251, 0), (0, 0, 252)], np.uint8)


def in_three(grey: np.ndarray) -> np.ndarray:
    return np.repeat(grey[..., None], 3, axis=2)


def palette(transparency: int | bytes) -> bytes:
    image = Image.fromarray(GREY % 4, "P")
    image.putpalette([*chain.from_iterable(COLOURS.tolist())])
    return saved(image, transparency=transparency)


def chunk(kind: bytes, content: bytes) -> bytes:
    """Of a PNG."""
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def deep_png() -> bytes:
    """A PNG of 16 bits and three colours, which Pillow does not write, from the format's standard."""
    high = b"".join(
        b"\0" + (RGB[y].astype(np.uint16) * 256 + 77).astype(">u2").tobytes() for y in range(8)
    )
    header = struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(high))
        + chunk(b"IEND", b"")
    )


FRAMES = [Image.fromarray(in_three(grey)) for grey in (GREY // 64, 255 - GREY // 64)]
TURNED = Image.Exif()
TURNED[0x0112] = 6  # orientation: to be turned by 90 degrees
# file, and the pixels that the format's definition gives it; of an animation the first frame, and pixels as stored
KINDS: dict[str, tuple[bytes, np.ndarray]] = {
    "rgb": (picture(RGB), RGB),
    "grey": (picture(GREY), in_three(GREY)),
    "black and white": (
        saved(Image.fromarray(GREY > 99)),
        in_three(np.where(GREY > 99, 255, 0).astype(np.uint8)),
    ),
    "palette": (palette(1), COLOURS[GREY % 4]),
    "palette of several transparencies": (palette(bytes([0, 128, 255, 9])), COLOURS[GREY % 4]),
    "transparent": (picture(np.dstack([RGB, GREY])), RGB),
    "grey and transparent": (saved(Image.fromarray(np.dstack([GREY, GREY]), "LA")), in_three(GREY)),
    "16 bits of three colours": (deep_png(), RGB),
    "bmp": (picture(RGB, "BMP"), RGB),
    "tiff": (picture(RGB, "TIFF"), RGB),
    "cmyk": (saved(Image.fromarray(RGB).convert("CMYK"), "TIFF"), RGB),
    "animation": (
        saved(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:]),
        in_three(GREY // 64),
    ),
    "noted orientation": (saved(Image.fromarray(RGB), exif=TURNED), RGB),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_pixels_becomes_rgb(kind: str) -> None:
    content, expected = KINDS[kind]
    found = square(content, "a.png", 8)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


def announcing(side: int) -> bytes:
    """A file of kilobytes that announces gigabytes."""
    small = picture(RGB)
    return small[:8] + chunk(b"IHDR", struct.pack(">II", side, side) + small[24:29]) + small[33:]


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
    "32 bits": saved(Image.fromarray(GREY.astype(np.int32) + 70_000), "TIFF"),
    "16 bits in a tiff": picture(GREY.astype(np.uint16) * 256 + 200, "TIFF"),
    "huge": announcing(10_000),
    "more than Pillow opens": announcing(60_000),
}


@pytest.mark.parametrize("content", NONE.values(), ids=NONE)
def test_what_is_no_image_is_a_sentence_that_names_the_file(content: bytes, names: Any) -> None:
    with pytest.raises(HypersphereError) as caught:
        square(content, "folder/cat/1.jpg", 8)
    names(caught.value, "folder/cat/1.jpg")


def test_the_largest_image_is_decoded_and_no_larger_one(
    monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 64)
    np.testing.assert_array_equal(square(picture(RGB), "a.png", 8), RGB)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 63)
    with refused("a.png"):
        square(picture(RGB), "a.png", 8)
