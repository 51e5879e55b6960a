"""What of a prepared dataset a run is trained on; N images of h = w pixels."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int, UInt8

from hypersphere.datasets.types import CLASS, TRAIN

if TYPE_CHECKING:  # how a dataset is prepared is no code of a run, which depends on its bytes
    from hypersphere.datasets.store import Prepared


class Images(NamedTuple):
    """What is trained on; N images."""

    pixels: UInt8[np.ndarray, "N h w 3"]
    labels: Int[np.ndarray, "N"]
    """For methods that look at them."""
    numbers: Int[np.ndarray, "N"]
    """The images' original numbers, by which their views are drawn: an image gets the same views in a part of a dataset
    as in the whole."""


def training_images(data: "Prepared") -> Images:
    """The training split with its main labels.

    Raises:
        HypersphereError: the dataset has no such split, or the split no such labels.
    """
    split = data.split(TRAIN)
    return Images(split.images, split.labels[CLASS], split.index)
