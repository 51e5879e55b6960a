"""Sets whose labels can be guessed from something else: colour or corruption number k goes with class k, almost always.

Lee, Kim, Lee, Lee, Choo 2021 and Nam, Cha, Ahn, Lee, Shin 2020 (learning from failure). The shares of the latter's code
are kept exactly, class by class. Which images conflict is decided here by a fixed seed; there by the images' order.
"""

import numpy as np
from jaxtyping import Int64

from hypersphere import prng
from hypersphere.datasets.types import CLASS, TRAIN, Pieces, Split
from hypersphere.errors import HypersphereError

BIAS, CONFLICTING = "bias", "conflicting"
"""Name of the labels that hold the colour or corruption, and of the attribute: whether it conflicts with the class."""


def check_percent(percent: float, where: str) -> None:
    """Check that a share of conflicting images is one.

    Raises:
        HypersphereError: it is above 100.
    """
    if percent > 100:
        raise HypersphereError(f"{where}: conflicting_percent: must be at most 100 (given: {percent:g})")


def assign(
    labels: Int64[np.ndarray, "N"], classes: int, percent: float, seed: int, part: str
) -> Int64[np.ndarray, "N"]:
    """The bias of each image: its class, but of each class's images round(n · percent / 100) get another one.

    These others are spread over the other classes as evenly as can be. In the test split, percent is not used: each
    class has all biases equally often, up to one image.
    """
    bias = labels.copy()
    for label in range(classes):
        members = np.flatnonzero(labels == label)
        shuffled = members[prng.permutation(len(members), seed, "biased", part, "which", label)]
        order = prng.permutation(classes, seed, "biased", part, "bias", label)
        if part != TRAIN:
            bias[shuffled] = order[np.arange(len(members)) % classes]
            continue
        count = int(np.floor(len(members) * percent / 100 + 0.5))
        others = order[order != label]
        bias[shuffled[:count]] = others[np.arange(count) % len(others)]
    return bias


def biased(images: Pieces, labels: Int64[np.ndarray, "N"], bias: Int64[np.ndarray, "N"]) -> Split:
    """A split with both sorts of labels, and whether they conflict."""
    return Split(images, {CLASS: labels, BIAS: bias}, {CONFLICTING: labels != bias})
