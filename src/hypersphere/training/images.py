"""The part of a prepared dataset that a run is trained on; N images of h = w pixels."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int, UInt8

from hypersphere.datasets.types import CLASS, TRAIN

if TYPE_CHECKING:  # a run depends on a dataset's bytes, and not on the code that prepared it
    from hypersphere.datasets.store import Prepared


class Images(NamedTuple):
    """Training images."""

    pixels: UInt8[np.ndarray, "N h w 3"]
    labels: Int[np.ndarray, "N"]
    """For objectives and methods that use labels."""
    numbers: Int[np.ndarray, "N"]
    """The images' original numbers, which key their views: an image has the same views in a part of a dataset as in the
    whole."""


def training_images(data: "Prepared", labels: str = CLASS) -> Images:
    """The training split with its labels of this name.

    Raises:
        HypersphereError: the dataset has no training split, or the split has no such labels.
    """
    split = data.split(TRAIN)
    return Images(split.images, split.labels[labels], split.index)
