"""The nineteen corruptions of Hendrycks and Dietterich 2019: noise, blur, weather, and what cameras and files do.

Written from the definitions (Sec. 4) and the code published with them: not the benchmark's bytes. Images are
[N, H, W, 3], 0 … 1; results may lie outside and are clipped. Two differ: the benchmark's frost is pieces of six
photographs, which are not ours to copy, so frost is drawn here; and the rims of drops are their outer pixels here,
where the benchmark asks an edge detector. Images are read between their pixels by sums and products of single pixels:
no matrix product or sum over a batch, whose rounding may change with its size.

The parameters of each severity, in data/severities.csv, are those of the published code, for CIFAR (small images) and
for Tiny-ImageNet (medium ones). Lengths are in pixels, but the elastic transform's in shares of the side.
"""

import io
import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from PIL import Image
from scipy import ndimage
from scipy.special import pdtr

from hypersphere.datasets.composing import Draws
from hypersphere.provenance import data_files

Images = Float[np.ndarray, "N H W 3"]
GREY = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue in brightness (ITU-R BT.601)."""
ICE = np.array([0.86, 0.93, 1.0])
"""Colour of the brightest frost."""
WATER = np.array([175, 238, 238]) / 255
MUD = np.array([63, 42, 20]) / 255
FARTHEST = 20
"""Distance to a drop's rim, pixels, from which on its height no longer changes."""
EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
"""Light from one side: what makes a drop look round."""
WIBBLE = 100.0
"""How far a plasma's first midpoints may be off; Hendrycks and Dietterich's code."""
BENCHMARK = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
)
"""The benchmark's fifteen corruptions."""
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
"""The benchmark's four for choosing hyperparameters."""
SEVERITIES = (1, 2, 3, 4, 5)
BATCH = 256
"""Images that are corrupted at once: some ten times their bytes are in memory."""
MEDIUM = 48
"""Side, pixels, from which on images get the parameters for 64 px; below, those for 32 px."""


def gaussian_noise(images: Images, draws: Draws, *, scale: float) -> Images:
    """Normal noise of standard deviation ``scale``."""
    return images + scale * draws.normal("noise", *images.shape[1:])


def shot_noise(images: Images, draws: Draws, *, photons: float) -> Images:
    """Counted light: each value v becomes a Poisson number of mean v · ``photons``, over ``photons``."""
    bytes_ = _bytes(images).ravel()
    uniform = draws.uniform("noise", *images.shape[1:]).ravel()
    counts = np.zeros(len(bytes_))
    possible = np.arange(photons + 12 * np.sqrt(photons) + 20)
    # pixels of one value have one distribution
    order = np.argsort(bytes_, kind="stable")
    values, starts = np.unique(bytes_[order], return_index=True)
    groups = np.split(order, starts[1:])
    for value, group in zip(values.astype(np.float64), groups, strict=False):
        distribution = pdtr(possible, value / 255 * photons)
        counts[group] = np.searchsorted(distribution, uniform[group], side="right")
    return counts.reshape(images.shape) / photons


def impulse_noise(images: Images, draws: Draws, *, share: float) -> Images:
    """Salt and pepper: a ``share`` of the values, each colour by itself, becomes 0 or 1."""
    shape = images.shape[1:]
    hit = draws.uniform("hit", *shape) < share
    salt = draws.uniform("salt", *shape) < 0.5
    return np.where(hit, salt.astype(np.float64), images)


def speckle_noise(images: Images, draws: Draws, *, scale: float) -> Images:
    """Normal noise in proportion to the value."""
    return images + images * scale * draws.normal("noise", *images.shape[1:])


def gaussian_blur(images: Images, draws: Draws, *, sigma: float) -> Images:
    """Gaussian of standard deviation ``sigma``, pixels."""
    return smoothed(images, sigma)


def glass_blur(images: Images, draws: Draws, *, sigma: float, reach: int, rounds: int) -> Images:
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


