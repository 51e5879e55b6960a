"""Corruptions of images against scipy, Pillow, the standard library's colours, plain loops, and closed forms."""

import colorsys
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage, stats
from sklearn.datasets import load_sample_image

from hypersphere.datasets import corrupting
from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import (
    FUNCTIONS,
    corrupt,
    magnified,
    parameters,
    plasma,
    smoothed,
    streaked,
)
from hypersphere.datasets.part import shrunk

from .miniatures import decoded, saved


@pytest.mark.parametrize(("degrees", "axis"), [(0, 1), (90, 0), (180, 1), (-90, 0)])
def test_a_point_becomes_a_streak_on_one_side(degrees: float, axis: int) -> None:
    """The weights by hand: exp(-i² / 2σ²), i from 0, normalised; the point is their first."""
    point = np.zeros((1, 21, 21, 1))
    point[0, 10, 10] = 1
    streak = streaked(point, 3, 2, np.array([degrees]))[0, ..., 0]
    weights = np.exp(-(np.arange(7) ** 2) / 8)
    line = streak[10] if axis else streak[:, 10]
    assert np.isclose(streak.sum(), 1)
    assert np.isclose(line.sum(), 1)
    # What is seen at a place comes from further along the line, so the streak goes the other way.
    away = line[10::-1] if degrees in (0, 90) else line[10:]
    np.testing.assert_allclose(away[:7], weights / weights.sum())


def test_plasma_is_midpoint_displacement_on_a_torus() -> None:
    """Plain loops: a point is the mean of its four nearest, first diagonal, then straight, and a draw that shrinks.

    Of 16 by 16 points 12 by 12 are cut out, after they are scaled from 0 to 1.
    """
    draws = Draws(np.arange(4), 0, ("test",))
    u, heights = draws.between("plasma", -1, 1, 16, 16), np.zeros((4, 16, 16))
    step, reach = 16, 1.0
    while step > 1:
        half = step // 2
        diagonal = [(-half, -half), (-half, half), (half, -half), (half, half)]
        straight = [(-half, 0), (half, 0), (0, -half), (0, half)]
        for top, left, near in ((half, half, diagonal), (0, half, straight), (half, 0, straight)):
            for r, c in itertools.product(range(top, 16, step), range(left, 16, step)):
                around = [heights[:, (r + down) % 16, (c + right) % 16] for down, right in near]
                heights[:, r, c] = np.mean(around, axis=0) + reach**2 * u[:, r, c]
        step, reach = half, reach / 1.75
    heights -= heights.min(axis=(1, 2), keepdims=True)
    expected = (heights / heights.max(axis=(1, 2), keepdims=True))[:, :12, :12]
    np.testing.assert_allclose(plasma(12, 1.75, draws), expected, atol=1e-12)


IMAGES = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3)) / 255
IMAGES[0, 0, 0], IMAGES[0, 0, 1], IMAGES[0, 0, 2] = 0, 0.4, 1  # black, grey and white
DRAWS = Draws(np.arange(3), 0, ("test",))
GREY = np.full((40, 16, 16, 3), 102 / 255)  # 0.4
MANY = Draws(np.arange(40), 0, ("test",))


def test_noise_is_its_draws_added_multiplied_or_in_place_of_a_share() -> None:
    """What is drawn has tests of its own (test_composing.py)."""
    normal = MANY.normal("noise", 16, 16, 3)
    np.testing.assert_allclose(corrupting.gaussian_noise(GREY, MANY, scale=0.1), 0.4 + 0.1 * normal)
    np.testing.assert_allclose(corrupting.speckle_noise(GREY, MANY, scale=0.1), 0.4 + 0.04 * normal)
    hit, salt = MANY.uniform("hit", 16, 16, 3), MANY.uniform("salt", 16, 16, 3)
    shown = corrupting.impulse_noise(GREY, MANY, share=0.1)
    np.testing.assert_array_equal(
        shown, np.select([hit >= 0.1, salt < 0.5], [GREY, np.ones_like(GREY)])
    )


