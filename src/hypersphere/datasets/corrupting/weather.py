"""Weather. Images are [N, H, W, 3], 0 … 1; results may lie outside and are clipped.

Definitions: Hendrycks and Dietterich 2019, Sec. 4, and the code published with it. Two differ: the benchmark's frost
is pieces of six photographs, which are not ours to copy, so frost is drawn here; and the rims of drops are their outer
pixels here, where the benchmark asks an edge detector.
"""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from hypersphere.datasets.composing.draws import Draws
from hypersphere.datasets.corrupting.sampling import magnified, plasma, smoothed, streaked

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


def brightness(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, more: float) -> Float[np.ndarray, "N H W 3"]:
    """``more`` is added to the value of hue, saturation and value, up to 1; black becomes grey."""
    value = images.max(axis=3, keepdims=True)
    raised = np.minimum(value + more, 1)
    return np.where(value > 0, images * raised / np.where(value > 0, value, 1), raised)


def fog(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, density: float, decay: float
) -> Float[np.ndarray, "N H W 3"]:
    """Clouds of ``density`` are added, and the image is darkened so that its brightest value could stay."""
    brightest = images.max(axis=(1, 2, 3), keepdims=True)
    clouds = density * plasma(images.shape[1], decay, draws)[..., None]
    return (images + clouds) * brightest / (brightest + density)


def frost(
    images: Float[np.ndarray, "N H W 3"], draws: Draws, *, image: float, ice: float
) -> Float[np.ndarray, "N H W 3"]:
    """The image times ``image`` plus frost times ``ice``."""
    return image * images + ice * _frosted(images.shape[1], draws)


def _frosted(side: int, draws: Draws) -> Float[np.ndarray, "N side side 3"]:
    """Needles of ice on a cold pane: ridges of clouds, and streaks in two directions, brighter where there is more."""
    ridges = 1 - np.abs(2 * plasma(side, 2.0, draws.named("ridges")) - 1)
    cover = plasma(side, 2.5, draws.named("cover"))
    seeds = draws.uniform("seeds", 2, side, side)[..., None] ** 6
    angles = draws.between("angles", -90, 90, 2)
    needles = sum(streaked(seeds[:, i], side / 8, side / 16, angles[:, i])[..., 0] for i in (0, 1))
    bright = np.clip(0.25 + 0.35 * cover + 0.3 * ridges * ridges * ridges + 0.8 * np.asarray(needles), 0, 1)
    return bright[..., None] * ICE


def snow(
    images: Float[np.ndarray, "N H W 3"],
    draws: Draws,
    *,
    mean: float,
    scale: float,
    zoom: float,
    threshold: float,
    radius: float,
    sigma: float,
    image: float,
) -> Float[np.ndarray, "N H W 3"]:
    """Flakes: enlarged noise above a threshold, blown along a line; and a whitened image, mixed with the original."""
    height, width = images.shape[1:3]
    flakes = magnified(mean + scale * draws.normal("flakes", height, width)[..., None], zoom)
    flakes = np.floor(np.clip(np.where(flakes < threshold, 0, flakes), 0, 1) * 255)
    flakes = np.floor(streaked(flakes, radius, sigma, draws.between("wind", -135, -45)) + 0.5) / 255
    grey = images[..., :1] * GREY[0] + images[..., 1:2] * GREY[1] + images[..., 2:] * GREY[2]
    white = np.maximum(images, 1.5 * grey + 0.5)
    return image * images + (1 - image) * white + flakes + np.rot90(flakes, 2, axes=(1, 2))


def spatter(
    images: Float[np.ndarray, "N H W 3"],
    draws: Draws,
    *,
    mean: float,
    scale: float,
    sigma: float,
    threshold: float,
    strength: float,
    mud: bool,
) -> Float[np.ndarray, "N H W 3"]:
    """Drops of water, or of mud: smoothed noise above a threshold."""
    liquid = smoothed(mean + scale * draws.normal("drops", *images.shape[1:3]), sigma)
    if mud:
        opaque = smoothed((liquid > threshold).astype(np.float64), strength)
        opaque = np.where(opaque < 0.8, 0, opaque)[..., None]
        return images * (1 - opaque) + MUD * opaque
    layers = np.floor(np.where(liquid < threshold, 0, liquid) * 255)
    shine = np.stack([layer * _relief(layer > 0) for layer in layers]) if len(layers) else layers
    brightest = shine.max(axis=(1, 2), keepdims=True)
    return images + (strength * shine / np.where(brightest > 0, brightest, 1))[..., None] * WATER


def _relief(wet: np.ndarray) -> Float[np.ndarray, "H W"]:
    """How brightly each pixel of the drops shines, 0 … 255: their height, levelled by rank, lit from one side."""
    rim = wet & ~ndimage.binary_erosion(wet, border_value=1)
    away = ndimage.distance_transform_edt(~rim) if rim.any() else np.full(wet.shape, FARTHEST)
    height = np.floor(ndimage.uniform_filter(np.minimum(away, FARTHEST).astype(np.float64), 3, mode="mirror") + 0.5)
    lit = ndimage.correlate(_equalised(height), EMBOSS.astype(np.float64), mode="mirror")
    return np.asarray(ndimage.uniform_filter(np.clip(lit, 0, 255), 3, mode="mirror"))


def _equalised(values: Float[np.ndarray, "H W"]) -> Float[np.ndarray, "H W"]:
    """Each whole value replaced by the share of pixels that are not above it, 0 … 255; the least becomes 0."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(count)
    span = max(values.size - below[0], 1)
    return np.rint((below - below[0]) / span * 255)[place].reshape(values.shape)