def defocus_blur(images: Images, draws: Draws, *, radius: float, alias: float) -> Images:
    """A disk of ``radius`` pixels, its rim softened by a Gaussian of ``alias`` pixels on 3 × 3; edges reflect."""
    reach = int(radius) + 1
    along = np.arange(-reach, reach + 1)
    squared = along**2
    inside = (squared[:, None] + squared <= radius**2).astype(np.float64)
    disk = inside / inside.sum()
    soft = np.exp(-(np.array([-1, 0, 1]) ** 2) / (2 * alias**2))
    soft /= soft.sum()
    kernel = ndimage.correlate(disk, np.outer(soft, soft), mode="constant")
    return np.asarray(ndimage.correlate(images, kernel[None, :, :, None], mode="mirror"))


def motion_blur(images: Images, draws: Draws, *, radius: float, sigma: float) -> Images:
    """Movement along a line, at most 45 degrees off a row."""
    return streaked(images, radius, sigma, draws.between("angle", -45, 45))


def zoom_blur(images: Images, draws: Draws, *, stop: float) -> Images:
    """The mean of the image and its centre enlarged by 1, 1.01, … to below ``stop`` (or to it, by rounding)."""
    factors = np.arange(1, stop, 0.01)
    total = images.copy()
    for factor in factors:
        total += magnified(images, factor)
    return np.asarray(total / (len(factors) + 1))


def brightness(images: Images, draws: Draws, *, more: float) -> Images:
    """``more`` is added to the value of hue, saturation and value, up to 1; black becomes grey."""
    value = images.max(axis=3, keepdims=True)
    raised = np.minimum(value + more, 1)
    is_lit = value > 0
    return np.where(is_lit, images * raised / np.where(is_lit, value, 1), raised)


def fog(images: Images, draws: Draws, *, density: float, decay: float) -> Images:
    """Clouds of ``density`` are added, and the image is darkened so that its brightest value could stay."""
    brightest = images.max(axis=(1, 2, 3), keepdims=True)
    clouds = density * plasma(images.shape[1], decay, draws)[..., None]
    return (images + clouds) * brightest / (brightest + density)


def frost(images: Images, draws: Draws, *, image: float, ice: float) -> Images:
    """The image times ``image`` plus frost times ``ice``.

    Frost is needles of ice: ridges of clouds, and streaks in two directions, brighter where there is more.
    """
    side = images.shape[1]
    clouds = plasma(side, 2.0, draws.named("ridges"))
    ridges = 1 - np.abs(2 * clouds - 1)
    cover = plasma(side, 2.5, draws.named("cover"))
    seeds = draws.uniform("seeds", 2, side, side)[..., None] ** 6
    angles = draws.between("angles", -90, 90, 2)
    needles: Any = 0
    for direction in (0, 1):
        streaks = streaked(seeds[:, direction], side / 8, side / 16, angles[:, direction])
        needles = needles + streaks[..., 0]
    bright = 0.25 + 0.35 * cover + 0.3 * ridges * ridges * ridges + 0.8 * needles
    frozen = np.clip(bright, 0, 1)[..., None] * ICE
    return image * images + ice * frozen


def snow(
    images: Images,
    draws: Draws,
    *,
    mean: float,
    scale: float,
    zoom: float,
    threshold: float,
    radius: float,
    sigma: float,
    image: float,
) -> Images:
    """Flakes: enlarged noise above a threshold, blown along a line; and a whitened image, mixed with the original."""
    noise = draws.normal("flakes", *images.shape[1:3])[..., None]
    flakes = magnified(mean + scale * noise, zoom)
    flakes = np.where(flakes < threshold, 0, flakes)
    flakes = np.floor(np.clip(flakes, 0, 1) * 255)
    wind = draws.between("wind", -135, -45)
    flakes = np.floor(streaked(flakes, radius, sigma, wind) + 0.5) / 255
    of_red, of_green, of_blue = GREY
    grey = images[..., :1] * of_red + images[..., 1:2] * of_green + images[..., 2:] * of_blue
    white = np.maximum(images, 1.5 * grey + 0.5)
    whitened = image * images + (1 - image) * white
    return whitened + flakes + np.rot90(flakes, 2, axes=(1, 2))


