"""Weather: the standard library's colours, and identities that hold whatever is drawn."""

import colorsys
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions as weather
from hypersphere.datasets.corrupting.sampling import magnified, plasma, smoothed, streaked

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (4, 16, 16, 3)) / 255
IMAGES[0, 0, 0], IMAGES[0, 0, 1], IMAGES[0, 0, 2] = 0, 0.4, 1  # black, grey and white
DRAWS = Draws(np.arange(4), 0, ("test",))
FLAKES: dict[str, Any] = {"mean": 0.1, "scale": 0.3, "zoom": 1.5, "radius": 8, "sigma": 3}
DROPS: dict[str, Any] = {"mean": 0.65, "scale": 0.3, "sigma": 1}


def test_brightness_raises_the_value_alone() -> None:
    found = weather.brightness(IMAGES, DRAWS, more=0.3)
    for place in np.ndindex(1, 16, 16):
        hue, saturation, value = colorsys.rgb_to_hsv(*IMAGES[place])
        np.testing.assert_allclose(found[place], colorsys.hsv_to_rgb(hue, saturation, min(value + 0.3, 1)), atol=1e-12)


def test_fog_is_grey_and_keeps_to_the_images_brightest_value() -> None:
    """v · m / (m + d) ≤ result ≤ (v + d) · m / (m + d), with m the brightest value; both are reached."""
    images = IMAGES * np.array([1, 0.8, 0.5, 0.2])[:, None, None, None]
    found = weather.fog(images, DRAWS, density=1.5, decay=2)
    brightest = images.max(axis=(1, 2, 3), keepdims=True)
    clouds = found * (brightest + 1.5) / brightest - images
    np.testing.assert_allclose(clouds.std(axis=3), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.min(axis=(1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.max(axis=(1, 2, 3)), 1.5)


def test_snow_without_flakes_whitens_by_hand() -> None:
    """No noise is above the threshold 9: what is left is 0.8 v + 0.2 max(v, 1.5 grey + 0.5)."""
    found = weather.snow(IMAGES, DRAWS, threshold=9, image=0.8, **FLAKES)
    grey = IMAGES @ np.array([0.299, 0.587, 0.114])
    expected = 0.8 * IMAGES + 0.2 * np.maximum(IMAGES, (1.5 * grey + 0.5)[..., None])
    np.testing.assert_allclose(found, expected)


def test_levels_are_equalised_by_hand() -> None:
    """Four pixels of 3, two of 5, two of 9: ranks 0, 2 of 4, and 4 of 4 above the least."""
    values = np.array([[3, 3, 3, 3], [5, 5, 9, 9]], dtype=float)
    assert weather._equalised(values).tolist() == [[0] * 4, [128, 128, 255, 255]]


def test_frost_is_clouds_ridges_and_needles_of_ice() -> None:
    """The definition pixel by pixel, from parts that have tests of their own."""
    cover, ridge = plasma(16, 2.5, DRAWS.named("cover")), plasma(16, 2.0, DRAWS.named("ridges"))
    seeds, angles = DRAWS.uniform("seeds", 2, 16, 16)[..., None] ** 6, DRAWS.between("angles", -90, 90, 2)
    needles = [streaked(seeds[:, i], 2, 1, angles[:, i]) for i in (0, 1)]
    found = weather.frost(np.zeros_like(IMAGES), DRAWS, image=1, ice=1)
    for place in np.ndindex(4, 16, 16):
        sharp = 1 - abs(2 * ridge[place] - 1)
        bright = 0.25 + 0.35 * cover[place] + 0.3 * sharp**3 + 0.8 * (needles[0][place][0] + needles[1][place][0])
        np.testing.assert_allclose(found[place], min(max(bright, 0), 1) * np.array([0.86, 0.93, 1]))


@pytest.mark.parametrize(("zoom", "radius"), [(1, 0), (2, 0), (1.5, 8)])
def test_flakes_are_bright_noise_enlarged_and_blown_downwards(zoom: float, radius: float) -> None:
    """With neither zoom nor wind a flake is a pixel above the threshold, in whole steps of 255."""
    parameters = FLAKES | {"zoom": zoom, "radius": radius}
    found = weather.snow(np.zeros_like(IMAGES), DRAWS, threshold=0.3, image=1, **parameters)
    noise = 0.1 + 0.3 * DRAWS.normal("flakes", 16, 16)[..., None]
    large = noise if zoom == 1 else magnified(noise, zoom)
    layer = np.array([int(255 * min(v, 1)) if v >= 0.3 else 0 for v in large.flat], float).reshape(large.shape)
    wind = DRAWS.between("wind", -135, -45)
    assert ((wind > -135) & (wind < -45)).all()
    blown = np.floor(streaked(layer, radius, 3, wind) + 0.5) / 255 if radius else layer / 255
    expected = np.broadcast_to(blown + blown[:, ::-1, ::-1], IMAGES.shape)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_mud_is_smoothed_drops_where_they_are_thick() -> None:
    liquid = smoothed(0.65 + 0.3 * DRAWS.normal("drops", 16, 16), 1)
    thick = smoothed((liquid > 0.75).astype(float), 0.5)
    found = weather.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=True, **DROPS)
    mud = np.array([63, 42, 20]) / 255
    for place in np.ndindex(4, 16, 16):
        share = thick[place] if thick[place] >= 0.8 else 0
        np.testing.assert_allclose(found[place], (1 - share) * IMAGES[place] + share * mud)
    assert ((thick > 0.8) & (thick < 0.9)).any()  # the control: the limit matters


def mean9(values: np.ndarray) -> np.ndarray:
    """The mean of each pixel and its eight neighbours, reflected at the edges without repeating them."""
    padded = np.pad(values, 1, mode="reflect")
    return sum(padded[i : i + values.shape[0], j : j + values.shape[1]] for i in range(3) for j in range(3)) / 9


def relief(wet: np.ndarray) -> np.ndarray:
    """Plain loops: distance to the nearest rim, levelled by rank, and lit from the upper left."""
    height, width = wet.shape
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    rim = [
        (r, c)
        for r, c in np.argwhere(wet)
        if any(0 <= r + i < height and 0 <= c + j < width and not wet[r + i, c + j] for i, j in steps)
    ]
    away = np.array([[min(np.hypot(r - i, c - j) for i, j in rim) for c in range(width)] for r in range(height)])
    level = weather._equalised(np.floor(mean9(np.minimum(away, 20)) + 0.5))
    padded, lit = np.pad(level, 1, mode="reflect"), np.zeros(wet.shape)
    light = ((-2, -1, 0), (-1, 1, 1), (0, 1, 2))
    for r, c in np.ndindex(height, width):
        lit[r, c] = sum(light[i][j] * padded[r + i, c + j] for i in range(3) for j in range(3))
    return mean9(np.clip(lit, 0, 255))


def test_drops_shine_as_their_distance_to_the_rim_says() -> None:
    """Drops in the middle and at an edge, which is no rim, and dry pixels farther away than matters."""
    wet = np.zeros((32, 40), bool)
    wet[3:9, 2:11], wet[20:26, 0:5] = True, True
    np.testing.assert_allclose(weather._relief(wet), relief(wet), atol=1e-9)


def test_water_shines_by_depth_times_relief() -> None:
    liquid = smoothed(0.65 + 0.3 * DRAWS.normal("drops", 16, 16), 1)
    found = weather.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=False, **DROPS)
    for image, drops, changed in zip(IMAGES, liquid, found, strict=True):
        depth = np.floor(np.where(drops >= 0.75, drops, 0) * 255)
        shine = depth * relief(depth > 0)
        water = np.array([175, 238, 238]) / 255
        np.testing.assert_allclose(changed, image + 0.5 * (shine / shine.max())[..., None] * water, atol=1e-9)
