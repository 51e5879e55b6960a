"""Images read between their pixels: bilinear samples, magnified centres, shifts along a line, and plasma.

Only sums and products of single pixels: no matrix product or sum over a batch, whose rounding may change with its size.
"""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from hypersphere.datasets.composing import Draws

WIBBLE = 100.0
"""How far a plasma's first midpoints may be off; Hendrycks and Dietterich's code."""


def bilinear(
    images: Float[np.ndarray, "N H W C"],
    rows: Float[np.ndarray, "N h w"],
    columns: Float[np.ndarray, "N h w"],
    repeat_edge: bool,
) -> Float[np.ndarray, "N h w C"]:
    """Images at fractional places, reflected beyond their edges; ``repeat_edge``: the edge's pixels are seen twice."""
    n = np.arange(len(images))[:, None, None]
    tops, lefts = np.floor(rows), np.floor(columns)
    down, right = (rows - tops)[..., None], (columns - lefts)[..., None]
    height, width = images.shape[1:3]
    top, bottom = (_fold(tops + step, height, repeat_edge) for step in (0, 1))
    left, far = (_fold(lefts + step, width, repeat_edge) for step in (0, 1))
    above = images[n, top, left] * (1 - right) + images[n, top, far] * right
    below = images[n, bottom, left] * (1 - right) + images[n, bottom, far] * right
    result: np.ndarray = above * (1 - down) + below * down
    return result


def _fold(places: Float[np.ndarray, "..."], size: int, repeat_edge: bool) -> Int[np.ndarray, "..."]:
    """Whole places reflected into 0 … size-1."""
    period = 2 * size if repeat_edge else max(2 * (size - 1), 1)
    folded = places.astype(np.int64) % period
    return np.minimum(folded, period - folded - repeat_edge)


def magnified(images: Float[np.ndarray, "N H H C"], factor: float) -> Float[np.ndarray, "N H H C"]:
    """The middle of square images, enlarged by ``factor``, linear between pixels, in the images' own size."""
    side = images.shape[1]
    part = math.ceil(side / factor)
    whole = round(part * factor)
    first = (side - part) // 2
    places = (np.arange(side) + (whole - side) // 2) * (part - 1) / max(whole - 1, 1)
    low = np.minimum(places.astype(np.int64), part - 1)
    share = places - low
    near, far = first + low, first + np.minimum(low + 1, part - 1)
    rows = images[:, near] * (1 - share)[:, None, None] + images[:, far] * share[:, None, None]
    enlarged: np.ndarray = rows[:, :, near] * (1 - share)[:, None] + rows[:, :, far] * share[:, None]
    return enlarged


def streaked(
    images: Float[np.ndarray, "N H W C"], radius: float, sigma: float, degrees: Float[np.ndarray, "N"]
) -> Float[np.ndarray, "N H W C"]:
    """Each image averaged with its shifts along a line, with weights that fall on one side as a normal density.

    The motion blur of ImageMagick, which the benchmark calls: 2 ceil(radius) + 1 taps, whole-pixel shifts, and edges
    that go on as they are. At 0 degrees the line is a row, at 90 a column.
    """
    taps = 2 * math.ceil(radius) + 1
    weights = [math.exp(-(tap**2) / (2 * sigma**2)) for tap in range(taps)]
    height, width = images.shape[1:3]
    n, result = np.arange(len(images))[:, None, None], np.zeros_like(images)
    angles = [math.radians(value) for value in degrees]
    for tap, weight in enumerate(weights):
        down = np.array([math.ceil(tap * math.sin(angle) - 0.5) for angle in angles], dtype=np.int64)
        right = np.array([math.ceil(tap * math.cos(angle) - 0.5) for angle in angles], dtype=np.int64)
        rows = np.clip(np.arange(height) + down[:, None], 0, height - 1)
        columns = np.clip(np.arange(width) + right[:, None], 0, width - 1)
        result += weight / sum(weights) * images[n, rows[:, :, None], columns[:, None, :]]
    return result


def smoothed(images: Float[np.ndarray, "N H W *C"], sigma: float) -> Float[np.ndarray, "N H W *C"]:
    """Gaussian blur within each image and colour; edges go on as they are; weights end at four sigma."""
    along = (0, sigma, sigma, 0)[: images.ndim]
    return np.asarray(ndimage.gaussian_filter(images, along, mode="nearest", truncate=4.0))


def plasma(side: int, decay: float, draws: Draws) -> Float[np.ndarray, "N side side"]:
    """Clouds from 0 to 1, by midpoint displacement (diamond and square) on a torus.

    Args:
        side: of the result, pixels, cut from a map whose side is a power of two.
        decay: by how much the displacement shrinks from one scale to the next: small is rough.
        draws: the images' random numbers; each point of the map uses its own.
    """
    size = 1 << max(side - 1, 1).bit_length()
    draw = draws.between("plasma", -1, 1, size, size)
    heights = np.zeros((len(draw), size, size))
    step, reach = size, WIBBLE
    while step >= 2:
        even, odd = slice(0, None, step), slice(step // 2, None, step)
        corners = heights[:, even, even]
        across = corners + np.roll(corners, -1, axis=2)
        down = corners + np.roll(corners, -1, axis=1)
        heights[:, odd, odd] = (across + np.roll(across, -1, axis=1)) / 4 + reach**2 * draw[:, odd, odd]
        middles = heights[:, odd, odd]
        heights[:, even, odd] = (across + middles + np.roll(middles, 1, axis=1)) / 4 + reach**2 * draw[:, even, odd]
        heights[:, odd, even] = (down + middles + np.roll(middles, 1, axis=2)) / 4 + reach**2 * draw[:, odd, even]
        step, reach = step // 2, reach / decay
    heights -= heights.min(axis=(1, 2), keepdims=True)
    return (heights / heights.max(axis=(1, 2), keepdims=True))[:, :side, :side]
