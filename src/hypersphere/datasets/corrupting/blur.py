"""Blur. Images are [N, H, W, 3], 0 … 1.

Definitions: Hendrycks and Dietterich 2019, Sec. 4, and the code published with it.
"""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from hypersphere.datasets.composing.draws import Draws
from hypersphere.datasets.corrupting.sampling import magnified, smoothed, streaked


def gaussian_blur(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, sigma: float) -> Float[np.ndarray, "N H W 3"]:
    """Gaussian of standard deviation ``sigma``, pixels."""
    return smoothed(images, sigma)


def glass_blur(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, sigma: float, reach: int, rounds: int
) -> Float[np.ndarray, "N H W 3"]:
    """Gaussian blur, then pixels that take the colour of a near one, then Gaussian blur again.

    The paper says that pixels are shuffled. Its code copies: of two pixels to be exchanged, the second keeps its
    colour. So does this function. A pixel's source is -reach … reach-1 pixels away along each axis, and an edge of
    ``reach`` pixels at the top and left (one less at the bottom and right) stays as it is.
    """
    shown = np.floor(smoothed(images, sigma) * 255) / 255
    height, width = images.shape[1:3]
    shift = draws.below("source", 2 * reach, rounds, height, width, 2) - reach
    n = np.arange(len(images))
    for turn in range(rounds):
        for row in range(height - reach, reach, -1):
            for column in range(width - reach, reach, -1):
                down, right = shift[:, turn, row, column].T
                shown[:, row, column] = shown[n, row + down, column + right]
    return smoothed(shown, sigma)


def defocus_blur(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, radius: float, alias: float
) -> Float[np.ndarray, "N H W 3"]:
    """A disk of ``radius`` pixels, its rim softened by a Gaussian of ``alias`` pixels on 3 × 3; edges reflect."""
    kernel = disk(radius, alias)
    return np.asarray(ndimage.correlate(images, kernel[None, :, :, None], mode="mirror"))


def disk(radius: float, alias: float) -> Float[np.ndarray, "k k"]:
    """The weights of a softened disk, on as many pixels as it covers; their sum is one."""
    reach = int(radius) + 1
    along = np.arange(-reach, reach + 1)
    inside = (along[:, None] ** 2 + along**2 <= radius**2).astype(np.float64)
    soft = np.exp(-(np.array([-1, 0, 1]) ** 2) / (2 * alias**2))
    soft /= soft.sum()
    return np.asarray(ndimage.correlate(inside / inside.sum(), np.outer(soft, soft), mode="constant"))


def motion_blur(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, radius: float, sigma: float
) -> Float[np.ndarray, "N H W 3"]:
    """Movement along a line, at most 45 degrees off a row."""
    return streaked(images, radius, sigma, draws.between("angle", -45, 45))


def zoom_blur(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, stop: float) -> Float[np.ndarray, "N H W 3"]:
    """The mean of the image and its centre enlarged by 1, 1.01, … to below ``stop`` (or to it, by rounding)."""
    factors = np.arange(1, stop, 0.01)
    total = images.copy()
    for factor in factors:
        total += magnified(images, factor)
    return np.asarray(total / (len(factors) + 1))
