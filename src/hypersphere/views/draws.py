"""What is random about a view, drawn for a whole epoch at once.

The draws are one array of shape [images, views, parameters] per (seed, purpose, epoch), indexed by an image's original
number: neither order, nor batch size, nor device changes which crop an image gets. Each transform has its own purpose,
so that adding one shifts no other.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere import keyed
from hypersphere.recipe import Views

CROP_TRIES = 10
"""torchvision's RandomResizedCrop tries ten boxes before it falls back to the whole image."""
ASPECT = (3 / 4, 4 / 3)
VIEWS = 2


class Draws(NamedTuple):
    """Parameters of every view of every image; n images, v views."""

    box: Float[Tensor, "n v 4"]
    """Crop in whole pixels: top, left, height, width."""
    flip: Bool[Tensor, "n v"]
    brightness: Float[Tensor, "n v"]
    contrast: Float[Tensor, "n v"]
    saturation: Float[Tensor, "n v"]
    hue: Float[Tensor, "n v"]
    """Factors (1 leaves the image alone) and the hue shift in turns (0 does)."""
    gray: Bool[Tensor, "n v"]

    def take(self, index: Tensor) -> "Draws":
        """The draws of the images ``index``."""
        return Draws(*(part[index] for part in self))

    def to(self, device: torch.device) -> "Draws":
        """The same on another device."""
        return Draws(*(part.to(device) for part in self))


def draw(branches: Sequence[Views], images: int, size: int, seed: int, epoch: int) -> Draws:
    """Draw all views of one epoch on the CPU.

    Args:
        branches: how each view is made; one or two. A view's draws do not depend on the other's.
        images: how many images the training set has.
        size: height and width of an image in pixels.
        seed: the run's seed; the run's name never enters.
        epoch: from 0.
    """

    @cache
    def uniform(purpose: str, *more: int) -> Float[np.ndarray, "n v ..."]:
        return keyed.uniform((images, VIEWS, *more), seed, purpose, epoch)

    drawn = [
        _draw_one(views, size, lambda purpose, *more, v=v: uniform(purpose, *more)[:, v])
        for v, views in enumerate(branches)
    ]
    return Draws(*(torch.stack(part, dim=1) for part in zip(*drawn, strict=True)))


def _draw_one(views: Views, size: int, uniform: Callable[..., Float[np.ndarray, "n ..."]]) -> Draws:
    """The draws of one view, without the axis of views."""

    def factor(purpose: str, strength: float, centre: float) -> Tensor:
        """centre ± strength where the jitter applies, else the centre, which changes nothing."""
        value, coin = np.moveaxis(uniform(purpose, 2), -1, 0)
        low = max(0.0, centre - strength) if centre else -strength
        drawn = low + value * (centre + strength - low)
        return torch.from_numpy(np.where(coin < views.jitter_probability, drawn, centre).astype(np.float32))

    return Draws(
        box=torch.from_numpy(_boxes(uniform("crop", CROP_TRIES, 2), uniform("place", 2), views.crop_scale, size)),
        flip=torch.from_numpy(uniform("flip") < views.flip),
        brightness=factor("brightness", views.brightness, 1.0),
        contrast=factor("contrast", views.contrast, 1.0),
        saturation=factor("saturation", views.saturation, 1.0),
        hue=factor("hue", views.hue, 0.0),
        gray=torch.from_numpy(uniform("gray") < views.grayscale),
    )


def _boxes(
    tries: Float[np.ndarray, "n t 2"], place: Float[np.ndarray, "n 2"], scale: tuple[float, float], size: int
) -> Float[np.ndarray, "n 4"]:
    """Random resized crop: area uniform in ``scale``, log aspect uniform, first of the tries that fits."""
    area = size * size * (scale[0] + tries[..., 0] * (scale[1] - scale[0]))
    aspect = np.exp(np.log(ASPECT[0]) + tries[..., 1] * (np.log(ASPECT[1]) - np.log(ASPECT[0])))
    width, height = np.rint(np.sqrt(area * aspect)), np.rint(np.sqrt(area / aspect))
    fits = (width >= 1) & (width <= size) & (height >= 1) & (height <= size)
    first = fits.argmax(axis=-1)[..., None]
    found = fits.any(axis=-1)
    width = np.where(found, np.take_along_axis(width, first, -1)[..., 0], size)
    height = np.where(found, np.take_along_axis(height, first, -1)[..., 0], size)
    top = np.floor(place[..., 0] * (size - height + 1))
    left = np.floor(place[..., 1] * (size - width + 1))
    return np.stack([top, left, height, width], axis=-1).astype(np.float32)
