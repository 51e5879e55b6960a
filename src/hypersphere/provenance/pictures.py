"""Pictures beside a table: one lossless PNG of several images, one below the other."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from hypersphere.errors import HypersphereError
from hypersphere.files import replacing

Stack = UInt8[np.ndarray, "H W 3"]
"""Images one below the other."""


def stack(images: Sequence[UInt8[np.ndarray, "h w 3"]]) -> Stack:
    """Images one below the other, flush left; those narrower than the widest have white to their right.

    Raises:
        HypersphereError: there is no image, or one is not uint8 of three colours.
    """
    for image in images:
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
            raise HypersphereError(
                f"pictures: an image must be uint8 of shape [h, w, 3] (given: {image.dtype} {list(image.shape)})"
            )
    if len(images) == 0:
        raise HypersphereError("pictures: there must be at least one")
    stacked = np.full((sum(map(len, images)), max(image.shape[1] for image in images), 3), 255, np.uint8)
    top = 0
    for image in images:
        stacked[top : top + len(image), : image.shape[1]] = image
        top += len(image)
    return stacked


def write(path: Path, images: Sequence[UInt8[np.ndarray, "h w 3"]]) -> None:
    """Write ``stack(images)``; equal images give equal bytes. Raises its errors."""
    stacked = Image.fromarray(stack(images))
    with replacing(path) as temporary:
        stacked.save(temporary, format="PNG", compress_level=6)


def read(path: Path) -> Stack:
    """The whole stack.

    Raises:
        HypersphereError: the file is missing, or not a PNG of three colours.
    """
    try:
        with Image.open(path, formats=["PNG"]) as image:
            if image.mode != "RGB":
                raise HypersphereError(f"{path}: is not a PNG of three colours (mode {image.mode})")
            return np.array(image)
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (OSError, SyntaxError) as error:  # Pillow raises SyntaxError for a broken chunk
        raise HypersphereError(f"{path}: cannot be read as a PNG ({error})") from None
