"""Corrupted CIFAR-10: images whose corruption nearly always tells their class (double metric paper, Table 4).

Lee et al. 2021, after Nam et al. 2020, whose published code has two lists of ten corruptions. Left open by the double
metric paper: which list (here the first), how severe (here 5 of 5, as in that code's example, which counts from
0), the number of training images (here all 50,000; Lee et al. keep some for validation), and which images conflict.
The corruptions are those of ``corrupting``, not the benchmark's bytes.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.arguments import NonNegativeInt, PositiveFloat
from hypersphere.datasets import composing
from hypersphere.datasets.corrupting import corrupt
from hypersphere.datasets.part import part
from hypersphere.datasets.types import Arrays

CORRUPTIONS = (
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "spatter",
    "elastic_transform",
    "jpeg_compression",
    "pixelate",
    "saturate",
)
"""The corruption of each class: the first list of Nam et al. The second is noise, blur and none."""
SEVERITY = 5


def corrupted_cifar(
    root: Path,
    download: bool = True,
    *,
    conflicting_percent: PositiveFloat,
    base: Literal["cifar10", "digits"] = "cifar10",
    side: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Labels: ``class`` and ``bias``, the corruption; attribute: ``conflicting``, whether they differ.

    ``side``, ``train_per_class`` and ``test_per_class`` are as in ``part``. All draws depend on ``seed``.

    Args:
        conflicting_percent: share of each class's training images, percent, with the corruption of another class. In
            the test split every class has all ten corruptions equally often.
        base: CIFAR-10, or scikit-learn's digits on a canvas with clutter.
    """
    plain = part(
        root,
        download,
        base=base,
        side=side,
        train_per_class=train_per_class,
        test_per_class=test_per_class,
        seed=seed,
    )

    def corrupted(
        images: UInt8[np.ndarray, "K H W 3"],
        numbers: Int64[np.ndarray, "K"],
        bias: Int64[np.ndarray, "N"],
        part: str,
    ) -> UInt8[np.ndarray, "K H W 3"]:
        shown = images.copy()
        for place, name in enumerate(CORRUPTIONS):
            chosen = np.flatnonzero(bias[numbers] == place)
            if len(chosen):
                shown[chosen] = corrupt(images[chosen], numbers[chosen], name, SEVERITY, seed, part)
        return shown

    how = "corrupted after Hendrycks and Dietterich 2019"
    return composing.biased(plain, CORRUPTIONS, conflicting_percent, seed, corrupted, how)
