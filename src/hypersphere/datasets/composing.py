"""What composed sets share: random numbers for each image, and a bias by which labels can be guessed, almost always.

The bias is that of Lee, Kim, Lee, Lee, Choo 2021 and Nam, Cha, Ahn, Lee, Shin 2020 (learning from failure): colour or
corruption number k goes with class k. The shares of the latter's code are kept exactly, class by class. Which images
conflict is decided here by a fixed seed; there by the images' order.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int, Int64, UInt8
from scipy.special import ndtri

from hypersphere import prng
from hypersphere.datasets.types import CLASS, CONFLICTING, TRAIN, Arrays, Split, changed
from hypersphere.errors import HypersphereError
from hypersphere.rounding import settle

HALF_STEP = 2.0**-54
"""Half of the distance between two uniform draws: it keeps them off 0, whose normal quantile is infinite."""
BIAS = "bias"
"""Name of the labels that hold the colour or corruption."""


@dataclass(frozen=True)
class Draws:
    """Draws of N images; row i depends on the seed, the purpose and ``numbers[i]`` alone.

    So any few images of a set have the bytes that they have in the whole set.
    """

    numbers: Int[np.ndarray, "N"]
    seed: int
    purpose: tuple[str | int, ...]

    def uniform(self, what: str, *shape: int) -> Float[np.ndarray, "N ..."]:
        """Independent draws from [0, 1), of this shape for each image."""
        rows = [
            prng.uniform(shape, self.seed, *self.purpose, what, int(number))
            for number in self.numbers
        ]
        return np.stack(rows) if rows else np.zeros((0, *shape))

    def between(
        self, what: str, low: float, high: float, *shape: int
    ) -> Float[np.ndarray, "N ..."]:
        """Independent draws from [low, high)."""
        return low + (high - low) * self.uniform(what, *shape)

    def normal(self, what: str, *shape: int) -> Float[np.ndarray, "N ..."]:
        """Independent standard normal draws, by the inverse of their distribution function."""
        return np.asarray(ndtri(self.uniform(what, *shape) + HALF_STEP))

    def below(self, what: str, high: int, *shape: int) -> Int[np.ndarray, "N ..."]:
        """Independent whole numbers from 0 to below ``high``."""
        return (self.uniform(what, *shape) * high).astype(np.int64)

    def named(self, what: str) -> "Draws":
        """The same images with a longer purpose, for a helper that names its own draws."""
        return Draws(self.numbers, self.seed, (*self.purpose, what))


def assign(
    labels: Int64[np.ndarray, "N"], classes: int, percent: float, seed: int, part: str
) -> Int64[np.ndarray, "N"]:
    """The bias of each image: its class, but of each class's images round(n · percent / 100) get another one.

    These others are spread over the other classes as evenly as can be. In the test split, percent is not used: each
    class has all biases equally often, up to one image.
    """
    if percent > 100:
        raise HypersphereError(f"conflicting_percent: must be at most 100 (given: {percent:g})")
    bias = labels.copy()
    for label in range(classes):
        members = np.flatnonzero(labels == label)
        shuffled = members[prng.permutation(len(members), seed, "biased", part, "which", label)]
        order = prng.permutation(classes, seed, "biased", part, "bias", label)
        if part != TRAIN:
            bias[shuffled] = order[np.arange(len(members)) % classes]
            continue
        count = math.floor(settle(len(members) * percent / 100 + 0.5))
        others = order[order != label]
        bias[shuffled[:count]] = others[np.arange(count) % len(others)]
    return bias


def biased(
    plain: Arrays,
    biases: tuple[str, ...],
    percent: float,
    seed: int,
    showing: Callable[..., UInt8[np.ndarray, "K H W 3"]],
    how: str,
) -> Arrays:
    """A set with labels ``class`` and ``bias``, and the attribute ``conflicting``: whether they differ.

    There is one bias for each class. ``showing`` maps images, their numbers, ``bias`` of the whole split and ``part``,
    its name, to images that show it; ``how`` says after whom, for the source's description.
    """
    splits = {}
    for name, split in plain.splits.items():
        labels = split.labels[CLASS]
        bias = assign(labels, len(biases), percent, seed, name)
        images = changed(split.images, partial(showing, bias=bias, part=name))
        splits[name] = Split(images, {CLASS: labels, BIAS: bias}, {CONFLICTING: labels != bias})
    about = {
        **plain.about,
        "source": f"{plain.about['source']}; {how}, {percent:g} % of the training images against their class",
        "citation": f"{plain.about['citation']}; J. Lee, E. Kim, J. Lee, J. Lee, J. Choo, Learning debiased "
        "representation via disentangled feature augmentation, NeurIPS 2021",
    }
    return Arrays(splits, {CLASS: plain.class_names[CLASS], BIAS: biases}, about)
