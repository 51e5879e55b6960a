"""Corruptions of images against scipy, Pillow, the standard library's colours, plain loops, and closed forms."""

import colorsys
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage, stats

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions, sampling
from hypersphere.datasets.corrupting.sampling import magnified, plasma, smoothed, streaked


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


IMAGES = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3)) / 255
IMAGES[0, 0, 0], IMAGES[0, 0, 1], IMAGES[0, 0, 2] = 0, 0.4, 1  # black, grey and white
DRAWS = Draws(np.arange(3), 0, ("test",))
GREY = np.full((40, 16, 16, 3), 102 / 255)  # 0.4
MANY = Draws(np.arange(40), 0, ("test",))
FLAKES: dict[str, Any] = {"mean": 0.1, "scale": 0.3, "zoom": 1.5, "radius": 8, "sigma": 3}
DROPS: dict[str, Any] = {"mean": 0.65, "scale": 0.3, "sigma": 1}


def test_gaussian_noise_has_its_standard_deviation() -> None:
    errors = functions.gaussian_noise(GREY, MANY, scale=0.1) - GREY
    assert abs(errors.mean()) < 5 * 0.1 / np.sqrt(GREY.size)
    assert abs(errors.std() - 0.1) < 5 * 0.1 / np.sqrt(2 * GREY.size)


def test_speckle_noise_grows_with_the_value() -> None:
    errors = functions.speckle_noise(GREY, MANY, scale=0.1) - GREY
    assert abs(errors.std() - 0.04) < 5 * 0.04 / np.sqrt(2 * GREY.size)
    black = np.zeros_like(GREY)
    np.testing.assert_array_equal(functions.speckle_noise(black, MANY, scale=0.1), black)


def test_shot_noise_is_a_poisson_count() -> None:
    """Mean v and variance v / photons; each count is the quantile that scipy's own search finds."""
    shown = functions.shot_noise(GREY, MANY, photons=60)
    assert abs(shown.mean() - 0.4) < 5 * np.sqrt(0.4 / 60 / GREY.size)
    assert abs(shown.var() / (0.4 / 60) - 1) < 0.05
    ramp = np.broadcast_to((np.arange(256) / 255).reshape(1, 16, 16, 1), (2, 16, 16, 3))
    two = Draws(np.arange(2), 0, ("test",))
    expected = stats.poisson.ppf(two.uniform("noise", 16, 16, 3), 500 * ramp) / 500
    np.testing.assert_allclose(functions.shot_noise(ramp, two, photons=500), expected, atol=1e-12)


def test_impulse_noise_hits_a_share_and_leaves_the_rest() -> None:
    shown = functions.impulse_noise(GREY, MANY, share=0.1)
    hit = shown != GREY
    assert set(np.unique(shown[hit])) == {0.0, 1.0}
    assert abs(hit.mean() - 0.1) < 5 * np.sqrt(0.1 * 0.9 / GREY.size)
    assert abs(shown[hit].mean() - 0.5) < 5 * np.sqrt(0.25 / hit.sum())


@pytest.mark.parametrize(("reach", "rounds"), [(1, 1), (1, 2), (2, 2)])
def test_glass_blur_copies_pixels_as_the_benchmarks_loop_does(reach: int, rounds: int) -> None:
    """From the description of its loop: from the lower right to the upper left, each pixel gets a near one's colour."""
    found = functions.glass_blur(IMAGES, DRAWS, sigma=0.3, reach=reach, rounds=rounds)
    shift = DRAWS.below("source", 2 * reach, rounds, 16, 16, 2) - reach
    for n in range(3):
        shown = np.floor(ndimage.gaussian_filter(IMAGES[n], (0.3, 0.3, 0), mode="nearest") * 255)
        for turn in range(rounds):
            for row in range(16 - reach, reach, -1):
                for column in range(16 - reach, reach, -1):
                    down, right = shift[n, turn, row, column]
                    assert -reach <= min(down, right) <= max(down, right) <= reach - 1
                    shown[row, column] = shown[row + down, column + right].copy()
        expected = ndimage.gaussian_filter(shown / 255, (0.3, 0.3, 0), mode="nearest")
        np.testing.assert_allclose(found[n], expected, atol=1e-16)


def test_a_small_disk_is_its_softening() -> None:
    """Radius 0.3 covers one pixel; the Gaussian of 0.4 on 3 × 3, by hand: side weights exp(-1 / 0.32)."""
    side = np.exp(-1 / 0.32)
    along = np.array([side, 1, side]) / (1 + 2 * side)
    np.testing.assert_allclose(functions.disk(0.3, 0.4), np.outer(along, along), atol=1e-15)


