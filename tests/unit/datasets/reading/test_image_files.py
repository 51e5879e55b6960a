"""What an image file becomes: each kind of pixels, each kind of damage, and the resizing of torchvision."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from torchvision.datasets.folder import default_loader
from torchvision.transforms import CenterCrop, Resize

from hypersphere.datasets.reading import image_files as decoding
from hypersphere.datasets.reading.image_files import square
from hypersphere.errors import HypersphereError

from ..miniatures import noise, photograph, picture

RGB = noise(0, 8, 8, 3)
GREY = noise(1, 8, 8)
COLOURS = np.array([(9, 8, 7), (250, 0, 0), (0, 251, 0), (0, 0, 252)], np.uint8)


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def in_three(grey: np.ndarray) -> np.ndarray:
    return np.repeat(grey[..., None], 3, axis=2)


def palette(transparency: int | bytes) -> bytes:
    image = Image.fromarray(GREY % 4, "P")
    image.putpalette([value for colour in COLOURS.tolist() for value in colour])
    return saved(image, transparency=transparency)


def deep_png() -> bytes:
    """A PNG of 16 bits and three colours, which Pillow does not write, from the format's standard."""
    high = b"".join(b"\0" + (RGB[y].astype(np.uint16) * 256 + 77).astype(">u2").tobytes() for y in range(8))

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(high)) + chunk(b"IEND", b"")


# file, and the pixels that the format's definition gives it
KINDS: dict[str, tuple[bytes, np.ndarray]] = {
    "rgb": (picture(RGB), RGB),
    "grey": (picture(GREY), in_three(GREY)),
    "black and white": (saved(Image.fromarray(GREY > 99)), in_three(np.where(GREY > 99, 255, 0).astype(np.uint8))),
    "palette": (palette(1), COLOURS[GREY % 4]),
    "palette of several transparencies": (palette(bytes([0, 128, 255, 9])), COLOURS[GREY % 4]),
    "transparent": (picture(np.dstack([RGB, GREY])), RGB),
    "grey and transparent": (saved(Image.fromarray(np.dstack([GREY, GREY]), "LA")), in_three(GREY)),
    "16 bits": (picture(GREY.astype(np.uint16) * 256 + 200), in_three(GREY)),
    "16 bits of three colours": (deep_png(), RGB),
    "bmp": (picture(RGB, "BMP"), RGB),
    "tiff": (picture(RGB, "TIFF"), RGB),
    "16 bits in a tiff": (picture(GREY.astype(np.uint16) * 256 + 200, "TIFF"), in_three(GREY)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_pixels_becomes_rgb(kind: str) -> None:
    content, expected = KINDS[kind]
    found = square(content, "a.png", 8)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:Palette images")  # of Pillow, in torchvision
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("16 bits", "16 bits in a tiff")])
def test_conversions_are_those_of_torchvisions_loader(kind: str, tmp_path: Path) -> None:
    """But for grey of 16 bits, which it clips."""
    (tmp_path / "image").write_bytes(KINDS[kind][0])
    np.testing.assert_array_equal(square(KINDS[kind][0], "a", 8), np.asarray(default_loader(str(tmp_path / "image"))))


def test_cmyk_animations_and_noted_orientations() -> None:
    """As JPEGs of ImageNet have them. The first frame; the pixels as stored."""
    cmyk = saved(Image.fromarray(RGB).resize((16, 16)).convert("CMYK"), "JPEG")
    assert square(cmyk, "a.jpg", 16).shape == (16, 16, 3)
    frames = [Image.fromarray(in_three(np.full((8, 8), value, np.uint8))) for value in (10, 200)]
    moving = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert square(moving, "a.gif", 8).max() == 10
    turned = Image.Exif()
    turned[0x0112] = 6  # orientation: to be turned by 90 degrees
    noted = saved(Image.fromarray(RGB), "PNG", exif=turned)
    np.testing.assert_array_equal(square(noted, "a.png", 8), RGB)


@pytest.mark.parametrize("shape", [(40, 60), (61, 40), (40, 40), (41, 64), (17, 500), (500, 17)])
@pytest.mark.parametrize("size", [16, 40, 64])
def test_resizing_is_torchvisions(shape: tuple[int, int], size: int) -> None:
    content = photograph(0, *shape)
    image = Image.open(io.BytesIO(content)).convert("RGB")
    expected = Resize(size)(CenterCrop(min(shape))(image))
    np.testing.assert_array_equal(square(content, "a.jpg", size), np.asarray(expected))


def test_images_in_an_array_are_resized_alike() -> None:
    several = np.stack([RGB, RGB[::-1]])
    small = decoding.resize_all(several, 4)
    for image, found in zip(several, small, strict=True):
        np.testing.assert_array_equal(found, np.asarray(Resize(4)(Image.fromarray(image))))
    assert decoding.resize_all(several, 8) is several


def text_called_image() -> bytes:
    return b"these are words\n" * 9


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (text_called_image(), "is no image in a format that is read: JPEG, PNG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is no image in a format that is read"),
        (picture(RGB)[:-30], "damaged: cannot be decoded"),
        (photograph(0, 40, 60)[:-300], "damaged: cannot be decoded"),
        (picture(RGB)[:20], r"is no image|damaged"),
        (saved(Image.fromarray(GREY.astype(np.float32)), "TIFF"), "its pixels are fractions"),
        (saved(Image.fromarray(GREY.astype(np.int32) + 70_000), "TIFF"), "more than 16 bits"),
    ],
)
def test_what_is_no_image_is_a_sentence_that_names_the_file(content: bytes, words: str) -> None:
    with pytest.raises(HypersphereError, match=words) as caught:
        square(content, "folder/cat/1.jpg", 8)
    assert str(caught.value).startswith("folder/cat/1.jpg: ")
    assert "\n" not in str(caught.value)


def test_a_flipped_bit_of_a_png_is_noticed() -> None:
    """Its checksums see it; the control is the whole file."""
    content = bytearray(picture(RGB))
    content[len(content) // 2] ^= 1
    with pytest.raises(HypersphereError, match="damaged: cannot be decoded"):
        square(bytes(content), "a.png", 8)


def test_a_huge_image_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of kilobytes may announce gigabytes; the second one more than Pillow itself opens."""
    announced = bytearray(picture(RGB))
    for side, words in ((10_000, "has 10000 × 10000 pixels"), (60_000, "has more pixels than are decoded")):
        header = struct.pack(">II", side, side) + bytes(announced[24:29])
        announced[16:33] = header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
        with pytest.raises(HypersphereError, match=words):
            square(bytes(announced), "a.png", 8)
    monkeypatch.setattr(decoding, "LARGEST", 64)
    np.testing.assert_array_equal(square(picture(RGB), "a.png", 8), RGB)
    monkeypatch.setattr(decoding, "LARGEST", 63)
    with pytest.raises(HypersphereError, match="has 8 × 8 pixels, and at most 63"):
        square(picture(RGB), "a.png", 8)
