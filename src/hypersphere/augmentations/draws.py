"""Random parameters of all views of an epoch, drawn at once.

The draws are one array of shape [images, views, parameters] per (seed, purpose, epoch), indexed by an image's original
number: order, batch size and device do not change which crop an image gets. Each transform has its own purpose, so that
a new transform changes no draws of the others.
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
    """The hue's shift in turns (0 changes nothing). The three before are factors (1 changes nothing)."""
    order: Int[Tensor, "n v 4"]
    """Order of the jitters: places in ``JITTERS``, first to last."""
    gray: Bool[Tensor, "n v"]
    sigma: Float[Tensor, "n v"]
    """The blur's standard deviation in pixels (0 changes nothing)."""
    solarize: Bool[Tensor, "n v"]

    def take(self, index: Tensor) -> "Draws":
        """The draws of the images ``index``."""
        parts = [part[index] for part in self]
        return Draws(*parts)


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
        shape = (images, VIEWS, *more)
        return prng.uniform(shape, seed, purpose, epoch)

    def uniform(v: int, purpose: str, *more: int) -> Float[np.ndarray, "n ..."]:
        of_views = of_all_views(purpose, *more)
        return of_views[:, v]

    by_view = []
    for v, views in enumerate(branches):
        of_this_view = partial(uniform, v)
        by_view.append(_of_view(of_this_view, views, size))
    fields = {}
    for name in Draws._fields:
        of_views = [view[name] for view in by_view]
        stacked = np.stack(of_views, axis=1)  # n, v, …
        fields[name] = torch.from_numpy(stacked)
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
    widest = 2 * side - 1
    if views.blur and views.blur_kernel > widest:
        limit = f"at most {widest} for images of {side} pixels"
        raise HypersphereError(f"views: blur_kernel: must be {limit} (given: {views.blur_kernel})")

    def sometimes(
        purpose: str, low: float, high: float, probability: float, otherwise: float, coin: str = ""
    ) -> Float[np.ndarray, "n"]:
        """Draw uniformly from ``low`` to ``high`` with this probability, else return ``otherwise``.

        ``coin``: the draw of this other purpose decides which, and not the draw of ``purpose``.
        """
        value, toss = uniform(purpose, 2).T
        if coin:
            toss = uniform(coin)
        drawn = _between(low, high, value)
        applies = toss < probability
        values = np.where(applies, drawn, otherwise)
        return values.astype(np.float32)

    place = uniform("place", 2)
    if views.crop_padding is None:
        tries = uniform("crop", CROP_TRIES, 2)
        box = _boxes(tries, place, views.crop_scale, size)
    else:
        padding = views.crop_padding
        count = 2 * padding + 1  # places for the crop's corner along each axis
        corner = _whole(count, place) - padding
        lengths = np.full_like(corner, size)
        box = np.concatenate([corner, lengths], axis=-1)
    # A jitter is uniform in centre ± strength. If it does not apply it is the centre, which changes nothing.
    coin = "jitter" if views.jitter_coins == "shared" else ""
    jitters = {}
    for name in JITTERS:
        strength = getattr(views, name)
        if name == "hue":  # a shift
            centre = 0.0
            low = -strength
        else:  # a factor, which is not negative
            centre = 1.0
            low = max(0.0, centre - strength)
        high = centre + strength
        jitters[name] = sometimes(name, low, high, views.jitter_probability, centre, coin)
    if views.jitter_order == "random":
        # sorting four random numbers of each image makes all 24 orders equally likely
        keys = uniform("jitter order", len(JITTERS))
        order = keys.argsort(axis=-1, kind="stable")
    else:
        fixed = np.arange(len(JITTERS))
        order = np.tile(fixed, (len(place), 1))
    return {
        "box": box.astype(np.float32),
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
    """The boxes of random resized crops: the first try that fits, with area and log aspect uniform."""
    of_area, of_aspect = np.moveaxis(tries, -1, 0)  # each n, t
    smallest, largest = scale
    share = _between(smallest, largest, of_area)
    area = size * size * share
    narrowest = np.log(ASPECT[0])
    widest = np.log(ASPECT[1])
    log_aspect = _between(narrowest, widest, of_aspect)
    aspect = np.exp(log_aspect)
    widths = np.rint(np.sqrt(area * aspect))
    heights = np.rint(np.sqrt(area / aspect))
    width_fits = (widths >= 1) & (widths <= size)
    height_fits = (heights >= 1) & (heights <= size)
    fits = width_fits & height_fits
    any_fits = fits.any(axis=-1)
    first = fits.argmax(axis=-1, keepdims=True)

    def of_first(lengths: Float[np.ndarray, "n t"]) -> Float[np.ndarray, "n"]:
        length = np.take_along_axis(lengths, first, axis=-1)  # n, 1
        return np.where(any_fits, length[:, 0], size)

    width = of_first(widths)
    height = of_first(heights)
    of_top, of_left = place.T
    top = _whole(size - height + 1, of_top)
    left = _whole(size - width + 1, of_left)
    return np.stack([top, left, height, width], axis=-1)


def _between(low: float, high: float, draws: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Uniform numbers from ``low`` to ``high``, by draws from [0, 1)."""
    return low + draws * (high - low)


def _whole(
    count: int | Float[np.ndarray, "..."], draws: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """Whole numbers from 0 to ``count - 1``, all equally likely, by draws from [0, 1)."""
    return np.floor(draws * count)
