"""Blurs against loops over single pixels, and kernels that can be worked out by hand."""

import numpy as np
import pytest
from scipy import ndimage

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions as blur

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (3, 12, 12, 3)) / 255
DRAWS = Draws(np.arange(3), 0, ("test",))


@pytest.mark.parametrize(("reach", "rounds"), [(1, 1), (1, 2), (2, 2)])
def test_glass_blur_copies_pixels_as_the_benchmarks_loop_does(reach: int, rounds: int) -> None:
    """From the description of its loop: from the lower right to the upper left, each pixel gets a near one's colour."""
    found = blur.glass_blur(IMAGES, DRAWS, sigma=0.3, reach=reach, rounds=rounds)
    shift = DRAWS.below("source", 2 * reach, rounds, 12, 12, 2) - reach
    for n in range(3):
        shown = np.floor(ndimage.gaussian_filter(IMAGES[n], (0.3, 0.3, 0), mode="nearest") * 255)
        for turn in range(rounds):
            for row in range(12 - reach, reach, -1):
                for column in range(12 - reach, reach, -1):
                    down, right = shift[n, turn, row, column]
                    assert -reach <= min(down, right) <= max(down, right) <= reach - 1
                    shown[row, column] = shown[row + down, column + right].copy()
        expected = ndimage.gaussian_filter(shown / 255, (0.3, 0.3, 0), mode="nearest")
        np.testing.assert_allclose(found[n], expected, atol=1e-12)


def test_a_small_disk_is_its_softening() -> None:
    """Radius 0.3 covers one pixel; the Gaussian of 0.4 on 3 × 3, by hand: side weights exp(-1 / 0.32)."""
    side = np.exp(-1 / 0.32)
    along = np.array([side, 1, side]) / (1 + 2 * side)
    np.testing.assert_allclose(blur.disk(0.3, 0.4), np.outer(along, along), atol=1e-15)


@pytest.mark.parametrize(("radius", "pixels"), [(1, 5), (1.5, 9), (2.5, 21), (3, 29)])
def test_a_disk_covers_the_lattice_points_of_its_circle(radius: float, pixels: int) -> None:
    """Numbers of lattice points: 5, 9, 21, 29 (for radius 3: Gauss's circle problem). Hardly softened."""
    disk = blur.disk(radius, 0.01)
    assert (disk > 1e-9).sum() == pixels
    np.testing.assert_allclose(disk[disk > 1e-9], 1 / pixels)
    np.testing.assert_allclose(blur.disk(radius, 0.5).sum(), 1)  # softening loses nothing at the rim


def test_defocus_blur_reflects_at_the_edges() -> None:
    found = blur.defocus_blur(IMAGES, DRAWS, radius=1.5, alias=0.1)
    kernel = blur.disk(1.5, 0.1)
    padded = np.pad(IMAGES, ((0, 0), (2, 2), (2, 2), (0, 0)), mode="reflect")
    for row, column in ((0, 0), (5, 11), (6, 6)):
        seen = padded[:, row : row + 5, column : column + 5]
        np.testing.assert_allclose(found[:, row, column], np.einsum("nhwc,hw->nc", seen, kernel), atol=1e-12)


@pytest.mark.parametrize(("stop", "count"), [(1.06, 7), (1.11, 12), (1.16, 16), (1.21, 21), (1.26, 26)])
def test_zoom_blur_is_the_mean_of_enlargements(stop: float, count: int) -> None:
    """The factors of the benchmark's arange, whose number depends on rounding; scipy's zoom enlarges."""
    factors = np.arange(1, stop, 0.01)
    assert len(factors) == count
    found = blur.zoom_blur(IMAGES, DRAWS, stop=stop)
    for image, blurred in zip(IMAGES, found, strict=True):
        total = image.copy()
        for factor in factors:
            part = int(np.ceil(12 / factor))
            first = (12 - part) // 2
            zoomed = ndimage.zoom(image[first : first + part, first : first + part], (factor, factor, 1), order=1)
            trim = (len(zoomed) - 12) // 2
            total += zoomed[trim : trim + 12, trim : trim + 12]
        np.testing.assert_allclose(blurred, total / (count + 1), atol=1e-9)