@pytest.mark.parametrize(("radius", "pixels"), [(1, 5), (1.5, 9), (2.5, 21), (3, 29)])
def test_a_disk_covers_the_lattice_points_of_its_circle(radius: float, pixels: int) -> None:
    """Numbers of lattice points: 5, 9, 21, 29 (for radius 3: Gauss's circle problem). Hardly softened."""
    disk = functions.disk(radius, 0.01)
    assert (disk > 1e-9).sum() == pixels
    np.testing.assert_allclose(disk[disk > 1e-9], 1 / pixels)
    np.testing.assert_allclose(functions.disk(radius, 0.5).sum(), 1)  # softening loses nothing at the rim


def test_defocus_blur_reflects_at_the_edges() -> None:
    found = functions.defocus_blur(IMAGES, DRAWS, radius=1.5, alias=0.1)
    kernel = functions.disk(1.5, 0.1)
    padded = np.pad(IMAGES, ((0, 0), (2, 2), (2, 2), (0, 0)), mode="reflect")
    for row, column in ((0, 0), (5, 11), (6, 6)):
        seen = padded[:, row : row + 5, column : column + 5]
        np.testing.assert_allclose(found[:, row, column], np.einsum("nhwc,hw->nc", seen, kernel), atol=1e-16)


@pytest.mark.parametrize(("stop", "count"), [(1.06, 7), (1.11, 12), (1.16, 16), (1.21, 21), (1.26, 26)])
def test_zoom_blur_is_the_mean_of_enlargements(stop: float, count: int) -> None:
    """The factors of the benchmark's arange, whose number depends on rounding; scipy's zoom enlarges."""
    factors = np.arange(1, stop, 0.01)
    assert len(factors) == count
    found = functions.zoom_blur(IMAGES, DRAWS, stop=stop)
    for image, blurred in zip(IMAGES, found, strict=True):
        total = image.copy()
        for factor in factors:
            part = int(np.ceil(16 / factor))
            first = (16 - part) // 2
            zoomed = ndimage.zoom(image[first : first + part, first : first + part], (factor, factor, 1), order=1)
            trim = (len(zoomed) - 16) // 2
            total += zoomed[trim : trim + 16, trim : trim + 16]
        np.testing.assert_allclose(blurred, total / (count + 1), atol=1e-9)


def test_brightness_raises_the_value_alone() -> None:
    found = functions.brightness(IMAGES, DRAWS, more=0.3)
    for place in np.ndindex(1, 16, 16):
        hue, saturation, value = colorsys.rgb_to_hsv(*IMAGES[place])
        np.testing.assert_allclose(found[place], colorsys.hsv_to_rgb(hue, saturation, min(value + 0.3, 1)), atol=1e-12)


