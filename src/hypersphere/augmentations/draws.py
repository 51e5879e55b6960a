"""Random parameters of all views of an epoch, drawn at once.

The draws are one array of shape [images, views, parameters] per (seed, purpose, epoch), indexed by an image's original
number: order, batch size and device do not change which crop an image gets. Each transform has its own purpose, so that
adding one changes no other's draws.
"""

from collections.abc import Sequence
from functools import cache
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
"""In the fixed order. Fields of these names hold the strengths in ``Views`` and the draws in ``Draws``."""
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
    def uniform(purpose: str, *more: int) -> Float[np.ndarray, "n v ..."]:
        return prng.uniform((images, VIEWS, *more), seed, purpose, epoch)

    def between(
        v: int,
        purpose: str,
        low: float,
        high: float,
        probability: float,
        otherwise: float,
        coin: str = "",
    ) -> Float[np.ndarray, "n"]:
        """Of view ``v``, uniform from ``low`` to ``high`` with this probability, else ``otherwise``.

        ``coin`` names the purpose of a draw that decides in place of this purpose's own.
        """
        value, own = np.moveaxis(uniform(purpose, 2)[:, v], -1, 0)
        applies = (uniform(coin)[:, v] if coin else own) < probability
        return np.where(applies, low + value * (high - low), otherwise).astype(np.float32)

    drawn: dict[str, list[np.ndarray]] = {name: [] for name in Draws._fields}
    for v, views in enumerate(branches):
        side = views.side or size
        if views.blur and views.blur_kernel // 2 >= side:
            limit = f"at most {2 * side - 1} for images of {side} pixels"
            raise HypersphereError(
                f"views: blur_kernel: must be {limit} (given: {views.blur_kernel})"
            )
        place = uniform("place", 2)[:, v]
        if views.crop_padding is None:
            box = _boxes(uniform("crop", CROP_TRIES, 2)[:, v], place, views.crop_scale, size)
        else:
            corner = np.floor(place * (2 * views.crop_padding + 1)) - views.crop_padding
            box = np.concatenate([corner, np.full_like(corner, size)], axis=-1).astype(np.float32)
        drawn["box"].append(box)
        # Uniform in centre ± strength; and the centre, which changes nothing, where a jitter does not apply.
        coin = "jitter" if views.jitter_coins == "shared" else ""
        for name in JITTERS:
            strength, centre = getattr(views, name), 0.0 if name == "hue" else 1.0
            low = max(0.0, centre - strength) if centre else -strength
            drawn[name].append(
                between(v, name, low, centre + strength, views.jitter_probability, centre, coin)
            )
        order = np.tile(np.arange(len(JITTERS)), (images, 1))
        # that of four random numbers of each image: uniform over all 24 orders
        if views.jitter_order == "random":
            order = uniform("jitter order", len(JITTERS))[:, v].argsort(axis=-1, kind="stable")
        drawn["order"].append(order)
        for name, share in (
            ("flip", views.flip),
            ("gray", views.grayscale),
            ("solarize", views.solarize),
        ):
            drawn[name].append(uniform(name)[:, v] < share)
        drawn["sigma"].append(between(v, "blur", *views.blur_sigma, views.blur, otherwise=0.0))
    return Draws(
        **{name: torch.from_numpy(np.stack(of_views, axis=1)) for name, of_views in drawn.items()}
    )


def _boxes(
    tries: Float[np.ndarray, "n t 2"],
    place: Float[np.ndarray, "n 2"],
    scale: tuple[float, float],
    size: int,
) -> Float[np.ndarray, "n 4"]:
    """Random resized crop: area uniform in ``scale``, log aspect uniform, the first try that fits."""
    area = size * size * (scale[0] + tries[..., 0] * (scale[1] - scale[0]))
    aspect = np.exp(np.log(ASPECT[0]) + tries[..., 1] * (np.log(ASPECT[1]) - np.log(ASPECT[0])))
    width, height = np.rint(np.sqrt(area * aspect)), np.rint(np.sqrt(area / aspect))
    fits = (width >= 1) & (width <= size) & (height >= 1) & (height <= size)
    first = fits.argmax(axis=-1)[..., None]
    any_fits = fits.any(axis=-1)
    width = np.where(any_fits, np.take_along_axis(width, first, -1)[..., 0], size)
    height = np.where(any_fits, np.take_along_axis(height, first, -1)[..., 0], size)
    top = np.floor(place[..., 0] * (size - height + 1))
    left = np.floor(place[..., 1] * (size - width + 1))
    return np.stack([top, left, height, width], axis=-1).astype(np.float32)
