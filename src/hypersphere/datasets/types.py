"""What every source of images returns."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, UInt8


class Arrays(NamedTuple):
    """A whole dataset in memory, as its authors divided it.

    N images of height H and width W, RGB, 0 … 255; labels 0 … len(class_names)-1. ``about`` holds at least ``source``,
    ``licence`` and ``citation``, in plain words.
    """

    train_images: UInt8[np.ndarray, "N H W 3"]
    train_labels: Int64[np.ndarray, "N"]
    test_images: UInt8[np.ndarray, "M H W 3"]
    test_labels: Int64[np.ndarray, "M"]
    class_names: tuple[str, ...]
    about: dict[str, str]