def spatter(
    images: Images,
    draws: Draws,
    *,
    mean: float,
    scale: float,
    sigma: float,
    threshold: float,
    strength: float,
    mud: bool,
) -> Images:
    """Drops of water, or of mud: smoothed noise above a threshold."""
    noise = draws.normal("drops", *images.shape[1:3])
    liquid = smoothed(mean + scale * noise, sigma)
    if mud:
        opaque = smoothed((liquid > threshold).astype(np.float64), strength)
        opaque = np.where(opaque < 0.8, 0, opaque)[..., None]
        return images * (1 - opaque) + MUD * opaque
    depths = np.floor(np.where(liquid < threshold, 0, liquid) * 255)
    shine = np.stack([depth * lit(depth > 0) for depth in depths])
    brightest = shine.max(axis=(1, 2), keepdims=True)
    share = strength * shine / np.where(brightest > 0, brightest, 1)
    return images + share[..., None] * WATER


def lit(wet: Bool[np.ndarray, "H W"]) -> Float[np.ndarray, "H W"]:
    """How much light each pixel of drops throws back, by its height: distance from the rim, levelled by rank."""
    rim = wet & ~ndimage.binary_erosion(wet, border_value=1)
    away = np.full(wet.shape, FARTHEST)
    if rim.any():
        away = np.minimum(ndimage.distance_transform_edt(~rim), FARTHEST)
    height = ndimage.uniform_filter(away.astype(np.float64), 3, mode="mirror")
    # Each height becomes the share of pixels that are not above it, 0 … 255; the least becomes 0.
    whole = np.floor(height + 0.5)
    _, rank, count = np.unique(whole, return_inverse=True, return_counts=True)
    not_above = np.cumsum(count)
    least = not_above[0]
    levels = np.rint((not_above - least) / max(height.size - least, 1) * 255)
    level = levels[rank].reshape(height.shape)
    light = ndimage.correlate(level, EMBOSS.astype(np.float64), mode="mirror")
    return np.asarray(ndimage.uniform_filter(np.clip(light, 0, 255), 3, mode="mirror"))


def contrast(images: Images, draws: Draws, *, factor: float) -> Images:
    """Differences from each colour's mean over the image, times ``factor``."""
    # whole numbers, whose sum has no order
    total = _bytes(images).sum(axis=(1, 2), keepdims=True, dtype=np.int64)
    height, width = images.shape[1:3]
    mean = total / (height * width * 255)
    return (images - mean) * factor + mean


def saturate(images: Images, draws: Draws, *, factor: float, more: float) -> Images:
    """The saturation of hue, saturation and value, times ``factor`` plus ``more``, up to 1; greys have a red hue."""
    value = images.max(axis=3, keepdims=True)
    lowest = images.min(axis=3, keepdims=True)
    coloured = value > lowest
    saturation = (value - lowest) / np.where(value > 0, value, 1)
    wanted = np.clip(saturation * factor + more, 0, 1)
    colours = value - (value - images) * wanted / np.where(coloured, saturation, 1)
    greys = value * (1 - wanted * np.array([0, 1, 1]))
    return np.where(coloured, colours, greys)


def jpeg_compression(images: Images, draws: Draws, *, quality: int) -> Images:
    """Stored as JPEG of this quality, and read again."""
    changed = np.empty_like(images)
    for place, image in enumerate(_bytes(images)):
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, "JPEG", quality=quality)
        changed[place] = np.asarray(Image.open(buffer)) / 255
    return changed


def pixelate(images: Images, draws: Draws, *, share: float) -> Images:
    """Shrunk to this share of the side, and enlarged again, by area averages."""
    height, width = images.shape[1:3]
    few_columns = max(int(width * share), 1)
    few_rows = max(int(height * share), 1)
    changed = np.empty_like(images)
    for place, image in enumerate(_bytes(images)):
        coarse = Image.fromarray(image).resize((few_columns, few_rows), Image.Resampling.BOX)
        whole = coarse.resize((width, height), Image.Resampling.BOX)
        changed[place] = np.asarray(whole) / 255
    return changed


