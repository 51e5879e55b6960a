"""What cameras, files and screens do. Images are [N, H, W, 3], 0 … 1; results may lie outside and are clipped.

Definitions: Hendrycks and Dietterich 2019, Sec. 4, and the code published with it.
"""

import io
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from PIL import Image
from scipy import ndimage

from hypersphere.datasets.composing.draws import Draws
from hypersphere.datasets.corrupting.sampling import bilinear


def contrast(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, factor: float) -> Float[np.ndarray, "N H W 3"]:
    """Differences from each colour's mean over the image, times ``factor``."""
    bytes_ = np.rint(images * 255).astype(np.int64)  # whole numbers, whose sum has no order
    mean = bytes_.sum(axis=(1, 2), keepdims=True) / (images.shape[1] * images.shape[2] * 255)
    return (images - mean) * factor + mean


def saturate(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, factor: float, more: float
) -> Float[np.ndarray, "N H W 3"]:
    """The saturation of hue, saturation and value, times ``factor`` plus ``more``, up to 1; greys have a red hue."""
    value = images.max(axis=3, keepdims=True)
    lowest = images.min(axis=3, keepdims=True)
    coloured = value > lowest
    saturation = (value - lowest) / np.where(value > 0, value, 1)
    wanted = np.clip(saturation * factor + more, 0, 1)
    greys = value * (1 - wanted * np.array([0, 1, 1]))
    return np.where(coloured, value - (value - images) * wanted / np.where(coloured, saturation, 1), greys)


def jpeg_compression(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, quality: int
) -> Float[np.ndarray, "N H W 3"]:
    """Stored as JPEG of this quality, and read again."""

    def stored(image: Image.Image) -> Image.Image:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality)
        return Image.open(buffer)

    return _through_pillow(images, stored)


def pixelate(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, share: float) -> Float[np.ndarray, "N H W 3"]:
    """Shrunk to this share of the side, and enlarged again, by area averages."""

    def coarse(image: Image.Image) -> Image.Image:
        small = (max(int(image.width * share), 1), max(int(image.height * share), 1))
        return image.resize(small, Image.Resampling.BOX).resize(image.size, Image.Resampling.BOX)

    return _through_pillow(images, coarse)


def _through_pillow(
    images: Float[np.ndarray, "N H W 3"], change: Callable[[Image.Image], Image.Image]
) -> Float[np.ndarray, "N H W 3"]:
    bytes_ = np.rint(images * 255).astype(np.uint8)
    changed = [np.asarray(change(Image.fromarray(image))) for image in bytes_]
    return np.stack(changed) / 255 if changed else images


def elastic_transform(
    images: Float[np.ndarray, "N H H 3"], draws: Draws, *, reach: float, sigma: float, jitter: float
) -> Float[np.ndarray, "N H H 3"]:
    """A random affine map, then a smooth random field of shifts. All three numbers are shares of the side.

    Args:
        images: square ones.
        draws: their random numbers.
        reach: how far pixels would be shifted if the field were not smoothed.
        sigma: of the field's smoothing.
        jitter: how far each of three points of the affine map may move along each axis.
    """
    side = images.shape[1]
    rows, columns = np.meshgrid(np.arange(side, dtype=np.float64), np.arange(side, dtype=np.float64), indexing="ij")
    skewed = bilinear(images, *_affine(rows, columns, draws, side * jitter), repeat_edge=False)
    field = draws.between("field", -1, 1, 2, side, side)
    blurred = ndimage.gaussian_filter(field, (0, 0, side * sigma, side * sigma), mode="reflect", truncate=3.0)
    shift = side * reach * blurred
    return bilinear(skewed, rows + shift[:, 0], columns + shift[:, 1], repeat_edge=True)


def _affine(
    rows: Float[np.ndarray, "H H"], columns: Float[np.ndarray, "H H"], draws: Draws, reach: float
) -> tuple[Float[np.ndarray, "N H H"], Float[np.ndarray, "N H H"]]:
    """Where each pixel of the mapped image comes from.

    Three corners of the middle third, lower right, upper right and upper left, move by up to ``reach`` pixels along
    each axis; the map that moves them so moves all pixels.
    """
    side = len(rows)
    centre, arm = side // 2, max(side // 3, 1)
    moved = draws.between("corners", -reach, reach, 3, 2)
    lower, upper, left = (moved[:, i, :, None, None] for i in range(3))
    # Each step right or down in the image is a step (x, y) in the mapped one.
    right_x, right_y = (1 + (upper[:, 0] - left[:, 0]) / (2 * arm), (upper[:, 1] - left[:, 1]) / (2 * arm))
    down_x, down_y = ((lower[:, 0] - upper[:, 0]) / (2 * arm), 1 + (lower[:, 1] - upper[:, 1]) / (2 * arm))
    x = columns - (centre - arm) - left[:, 0]
    y = rows - (centre - arm) - left[:, 1]
    determinant = right_x * down_y - right_y * down_x
    return (
        centre - arm + (right_x * y - right_y * x) / determinant,
        centre - arm + (down_y * x - down_x * y) / determinant,
    )