def test_shot_noise_is_a_poisson_count() -> None:
    """Each count is the quantile that scipy's own search finds."""
    ramp = np.broadcast_to((np.arange(256) / 255).reshape(1, 16, 16, 1), (2, 16, 16, 3))
    two = Draws(np.arange(2), 0, ("test",))
    expected = stats.poisson.ppf(two.uniform("noise", 16, 16, 3), 500 * ramp) / 500
    np.testing.assert_allclose(corrupting.shot_noise(ramp, two, photons=500), expected, atol=1e-12)


def blurred(image: np.ndarray) -> np.ndarray:
    return np.asarray(ndimage.gaussian_filter(image, (0.8, 0.8, 0), mode="nearest"))


@pytest.mark.parametrize(("reach", "rounds"), [(1, 1), (2, 2)])
def test_glass_blur_copies_pixels_as_the_benchmarks_loop_does(reach: int, rounds: int) -> None:
    """From the description of its loop: from the lower right to the upper left, each pixel gets a near one's colour.

    A Gaussian of 0.8 pixels ends at 3: the farthest weight is seen.
    """
    found = corrupting.glass_blur(IMAGES, DRAWS, sigma=0.8, reach=reach, rounds=rounds)
    shift = DRAWS.below("source", 2 * reach, rounds, 16, 16, 2) - reach
    for n in range(3):
        shown = np.floor(blurred(IMAGES[n]) * 255)
        for turn in range(rounds):
            for row in range(16 - reach, reach, -1):
                for column in range(16 - reach, reach, -1):
                    down, right = shift[n, turn, row, column]
                    assert -reach <= min(down, right) <= max(down, right) <= reach - 1
                    shown[row, column] = shown[row + down, column + right].copy()
        np.testing.assert_allclose(found[n], blurred(shown / 255), atol=1e-15)


@pytest.mark.parametrize(
    ("radius", "alias", "pixels"), [(0.3, 0.4, 1), (1.5, 0.1, 9), (3, 0.5, 29)]
)
def test_defocus_blur_is_a_softened_disk_that_reflects_at_the_edges(
    radius: float, alias: float, pixels: int
) -> None:
    """Each lattice point of a circle is spread over 3 by 3 pixels. Radius 3 has 29 points: Gauss's circle problem."""
    reach = int(radius) + 1
    inside = [
        p for p in itertools.product(range(-reach, reach + 1), repeat=2) if np.hypot(*p) <= radius
    ]
    assert len(inside) == pixels
    soft = np.exp(-np.array([1, 0, 1]) / (2 * alias**2))
    expected, weights = np.zeros_like(IMAGES), np.outer(soft, soft) / soft.sum() ** 2 / pixels
    padded = np.pad(IMAGES, ((0, 0), (reach, reach), (reach, reach), (0, 0)), mode="reflect")
    for (row, column), (down, right) in itertools.product(inside, np.ndindex(3, 3)):
        top, left = reach + row + down - 1, reach + column + right - 1
        expected += weights[down, right] * padded[:, top : top + 16, left : left + 16]
    np.testing.assert_allclose(
        corrupting.defocus_blur(IMAGES, DRAWS, radius=radius, alias=alias), expected
    )


@pytest.mark.parametrize(
    ("stop", "count"), [(1.06, 7), (1.11, 12), (1.16, 16), (1.21, 21), (1.26, 26)]
)
def test_zoom_blur_is_the_mean_of_enlargements(stop: float, count: int) -> None:
    """The factors of the benchmark's arange, whose number depends on rounding; scipy's zoom enlarges."""
    factors = np.arange(1, stop, 0.01)
    assert len(factors) == count
    found = corrupting.zoom_blur(IMAGES, DRAWS, stop=stop)
    for image, blurred in zip(IMAGES, found, strict=True):
        total = image.copy()
        for factor in factors:
            part = int(np.ceil(16 / factor))
            first = (16 - part) // 2
            zoomed = ndimage.zoom(
                image[first : first + part, first : first + part], (factor, factor, 1), order=1
            )
            trim = (len(zoomed) - 16) // 2
            total += zoomed[trim : trim + 16, trim : trim + 16]
        np.testing.assert_allclose(blurred, total / (count + 1), atol=1e-9)