def _bytes(images: Images) -> UInt8[np.ndarray, "N H W 3"]:
    """Values as they are stored, 0 … 255."""
    return np.rint(images * 255).astype(np.uint8)


def elastic_transform(
    images: Images, draws: Draws, *, reach: float, sigma: float, jitter: float
) -> Images:
    """A random affine map, then a smooth random field of shifts. All three numbers are shares of the side.

    Three corners of the middle third, lower right, upper right and upper left, move by up to ``jitter`` along each
    axis; the map that moves them so moves all pixels. Pixels would be shifted by up to ``reach`` if the field were not
    smoothed by ``sigma``.
    """
    side = images.shape[1]
    along = np.arange(side, dtype=np.float64)
    rows, columns = np.meshgrid(along, along, indexing="ij")
    arm = max(side // 3, 1)
    corner = side // 2 - arm
    moved = draws.between("corners", -(side * jitter), side * jitter, 3, 2)
    (lower_x, lower_y), (upper_x, upper_y), (left_x, left_y) = moved.transpose(1, 2, 0)[
        ..., None, None
    ]
    # Each step right or down in the image is a step (x, y) in the mapped one.
    right_x = 1 + (upper_x - left_x) / (2 * arm)
    right_y = (upper_y - left_y) / (2 * arm)
    down_x = (lower_x - upper_x) / (2 * arm)
    down_y = 1 + (lower_y - upper_y) / (2 * arm)
    x = columns - corner - left_x
    y = rows - corner - left_y
    determinant = right_x * down_y - right_y * down_x
    source_row = corner + (right_x * y - right_y * x) / determinant
    source_column = corner + (down_y * x - down_x * y) / determinant
    skewed = bilinear(images, source_row, source_column, repeat_edge=False)
    field = draws.between("field", -1, 1, 2, side, side)
    widths = (0, 0, side * sigma, side * sigma)
    blurred = ndimage.gaussian_filter(field, widths, mode="reflect", truncate=3.0)
    shift = side * reach * blurred
    return bilinear(skewed, rows + shift[:, 0], columns + shift[:, 1], repeat_edge=True)


def bilinear(
    images: Float[np.ndarray, "N H W C"],
    rows: Float[np.ndarray, "N h w"],
    columns: Float[np.ndarray, "N h w"],
    repeat_edge: bool,
) -> Float[np.ndarray, "N h w C"]:
    """Images at fractional places, reflected beyond their edges; ``repeat_edge``: the edge's pixels are seen twice."""
    n = np.arange(len(images))[:, None, None]
    height, width = images.shape[1:3]
    tops = np.floor(rows)
    lefts = np.floor(columns)
    down = (rows - tops)[..., None]
    right = (columns - lefts)[..., None]
    top = _fold(tops, height, repeat_edge)
    bottom = _fold(tops + 1, height, repeat_edge)
    left = _fold(lefts, width, repeat_edge)
    far = _fold(lefts + 1, width, repeat_edge)
    above = _mixed(images[n, top, left], images[n, top, far], right)
    below = _mixed(images[n, bottom, left], images[n, bottom, far], right)
    return _mixed(above, below, down)


def _mixed(
    one: Float[np.ndarray, "..."], other: Float[np.ndarray, "..."], share: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """One array and a share of the other."""
    result: np.ndarray = one * (1 - share) + other * share
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
    enlarged = np.arange(side) + (whole - side) // 2
    places = enlarged * (part - 1) / max(whole - 1, 1)
    low = np.minimum(places.astype(np.int64), part - 1)
    share = (places - low)[:, None]
    near = first + low
    far = first + np.minimum(low + 1, part - 1)
    rows = _mixed(images[:, near], images[:, far], share[..., None])
    return _mixed(rows[:, :, near], rows[:, :, far], share)


def streaked(
    images: Float[np.ndarray, "N H W C"],
    radius: float,
    sigma: float,
    degrees: Float[np.ndarray, "N"],
) -> Float[np.ndarray, "N H W C"]:
    """Each image averaged with its shifts along a line, with weights that fall on one side as a normal density.

    The motion blur of ImageMagick, which the benchmark calls: 2 ceil(radius) + 1 taps, whole-pixel shifts, and edges
    that go on as they are. At 0 degrees the line is a row, at 90 a column.
    """
    taps = 2 * math.ceil(radius) + 1
    weights = [math.exp(-(tap**2) / (2 * sigma**2)) for tap in range(taps)]
    total = sum(weights)
    height, width = images.shape[1:3]
    n = np.arange(len(images))[:, None, None]
    angles = [math.radians(value) for value in degrees]
    sines = [math.sin(angle) for angle in angles]
    cosines = [math.cos(angle) for angle in angles]

    def shifted(size: int, tap: int, slopes: list[float]) -> Int[np.ndarray, "N size"]:
        """Places of a row's or column's pixels after a tap's shift."""
        steps = [math.ceil(tap * slope - 0.5) for slope in slopes]
        places = np.arange(size) + np.array(steps, dtype=np.int64)[:, None]
        return np.clip(places, 0, size - 1)

    result = np.zeros_like(images)
    for tap, weight in enumerate(weights):
        rows = shifted(height, tap, sines)[:, :, None]
        columns = shifted(width, tap, cosines)[:, None, :]
        result += weight / total * images[n, rows, columns]
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
    step = size
    reach = WIBBLE
    while step >= 2:
        even = slice(0, None, step)
        odd = slice(step // 2, None, step)
        displaced = reach**2 * draw
        corners = heights[:, even, even]
        across = corners + np.roll(corners, -1, axis=2)
        down = corners + np.roll(corners, -1, axis=1)
        of_four = across + np.roll(across, -1, axis=1)
        middles = of_four / 4 + displaced[:, odd, odd]
        of_four = across + middles + np.roll(middles, 1, axis=1)
        heights[:, even, odd] = of_four / 4 + displaced[:, even, odd]
        of_four = down + middles + np.roll(middles, 1, axis=2)
        heights[:, odd, even] = of_four / 4 + displaced[:, odd, even]
        heights[:, odd, odd] = middles
        step //= 2
        reach /= decay
    heights -= heights.min(axis=(1, 2), keepdims=True)
    heights /= heights.max(axis=(1, 2), keepdims=True)
    return heights[:, :side, :side]


FUNCTIONS: dict[str, Callable[..., Images]] = {
    name: globals()[name] for name in (*BENCHMARK, *EXTRA)
}


@cache
def parameters() -> Mapping[tuple[str, str, int], dict[str, Any]]:
    """The arguments of a corruption's function by size of image (small, medium), name and severity."""
    arguments: dict[tuple[str, str, int], dict[str, Any]] = defaultdict(dict)
    for row in data_files.rows(data_files.FOLDER / "severities.csv"):
        for severity in SEVERITIES:
            key = row["size"], row["corruption"], severity
            arguments[key][row["parameter"]] = json.loads(row[str(severity)])
    return dict(arguments)


def corrupt(
    images: UInt8[np.ndarray, "N H H 3"],
    numbers: Int[np.ndarray, "N"],
    name: str,
    severity: int,
    seed: int,
    *purpose: str | int,
) -> UInt8[np.ndarray, "N H H 3"]:
    """Corrupted images; values are cut to whole numbers, not rounded, as the benchmark does.

    Severity is 1, the weakest, to 5. An image's bytes depend on its own number in its set alone, and on the key of all
    draws: ``seed`` and ``purpose``, for example the set's split.
    """
    size = "medium" if images.shape[1] >= MEDIUM else "small"
    chosen = parameters()[size, name, severity]
    corrupted = np.empty_like(images)
    for start in range(0, len(images), BATCH):
        part = slice(start, start + BATCH)
        draws = Draws(numbers[part], seed, ("corruption", *purpose, name, severity))
        values = FUNCTIONS[name](images[part] / 255, draws, **chosen)
        corrupted[part] = np.floor(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return corrupted
