"""Weather: the standard library's colours, and identities that hold whatever is drawn."""

import colorsys
from typing import Any

import numpy as np

from hypersphere.datasets.corrupting import weather
from hypersphere.datasets.draws import Draws

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
    found = weather.fog(IMAGES, DRAWS, density=1.5, decay=2)
    brightest = IMAGES.max(axis=(1, 2, 3), keepdims=True)
    clouds = found * (brightest + 1.5) / brightest - IMAGES
    np.testing.assert_allclose(clouds.std(axis=3), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.min(axis=(1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.max(axis=(1, 2, 3)), 1.5)


def test_frost_is_added_to_a_share_of_the_image() -> None:
    """Two images under the same ice differ by that share of their difference; ice is whitish, and not flat."""
    ice = weather.frost(np.zeros_like(IMAGES), DRAWS, image=0.8, ice=0.4)
    np.testing.assert_allclose(weather.frost(IMAGES, DRAWS, image=0.8, ice=0.4) - ice, 0.8 * IMAGES)
    assert 0 < ice.min() < ice.max() <= 0.4
    assert (ice[..., 2] >= ice[..., 0]).all()
    assert (ice.std(axis=(1, 2, 3)) > 0.02).all()
    assert np.abs(ice[0] - ice[1]).mean() > 0.01  # every image has its own


def test_snow_without_flakes_whitens_by_hand() -> None:
    """No noise is above the threshold 9: what is left is 0.8 v + 0.2 max(v, 1.5 grey + 0.5)."""
    found = weather.snow(IMAGES, DRAWS, threshold=9, image=0.8, **FLAKES)
    grey = IMAGES @ np.array([0.299, 0.587, 0.114])
    expected = 0.8 * IMAGES + 0.2 * np.maximum(IMAGES, (1.5 * grey + 0.5)[..., None])
    np.testing.assert_allclose(found, expected)


def test_flakes_are_white_and_in_both_directions() -> None:
    black = np.zeros_like(IMAGES)
    found = weather.snow(black, DRAWS, threshold=0.5, image=1, **FLAKES)
    np.testing.assert_allclose(found.std(axis=3), 0, atol=1e-12)
    np.testing.assert_allclose(found, np.rot90(found, 2, axes=(1, 2)))  # a layer and itself turned by 180 degrees
    assert found.min() >= 0
    assert 0 < (found > 0.1).mean() < 0.9


def test_mud_covers_with_its_colour_and_nothing_else() -> None:
    """A pixel is as it was, or at least 0.8 of the way to mud brown, (63, 42, 20)."""
    found = weather.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=True, **DROPS)
    mud = np.array([63, 42, 20]) / 255
    covered = np.abs(found - IMAGES).max(axis=3) > 1e-12
    assert 0.01 < covered.mean() < 0.6
    far = np.abs(found - mud)[covered]
    assert (far <= 0.2 * np.abs(IMAGES - mud)[covered] + 1e-12).all()


def test_water_adds_pale_turquoise_where_there_are_drops() -> None:
    found = weather.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=False, **DROPS)
    added = found - IMAGES
    np.testing.assert_allclose(added[..., 0] * 238, added[..., 1] * 175, atol=1e-9)
    np.testing.assert_allclose(added[..., 1], added[..., 2], atol=1e-12)
    np.testing.assert_allclose(added.max(axis=(1, 2, 3)), 0.5 * 238 / 255)  # the brightest spot of each image
    assert 0.01 < (added[..., 1] > 0).mean() < 0.7
    dry = weather.spatter(IMAGES, DRAWS, threshold=99, strength=0.5, mud=False, **DROPS)
    np.testing.assert_array_equal(dry, IMAGES)


def test_levels_are_equalised_by_hand() -> None:
    """Four pixels of 3, two of 5, two of 9: ranks 0, 2 of 4, and 4 of 4 above the least."""
    values = np.array([[3, 3, 3, 3], [5, 5, 9, 9]], dtype=float)
    assert weather._equalised(values).tolist() == [[0] * 4, [128, 128, 255, 255]]
