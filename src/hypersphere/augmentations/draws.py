"""Random parameters of all views of an epoch, drawn at once.

The draws are one array of shape [images, views, parameters] per (seed, purpose, epoch), indexed by an image's original
number: order, batch size and device do not change which crop an image gets. Each transform has its own purpose, so that
adding one changes no other's draws.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.config.recipe import Views
from hypersphere.errors import HypersphereError

CROP_TRIES = 10
"""torchvision's RandomResizedCrop tries ten boxes before it falls back to the whole image."""
ASPECT = (3 / 4, 4 / 3)
JITTERS = ("brightness", "contrast", "saturation", "hue")
"""The jitters in their fixed order; fields of these names hold strengths in ``Views``, and draws in ``Draws``."""
VIEWS = 2


class Draws(NamedTuple):
    """Parameters of every view of every image; n images, v views."""

    box: Float[Tensor, "n v 4"]
    """Crop in whole pixels: top, left, height, width. With ``crop_padding`` it has the image's size, and may reach
    beyond the border."""
    flip: Bool[Tensor, "n v"]
    brightness: Float[Tensor, "n v"]
    contrast: Float[Tensor, "n v"]
    saturation: Float[Tensor, "n v"]
    hue: Float[Tensor, "n v"]
    """Three factors (1 changes nothing), and the hue's shift in turns (0 changes nothing)."""
    order: Int[Tensor, "n v 4"]
    """Order of the jitters: places in ``JITTERS``, first to last."""
    gray: Bool[Tensor, "n v"]
    sigma: Float[Tensor, "n v"]
    """The blur's standard deviation in pixels (0 changes nothing)."""
    solarize: Bool[Tensor, "n v"]

    def take(self, index: Tensor) -> "Draws":
        """The draws of the images ``index``."""
        return Draws(*(part[index] for part in self))


def draw(branches: Sequence[Views], images: int, size: int, seed: int, epoch: int) -> Draws:
    """Draw all views of one epoch on the CPU.

    Args:
        branches: settings of each view; one or two. A view's draws do not depend on the other view.
        images: number of images in the training set.
        size: height and width of an image in pixels.
        seed: the run's seed; the run's name never enters.
        epoch: from 0.
    """

    @cache
    def of_all_views(purpose: str, *more: int) -> Float[np.ndarray, "n v ..."]:
        return prng.uniform((images, VIEWS, *more), seed, purpose, epoch)

    def uniform(v: int, purpose: str, *more: int) -> Float[np.ndarray, "n ..."]:
        return of_all_views(purpose, *more)[:, v]

    by_view = [_of_view(partial(uniform, v), views, size) for v, views in enumerate(branches)]
    fields = {}
    for name in Draws._fields:
        of_views = [view[name] for view in by_view]
        fields[name] = torch.from_numpy(np.stack(of_views, axis=1))
    return Draws(**fields)


def _of_view(
    uniform: Callable[..., Float[np.ndarray, "n ..."]], views: Views, size: int
) -> dict[str, np.ndarray]:
    """The fields of ``Draws``, by name, for one view.

    Args:
        uniform: draws from [0, 1) for each image, by their purpose and their shape for an image.
        views: the view's settings.
        size: height and width of an image in pixels.
    """
    side = views.side or size
    if views.blur and views.blur_kernel // 2 >= side:
        limit = f"at most {2 * side - 1} for images of {side} pixels"
        raise HypersphereError(f"views: blur_kernel: must be {limit} (given: {views.blur_kernel})")

    def sometimes(
        purpose: str, low: float, high: float, probability: float, otherwise: float, coin: str = ""
    ) -> Float[np.ndarray, "n"]:
        """Uniform from ``low`` to ``high`` with this probability, else ``otherwise``.

        ``coin`` names the purpose of a draw that decides in place of this purpose's own.
        """
        value, toss = np.moveaxis(uniform(purpose, 2), -1, 0)
        if coin:
            toss = uniform(coin)
        drawn = low + value * (high - low)
        return np.where(toss < probability, drawn, otherwise).astype(np.float32)

    place = uniform("place", 2)
    if views.crop_padding is None:
        box = _boxes(uniform("crop", CROP_TRIES, 2), place, views.crop_scale, size)
    else:
        corner = np.floor(place * (2 * views.crop_padding + 1)) - views.crop_padding
        box = np.concatenate([corner, np.full_like(corner, size)], axis=-1).astype(np.float32)
    # Uniform in centre ± strength; and the centre, which changes nothing, where a jitter does not apply.
    coin = "jitter" if views.jitter_coins == "shared" else ""
    jitters = {}
    for name in JITTERS:
        strength = getattr(views, name)
        centre = 0.0 if name == "hue" else 1.0
        low = -strength if name == "hue" else max(0.0, centre - strength)
        high = centre + strength
        jitters[name] = sometimes(name, low, high, views.jitter_probability, centre, coin)
    if views.jitter_order == "random":
        # the order of four random numbers of each image: uniform over all 24
        order = uniform("jitter order", len(JITTERS)).argsort(axis=-1, kind="stable")
    else:
        order = np.tile(np.arange(len(JITTERS)), (len(place), 1))
    return {
        "box": box,
        "flip": uniform("flip") < views.flip,
        **jitters,
        "order": order,
        "gray": uniform("gray") < views.grayscale,
        "sigma": sometimes("blur", *views.blur_sigma, views.blur, otherwise=0.0),
        "solarize": uniform("solarize") < views.solarize,
    }


def _boxes(
    tries: Float[np.ndarray, "n t 2"],
    place: Float[np.ndarray, "n 2"],
    scale: tuple[float, float],
    size: int,
) -> Float[np.ndarray, "n 4"]:
    """Random resized crop: area uniform in ``scale``, log aspect uniform, the first try that fits."""
    smallest, largest = scale
    area = size * size * (smallest + tries[..., 0] * (largest - smallest))
    narrowest = np.log(ASPECT[0])
    widest = np.log(ASPECT[1])
    aspect = np.exp(narrowest + tries[..., 1] * (widest - narrowest))
    widths = np.rint(np.sqrt(area * aspect))
    heights = np.rint(np.sqrt(area / aspect))
    fits = (widths >= 1) & (widths <= size) & (heights >= 1) & (heights <= size)
    any_fits = fits.any(axis=-1)
    first = fits.argmax(axis=-1)[..., None]

    def of_first(lengths: Float[np.ndarray, "n t"]) -> Float[np.ndarray, "n"]:
        return np.where(any_fits, np.take_along_axis(lengths, first, -1)[..., 0], size)

    width = of_first(widths)
    height = of_first(heights)
    top = np.floor(place[..., 0] * (size - height + 1))
    left = np.floor(place[..., 1] * (size - width + 1))
    return np.stack([top, left, height, width], axis=-1).astype(np.float32)
