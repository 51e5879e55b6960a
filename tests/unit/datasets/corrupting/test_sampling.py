"""Sampling between pixels agrees with scipy's; streaks and clouds with a few values worked out by hand."""

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import sampling

RNG = np.random.default_rng(0)
IMAGES = RNG.random((3, 9, 9, 3))


@pytest.mark.parametrize(("repeat_edge", "mode"), [(True, "reflect"), (False, "mirror")])
def test_bilinear_samples_are_those_of_scipy(repeat_edge: bool, mode: Any) -> None:
    """Also beyond the edges, on both sides."""
    rows, columns = RNG.uniform(-6, 14, (2, 3, 7, 5))
    found = sampling.bilinear(IMAGES, rows, columns, repeat_edge)
    for n, colour in np.ndindex(3, 3):
        expected = ndimage.map_coordinates(IMAGES[n, ..., colour], (rows[n], columns[n]), order=1, mode=mode)
        np.testing.assert_allclose(found[n, ..., colour], expected, atol=1e-12)
    other = sampling.bilinear(IMAGES, rows, columns, not repeat_edge)
    assert np.abs(found - other).max() > 0.1  # control: the two reflections differ


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.25, 1.75, 2.25])
@pytest.mark.parametrize("side", [9, 32])
def test_magnified_is_the_middle_of_scipys_zoom(side: int, factor: float) -> None:
    """The recipe of the benchmark's code: cut out the middle, zoom, and trim what is too much."""
    images = RNG.random((2, side, side, 3))
    part = int(np.ceil(side / factor))
    first = (side - part) // 2
    for image, found in zip(images, sampling.magnified(images, factor), strict=True):
        zoomed = ndimage.zoom(image[first : first + part, first : first + part], (factor, factor, 1), order=1)
        trim = (len(zoomed) - side) // 2
        np.testing.assert_allclose(found, zoomed[trim : trim + side, trim : trim + side], atol=1e-9)


@pytest.mark.parametrize(("degrees", "axis"), [(0, 1), (90, 0), (180, 1), (-90, 0)])
def test_a_point_becomes_a_streak_on_one_side(degrees: float, axis: int) -> None:
    """The weights by hand: exp(-i² / 2σ²), i from 0, normalised; the point is their first."""
    point = np.zeros((1, 21, 21, 1))
    point[0, 10, 10] = 1
    streak = sampling.streaked(point, 3, 2, np.array([degrees]))[0, ..., 0]
    weights = np.exp(-(np.arange(7) ** 2) / 8)
    line = streak[10] if axis else streak[:, 10]
    assert np.isclose(streak.sum(), 1)
    assert np.isclose(line.sum(), 1)
    # What is seen at a place comes from further along the line, so the streak goes the other way.
    away = line[10::-1] if degrees in (0, 90) else line[10:]
    np.testing.assert_allclose(away[:7], weights / weights.sum())


def test_smoothed_spreads_a_point_as_a_gaussian() -> None:
    """By hand: weights exp(-i² / 2) to four sigma on each side, normalised; colours do not mix."""
    point = np.zeros((1, 11, 11, 3))
    point[0, 5, 5, 1] = 1
    weights = np.exp(-(np.arange(-4, 5) ** 2) / 2)
    weights /= weights.sum()
    found = sampling.smoothed(point, 1)
    np.testing.assert_allclose(found[0, 1:10, 1:10, 1], np.outer(weights, weights), atol=1e-12)
    assert found[..., [0, 2]].max() == 0
    assert np.allclose(sampling.smoothed(np.full((1, 5, 5, 3), 0.3), 2), 0.3)


def test_plasma_of_two_pixels_by_hand() -> None:
    """The first corner is 0, the middle 100² u; either edge has half of the middle and 100² u of its own."""
    draws = Draws(np.arange(4), 0, ("test",))
    u = draws.between("plasma", -1, 1, 2, 2)
    raw = np.zeros((4, 2, 2))
    raw[:, 1, 1] = u[:, 1, 1]
    raw[:, 0, 1] = u[:, 1, 1] / 2 + u[:, 0, 1]
    raw[:, 1, 0] = u[:, 1, 1] / 2 + u[:, 1, 0]
    raw -= raw.min(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(sampling.plasma(2, 3, draws), raw / raw.max(axis=(1, 2), keepdims=True))


def test_plasma_fills_0_to_1_is_cut_to_size_and_smoother_with_more_decay() -> None:
    draws = Draws(np.arange(20), 0, ("test",))
    smooth, rough = (sampling.plasma(32, decay, draws) for decay in (3, 1.75))
    for clouds in (smooth, rough):
        np.testing.assert_allclose(clouds.min(axis=(1, 2)), 0)
        np.testing.assert_allclose(clouds.max(axis=(1, 2)), 1)
    assert np.abs(np.diff(smooth, axis=1)).mean() < np.abs(np.diff(rough, axis=1)).mean() / 1.5
    np.testing.assert_array_equal(sampling.plasma(20, 3, draws), smooth[:, :20, :20])
    # midpoint displacement on a torus has no seam: neighbours across the edge are as alike as neighbours within
    seam = np.abs(smooth[:, 0] - smooth[:, -1]).mean()
    assert seam < 2 * np.abs(np.diff(smooth, axis=1)).mean()
