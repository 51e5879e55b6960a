"""Digital corruptions against the standard library's colours, Pillow, and scipy's affine maps."""

import colorsys
import io

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions as digital

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (3, 16, 16, 3)) / 255
IMAGES[0, 0, 0], IMAGES[0, 0, 1], IMAGES[0, 0, 2] = 0, 0.4, 1  # black, grey and white
DRAWS = Draws(np.arange(3), 0, ("test",))


def test_contrast_shrinks_differences_from_the_mean_of_each_colour() -> None:
    found = digital.contrast(IMAGES, DRAWS, factor=0.3)
    np.testing.assert_allclose(found.mean(axis=(1, 2)), IMAGES.mean(axis=(1, 2)))
    np.testing.assert_allclose(found.std(axis=(1, 2)), 0.3 * IMAGES.std(axis=(1, 2)))


@pytest.mark.parametrize(("factor", "more"), [(0.3, 0), (2.5, 0.2)])
def test_saturate_changes_the_saturation_alone(factor: float, more: float) -> None:
    found = digital.saturate(IMAGES, DRAWS, factor=factor, more=more)
    for place in np.ndindex(1, 16, 16):
        hue, saturation, value = colorsys.rgb_to_hsv(*IMAGES[place])
        expected = colorsys.hsv_to_rgb(hue, min(max(saturation * factor + more, 0), 1), value)
        np.testing.assert_allclose(found[place], expected, atol=1e-12)


def test_jpeg_is_pillows_of_that_quality() -> None:
    found = digital.jpeg_compression(IMAGES, DRAWS, quality=40)
    for image, stored in zip(IMAGES, found, strict=True):
        buffer = io.BytesIO()
        Image.fromarray(np.rint(image * 255).astype(np.uint8)).save(buffer, "JPEG", quality=40)
        np.testing.assert_array_equal(np.rint(stored * 255), np.asarray(Image.open(buffer)))
    finer = digital.jpeg_compression(IMAGES, DRAWS, quality=90)
    assert np.abs(finer - IMAGES).mean() < np.abs(found - IMAGES).mean()


def test_the_affine_map_moves_three_corners_as_drawn() -> None:
    """The map from the three pairs of points by linear algebra, applied by scipy."""
    found = digital.elastic_transform(IMAGES, DRAWS, reach=0, sigma=0, jitter=0.1)
    moved = DRAWS.between("corners", -1.6, 1.6, 3, 2)
    centre, arm = 8, 5
    before = np.array([[centre + arm, centre + arm], [centre + arm, centre - arm], [centre - arm, centre - arm]])
    for image, shift, changed in zip(IMAGES, moved, found, strict=True):
        forth = np.linalg.solve(np.column_stack([before, np.ones(3)]), before + shift)  # (x, y, 1) to (x, y)
        back = np.linalg.inv(forth[:2].T)
        swap = [1, 0]  # scipy counts rows first
        matrix, offset = back[swap][:, swap], (-back @ forth[2])[swap]
        for colour in range(3):
            expected = ndimage.affine_transform(image[..., colour], matrix, offset, order=1, mode="mirror")
            np.testing.assert_allclose(changed[..., colour], expected, atol=1e-9)


@pytest.mark.parametrize(("share", "pixels"), [(0.85, 13), (0.65, 10), (0.01, 1)])
def test_pixelate_leaves_whole_pixels_rounded_down(share: float, pixels: int) -> None:
    """A ramp along the columns, each with a value of its own, ends with that many different columns and rows."""
    ramp = np.broadcast_to(np.linspace(0, 1, 16)[None, None, :, None], (1, 16, 16, 3))
    assert len(np.unique(digital.pixelate(ramp, DRAWS, share=share)[0, 0, :, 0])) == pixels
    found = digital.pixelate(ramp.swapaxes(1, 2), DRAWS, share=share)
    assert len(np.unique(found[0, :, 0, 0])) == pixels


def test_the_field_is_smoothed_to_three_sigma_and_moves_rows_and_columns() -> None:
    """The shifts by scipy's filter along one axis after the other, with explicit edges; the reading by scipy."""
    found = digital.elastic_transform(IMAGES, DRAWS, reach=0.3, sigma=0.1, jitter=0)
    field = DRAWS.between("field", -1, 1, 2, 16, 16)
    weights = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.6**2))  # sigma 1.6 pixels, up to 4.8
    weights /= weights.sum()
    padded = np.pad(field, ((0, 0), (0, 0), (5, 5), (5, 5)), mode="symmetric")
    rows = sum(weight * padded[:, :, i : i + 16, :] for i, weight in enumerate(weights))
    shifts = 16 * 0.3 * sum(weight * rows[:, :, :, i : i + 16] for i, weight in enumerate(weights))
    grid = np.mgrid[0:16, 0:16]
    for image, shift, changed in zip(IMAGES, shifts, found, strict=True):
        for colour in range(3):
            expected = ndimage.map_coordinates(image[..., colour], grid + shift, order=1, mode="reflect")
            np.testing.assert_allclose(changed[..., colour], expected, atol=1e-9)


def test_the_smallest_images_have_an_arm_of_a_pixel() -> None:
    found = digital.elastic_transform(IMAGES[:, :2, :2], DRAWS, reach=0, sigma=0, jitter=0.1)
    assert np.isfinite(found).all()