def test_fog_is_grey_and_keeps_to_the_images_brightest_value() -> None:
    """v · m / (m + d) ≤ result ≤ (v + d) · m / (m + d), with m the brightest value; both are reached."""
    images = IMAGES * np.array([1, 0.5, 0.2])[:, None, None, None]
    found = functions.fog(images, DRAWS, density=1.5, decay=2)
    brightest = images.max(axis=(1, 2, 3), keepdims=True)
    clouds = found * (brightest + 1.5) / brightest - images
    np.testing.assert_allclose(clouds.std(axis=3), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.min(axis=(1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.max(axis=(1, 2, 3)), 1.5)


def test_snow_without_flakes_whitens_by_hand() -> None:
    """No noise is above the threshold 9: what is left is 0.8 v + 0.2 max(v, 1.5 grey + 0.5)."""
    found = functions.snow(IMAGES, DRAWS, threshold=9, image=0.8, **FLAKES)
    grey = IMAGES @ np.array([0.299, 0.587, 0.114])
    expected = 0.8 * IMAGES + 0.2 * np.maximum(IMAGES, (1.5 * grey + 0.5)[..., None])
    np.testing.assert_allclose(found, expected)


def test_levels_are_equalised_by_hand() -> None:
    """Four pixels of 3, two of 5, two of 9: ranks 0, 2 of 4, and 4 of 4 above the least."""
    values = np.array([[3, 3, 3, 3], [5, 5, 9, 9]], dtype=float)
    assert functions._equalised(values).tolist() == [[0] * 4, [128, 128, 255, 255]]


def test_frost_is_clouds_ridges_and_needles_of_ice() -> None:
    """The definition pixel by pixel, from parts that have tests of their own."""
    cover, ridge = plasma(16, 2.5, DRAWS.named("cover")), plasma(16, 2.0, DRAWS.named("ridges"))
    seeds, angles = DRAWS.uniform("seeds", 2, 16, 16)[..., None] ** 6, DRAWS.between("angles", -90, 90, 2)
    needles = [streaked(seeds[:, i], 2, 1, angles[:, i]) for i in (0, 1)]
    found = functions.frost(np.zeros_like(IMAGES), DRAWS, image=1, ice=1)
    for place in np.ndindex(3, 16, 16):
        sharp = 1 - abs(2 * ridge[place] - 1)
        bright = 0.25 + 0.35 * cover[place] + 0.3 * sharp**3 + 0.8 * (needles[0][place][0] + needles[1][place][0])
        np.testing.assert_allclose(found[place], min(max(bright, 0), 1) * np.array([0.86, 0.93, 1]))


@pytest.mark.parametrize(("zoom", "radius"), [(1, 0), (2, 0), (1.5, 8)])
def test_flakes_are_bright_noise_enlarged_and_blown_downwards(zoom: float, radius: float) -> None:
    """With neither zoom nor wind a flake is a pixel above the threshold, in whole steps of 255."""
    parameters = FLAKES | {"zoom": zoom, "radius": radius}
    found = functions.snow(np.zeros_like(IMAGES), DRAWS, threshold=0.3, image=1, **parameters)
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
    found = functions.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=True, **DROPS)
    mud = np.array([63, 42, 20]) / 255
    for place in np.ndindex(3, 16, 16):
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
    level = functions._equalised(np.floor(mean9(np.minimum(away, 20)) + 0.5))
    padded, lit = np.pad(level, 1, mode="reflect"), np.zeros(wet.shape)
    light = ((-2, -1, 0), (-1, 1, 1), (0, 1, 2))
    for r, c in np.ndindex(height, width):
        lit[r, c] = sum(light[i][j] * padded[r + i, c + j] for i in range(3) for j in range(3))
    return mean9(np.clip(lit, 0, 255))


def test_drops_shine_as_their_distance_to_the_rim_says() -> None:
    """Drops in the middle and at an edge, which is no rim, and dry pixels farther away than matters."""
    wet = np.zeros((32, 40), bool)
    wet[3:9, 2:11], wet[20:26, 0:5] = True, True
    np.testing.assert_allclose(functions._relief(wet), relief(wet), atol=1e-9)


def test_water_shines_by_depth_times_relief() -> None:
    liquid = smoothed(0.65 + 0.3 * DRAWS.normal("drops", 16, 16), 1)
    found = functions.spatter(IMAGES, DRAWS, threshold=0.75, strength=0.5, mud=False, **DROPS)
    for image, drops, changed in zip(IMAGES, liquid, found, strict=True):
        depth = np.floor(np.where(drops >= 0.75, drops, 0) * 255)
        shine = depth * relief(depth > 0)
        water = np.array([175, 238, 238]) / 255
        np.testing.assert_allclose(changed, image + 0.5 * (shine / shine.max())[..., None] * water, atol=1e-9)


def test_contrast_shrinks_differences_from_the_mean_of_each_colour() -> None:
    found = functions.contrast(IMAGES, DRAWS, factor=0.3)
    np.testing.assert_allclose(found.mean(axis=(1, 2)), IMAGES.mean(axis=(1, 2)))
    np.testing.assert_allclose(found.std(axis=(1, 2)), 0.3 * IMAGES.std(axis=(1, 2)))


@pytest.mark.parametrize(("factor", "more"), [(0.3, 0), (2.5, 0.2)])
def test_saturate_changes_the_saturation_alone(factor: float, more: float) -> None:
    found = functions.saturate(IMAGES, DRAWS, factor=factor, more=more)
    for place in np.ndindex(1, 16, 16):
        hue, saturation, value = colorsys.rgb_to_hsv(*IMAGES[place])
        expected = colorsys.hsv_to_rgb(hue, min(max(saturation * factor + more, 0), 1), value)
        np.testing.assert_allclose(found[place], expected, atol=1e-12)


def test_jpeg_is_pillows_of_that_quality() -> None:
    found = functions.jpeg_compression(IMAGES, DRAWS, quality=40)
    for image, stored in zip(IMAGES, found, strict=True):
        buffer = io.BytesIO()
        Image.fromarray(np.rint(image * 255).astype(np.uint8)).save(buffer, "JPEG", quality=40)
        np.testing.assert_array_equal(np.rint(stored * 255), np.asarray(Image.open(buffer)))
    finer = functions.jpeg_compression(IMAGES, DRAWS, quality=90)
    assert np.abs(finer - IMAGES).mean() < np.abs(found - IMAGES).mean()


def test_the_affine_map_moves_three_corners_as_drawn() -> None:
    """The map from the three pairs of points by linear algebra, applied by scipy."""
    found = functions.elastic_transform(IMAGES, DRAWS, reach=0, sigma=0, jitter=0.1)
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
    assert len(np.unique(functions.pixelate(ramp, DRAWS, share=share)[0, 0, :, 0])) == pixels
    found = functions.pixelate(ramp.swapaxes(1, 2), DRAWS, share=share)
    assert len(np.unique(found[0, :, 0, 0])) == pixels


def test_the_field_is_smoothed_to_three_sigma_and_moves_rows_and_columns() -> None:
    """The shifts by scipy's filter along one axis after the other, with explicit edges; the reading by scipy."""
    found = functions.elastic_transform(IMAGES, DRAWS, reach=0.3, sigma=0.1, jitter=0)
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
    found = functions.elastic_transform(IMAGES[:, :2, :2], DRAWS, reach=0, sigma=0, jitter=0.1)
    assert np.isfinite(found).all()
