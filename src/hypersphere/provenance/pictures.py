"""Pictures beside a table: one lossless PNG of several images, one below the other."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from hypersphere.files import replacing


def write(path: Path, images: Sequence[UInt8[np.ndarray, "h w 3"]]) -> None:
    """Write images flush left, with white to the right of narrow ones; equal images give equal bytes."""
    height = sum(map(len, images))
    width = max(image.shape[1] for image in images)
    stacked = np.full((height, width, 3), 255, np.uint8)
    top = 0
    for image in images:
        stacked[top : top + len(image), : image.shape[1]] = image
        top += len(image)
    with replacing(path) as temporary:
        Image.fromarray(stacked).save(temporary, format="PNG", compress_level=6)


def read(path: Path) -> UInt8[np.ndarray, "H W 3"]:
    """The whole stack, of a file whose checksum has been checked."""
    with Image.open(path, formats=["PNG"]) as image:
        return np.array(image)