CHANGES: dict[
    str, tuple[Callable[..., np.ndarray], dict[str, float], Callable[..., tuple[float, ...]]]
] = {
    "brightness": (corrupting.brightness, {"more": 0.3}, lambda h, s, v: (h, s, min(v + 0.3, 1))),
    "paler": (corrupting.saturate, {"factor": 0.3, "more": 0}, lambda h, s, v: (h, 0.3 * s, v)),
    "more colour": (
        corrupting.saturate,
        {"factor": 2.5, "more": 0.2},
        lambda h, s, v: (h, min(2.5 * s + 0.2, 1), v),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_brightness_and_saturate_change_one_of_hue_saturation_and_value(change: str) -> None:
    function, given, expected = CHANGES[change]
    found = function(IMAGES, DRAWS, **given)
    for place in np.ndindex(1, 16, 16):
        by_hand = colorsys.hsv_to_rgb(*expected(*colorsys.rgb_to_hsv(*IMAGES[place])))
        np.testing.assert_allclose(found[place], by_hand, atol=1e-12)


def test_fog_is_grey_and_keeps_to_the_images_brightest_value() -> None:
    """v · m / (m + d) ≤ result ≤ (v + d) · m / (m + d), with m the brightest value; both are reached."""
    images = IMAGES * np.array([1, 0.5, 0.2])[:, None, None, None]
    found = corrupting.fog(images, DRAWS, density=1.5, decay=2)
    brightest = images.max(axis=(1, 2, 3), keepdims=True)
    clouds = found * (brightest + 1.5) / brightest - images
    np.testing.assert_allclose(clouds.std(axis=3), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.min(axis=(1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(clouds.max(axis=(1, 2, 3)), 1.5)


def test_frost_is_clouds_ridges_and_needles_of_ice() -> None:
    """The definition pixel by pixel, from parts that have tests of their own."""
    cover, ridge = plasma(16, 2.5, DRAWS.named("cover")), plasma(16, 2.0, DRAWS.named("ridges"))
    seeds, angles = (
        DRAWS.uniform("seeds", 2, 16, 16)[..., None] ** 6,
        DRAWS.between("angles", -90, 90, 2),
    )
    needles = [streaked(seeds[:, i], 2, 1, angles[:, i]) for i in (0, 1)]
    found = corrupting.frost(np.zeros_like(IMAGES), DRAWS, image=1, ice=1)
    for place in np.ndindex(3, 16, 16):
        sharp = 1 - abs(2 * ridge[place] - 1)
        bright = (
            0.25
            + 0.35 * cover[place]
            + 0.3 * sharp**3
            + 0.8 * (needles[0][place][0] + needles[1][place][0])
        )
        np.testing.assert_allclose(found[place], min(max(bright, 0), 1) * np.array([0.86, 0.93, 1]))


@pytest.mark.parametrize(("zoom", "radius"), [(1, 0), (2, 0), (1.5, 8)])
def test_flakes_are_bright_noise_enlarged_and_blown_downwards_on_a_whitened_image(
    zoom: float, radius: float
) -> None:
    """With neither zoom nor wind a flake is a pixel above the threshold, in whole steps of 255."""
    asked = {"zoom": zoom, "radius": radius, "sigma": 3, "image": 0.8}
    found = corrupting.snow(IMAGES, DRAWS, mean=0.1, scale=0.3, threshold=0.3, **asked)
    noise = 0.1 + 0.3 * DRAWS.normal("flakes", 16, 16)[..., None]
    large = noise if zoom == 1 else magnified(noise, zoom)
    layer = np.array([int(255 * min(v, 1)) if v >= 0.3 else 0 for v in large.flat], float).reshape(
        large.shape
    )
    wind = DRAWS.between("wind", -135, -45)
    assert ((wind > -135) & (wind < -45)).all()
    blown = np.floor(streaked(layer, radius, 3, wind) + 0.5) / 255 if radius else layer / 255
    white = np.maximum(IMAGES, 1.5 * (IMAGES @ np.array([0.299, 0.587, 0.114]))[..., None] + 0.5)
    expected = 0.8 * IMAGES + 0.2 * white + blown + blown[:, ::-1, ::-1]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def mean9(values: np.ndarray) -> np.ndarray:
    """The mean of each pixel and its eight neighbours, reflected at the edges without repeating them."""
    padded = np.pad(values, 1, mode="reflect")
    return (
        sum(
            padded[i : i + values.shape[0], j : j + values.shape[1]]
            for i in range(3)
            for j in range(3)
        )
        / 9
    )


def relief(wet: np.ndarray) -> np.ndarray:
    """Plain loops: distance to the nearest rim, levelled by rank, and lit from the upper left."""
    height, width = wet.shape
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    rim = [
        (r, c)
        for r, c in np.argwhere(wet)
        if any(
            0 <= r + i < height and 0 <= c + j < width and not wet[r + i, c + j] for i, j in steps
        )
    ]
    away = np.array(
        [[min(np.hypot(r - i, c - j) for i, j in rim) for c in range(width)] for r in range(height)]
    )
    depth = np.floor(mean9(np.minimum(away, 20)) + 0.5)
    # pixels that are not above
    ranks = np.searchsorted(np.sort(depth, axis=None), depth, side="right")
    level = np.rint(255 * (ranks - ranks.min()) / (depth.size - ranks.min()))
    padded, lit = np.pad(level, 1, mode="reflect"), np.zeros(wet.shape)
    light = ((-2, -1, 0), (-1, 1, 1), (0, 1, 2))
    for r, c in np.ndindex(height, width):
        lit[r, c] = sum(light[i][j] * padded[r + i, c + j] for i in range(3) for j in range(3))
    return mean9(np.clip(lit, 0, 255))


def test_spatter_is_mud_where_smoothed_drops_are_thick_or_water_that_shines_by_depth_times_relief() -> (
    None
):
    """Some drops are at the edge, which is no rim."""
    asked: dict[str, Any] = {
        "mean": 0.65,
        "scale": 0.3,
        "sigma": 1,
        "threshold": 0.75,
        "strength": 0.5,
    }
    muddy, watered = (corrupting.spatter(IMAGES, DRAWS, **asked, mud=mud) for mud in (True, False))
    mud, water = np.array([63, 42, 20]) / 255, np.array([175, 238, 238]) / 255
    liquid = smoothed(0.65 + 0.3 * DRAWS.normal("drops", 16, 16), 1)
    thick = smoothed((liquid > 0.75).astype(float), 0.5)
    for place in np.ndindex(3, 16, 16):
        share = thick[place] if thick[place] >= 0.8 else 0
        np.testing.assert_allclose(muddy[place], (1 - share) * IMAGES[place] + share * mud)
    assert ((thick > 0.8) & (thick < 0.9)).any()  # the control: the limit matters
    for image, drops, changed in zip(IMAGES, liquid, watered, strict=True):
        depth = np.floor(np.where(drops >= 0.75, drops, 0) * 255)
        shine = depth * relief(depth > 0)
        np.testing.assert_allclose(
            changed, image + 0.5 * (shine / shine.max())[..., None] * water, atol=1e-9
        )


def test_contrast_shrinks_differences_from_the_mean_of_each_colour() -> None:
    found = corrupting.contrast(IMAGES, DRAWS, factor=0.3)
    np.testing.assert_allclose(found.mean(axis=(1, 2)), IMAGES.mean(axis=(1, 2)))
    np.testing.assert_allclose(found.std(axis=(1, 2)), 0.3 * IMAGES.std(axis=(1, 2)))


def test_jpeg_is_pillows_of_that_quality() -> None:
    found = corrupting.jpeg_compression(IMAGES, DRAWS, quality=40)
    for image, stored in zip(IMAGES, found, strict=True):
        expected = saved(Image.fromarray(np.rint(image * 255).astype(np.uint8)), "JPEG", quality=40)
        np.testing.assert_array_equal(np.rint(stored * 255), decoded(expected))


def test_the_affine_map_moves_three_corners_as_drawn() -> None:
    """The map from the three pairs of points by linear algebra, applied by scipy. Of 2 by 2 pixels it is one, too."""
    tiny = corrupting.elastic_transform(IMAGES[:, :2, :2], DRAWS, reach=0, sigma=0, jitter=0.1)
    assert np.isfinite(tiny).all()
    found = corrupting.elastic_transform(IMAGES, DRAWS, reach=0, sigma=0, jitter=0.1)
    moved = DRAWS.between("corners", -1.6, 1.6, 3, 2)
    centre, arm = 8, 5
    before = np.array(
        [[centre + arm, centre + arm], [centre + arm, centre - arm], [centre - arm, centre - arm]]
    )
    for image, shift, changed in zip(IMAGES, moved, found, strict=True):
        # (x, y, 1) to (x, y)
        forth = np.linalg.solve(np.column_stack([before, np.ones(3)]), before + shift)
        back = np.linalg.inv(forth[:2].T)
        swap = [1, 0]  # scipy counts rows first
        matrix, offset = back[swap][:, swap], (-back @ forth[2])[swap]
        for colour in range(3):
            expected = ndimage.affine_transform(
                image[..., colour], matrix, offset, order=1, mode="mirror"
            )
            np.testing.assert_allclose(changed[..., colour], expected, atol=1e-9)


@pytest.mark.parametrize(("share", "pixels"), [(0.85, 13), (0.65, 10), (0.01, 1)])
def test_pixelate_leaves_whole_pixels_rounded_down(share: float, pixels: int) -> None:
    """A ramp along the columns, each with a value of its own, ends with that many different columns and rows."""
    ramp = np.broadcast_to(np.linspace(0, 1, 16)[None, None, :, None], (1, 16, 16, 3))
    assert len(np.unique(corrupting.pixelate(ramp, DRAWS, share=share)[0, 0, :, 0])) == pixels
    found = corrupting.pixelate(ramp.swapaxes(1, 2), DRAWS, share=share)
    assert len(np.unique(found[0, :, 0, 0])) == pixels


def test_the_field_is_smoothed_to_three_sigma_and_moves_rows_and_columns() -> None:
    """The shifts by scipy's filter along one axis after the other, with explicit edges; the reading by scipy."""
    found = corrupting.elastic_transform(IMAGES, DRAWS, reach=0.3, sigma=0.1, jitter=0)
    field = DRAWS.between("field", -1, 1, 2, 16, 16)
    weights = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.6**2))  # sigma 1.6 pixels, up to 4.8
    weights /= weights.sum()
    padded = np.pad(field, ((0, 0), (0, 0), (5, 5), (5, 5)), mode="symmetric")
    rows = sum(weight * padded[:, :, i : i + 16, :] for i, weight in enumerate(weights))
    shifts = 16 * 0.3 * sum(weight * rows[:, :, :, i : i + 16] for i, weight in enumerate(weights))
    grid = np.mgrid[0:16, 0:16]
    for image, shift, changed in zip(IMAGES, shifts, found, strict=True):
        for colour in range(3):
            expected = ndimage.map_coordinates(
                image[..., colour], grid + shift, order=1, mode="reflect"
            )
            np.testing.assert_allclose(changed[..., colour], expected, atol=1e-9)


WITHOUT_DRAWS = (
    "brightness contrast defocus_blur gaussian_blur jpeg_compression pixelate saturate zoom_blur"
)
NUMBERS = np.arange(24)
SMALL = np.random.default_rng(1).integers(0, 256, (24, 32, 32, 3), dtype=np.uint8)
NOT_WORSE = {"saturate", "spatter", "elastic_transform", "glass_blur"}
"""Their tables do not grow: less or more colour, water or mud, wide or narrow waves, copies less or more blurred."""
ALIKE = {"frost", "motion_blur"}
"""Their severities 3 and 4 differ little: less of the image under the same ice, and a longer tail of small weights."""


@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - NOT_WORSE))
def test_each_severity_is_further_from_the_clean_image(name: str, side: int) -> None:
    """Of pieces of scikit-learn's two photographs: a severity out of order in severities.csv is noticed."""
    corners = [(row, column) for row in (20, 140, 280) for column in (0, 130, 260, 390)]
    photographs = [load_sample_image(photograph) for photograph in ("china.jpg", "flower.jpg")]
    pieces = [
        one[row : row + 128, column : column + 128]
        for one in photographs
        for row, column in corners
    ]
    images = shrunk(np.stack(pieces), side)
    severities = (1, 2, 3, 5) if name in ALIKE else (1, 2, 3, 4, 5)
    errors = [
        ((corrupt(images, NUMBERS, name, s, 0) / 255 - images / 255) ** 2).mean()
        for s in severities
    ]
    assert errors[0] > 0
    assert errors == sorted(errors)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_piece_has_the_bytes_of_the_whole_and_another_key_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another seed, number or purpose changes what is drawn, and nothing else. A larger piece is cut without a seam."""
    whole = corrupt(SMALL, NUMBERS, name, 3, 0)
    assert (whole.dtype, whole.shape) == (np.uint8, SMALL.shape)
    monkeypatch.setattr(corrupting, "BATCH", 3)
    for piece in (NUMBERS[7:8], NUMBERS[[2, 5, 6, 23]], NUMBERS[::-1], NUMBERS[:0]):
        np.testing.assert_array_equal(corrupt(SMALL[piece], piece, name, 3, 0), whole[piece])
    for numbers, *key in ((NUMBERS[:3], 1), (NUMBERS[3:6], 0), (NUMBERS[:3], 0, "train")):
        other = corrupt(SMALL[:3], numbers, name, 3, *key)
        assert np.array_equal(other, whole[:3]) == (name in WITHOUT_DRAWS.split())


@pytest.mark.parametrize(("side", "size"), [(47, "small"), (48, "medium")])
def test_parameters_are_those_of_the_images_size(side: int, size: str) -> None:
    """Values are cut to whole numbers."""
    images, draws = (
        np.resize(SMALL, (2, side, side, 3)),
        Draws(NUMBERS[:2], 0, ("corruption", "snow", 4)),
    )
    expected = FUNCTIONS["snow"](images / 255, draws, **parameters()[size, "snow", 4])
    found = corrupt(images, NUMBERS[:2], "snow", 4, 0)
    np.testing.assert_array_equal(found, np.floor(np.clip(expected, 0, 1) * 255))


def test_each_name_of_the_benchmark_has_five_severities_with_its_functions_arguments() -> None:
    """Names: Hendrycks and Dietterich 2019, Fig. 1 and Appendix B, as the benchmark's files are called."""
    held_out = ["speckle_noise", "gaussian_blur", "spatter", "saturate"]
    assert list(FUNCTIONS) == [*corrupting.BENCHMARK, *held_out]
    assert len(corrupting.BENCHMARK) == 15
    table = parameters()
    assert table.keys() == {*itertools.product(("small", "medium"), FUNCTIONS, range(1, 6))}
    for size, (name, function) in itertools.product(("small", "medium"), FUNCTIONS.items()):
        takes = [
            p for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY
        ]
        rows = [table[size, name, severity] for severity in range(1, 6)]
        assert all(list(row) == [p.name for p in takes] for row in rows), name
        assert len({tuple(row.values()) for row in rows}) == 5, name
        for p in takes:  # a fraction where a whole number is asked for would change what is drawn
            kinds = {type(row[p.name]) for row in rows}
            assert kinds == {p.annotation} or (p.annotation is float and kinds <= {int, float}), (
                name,
                p.name,
            )
