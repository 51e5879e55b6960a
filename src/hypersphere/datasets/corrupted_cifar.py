"""Corrupted CIFAR-10: images whose corruption nearly always tells their class (double metric paper, Table 4).

Lee et al. 2021, after Nam et al. 2020, whose published code has two lists of ten corruptions. Left open by the double
metric paper: which list (here the first, ``0``), how severe (here 5 of 5, as in that code's example, which counts from
0), the number of training images (here all 50,000; Lee et al. keep some for validation), and which images conflict.
The corruptions are those of ``corrupting``, not the benchmark's bytes.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.arguments import NonNegativeInt, PositiveFloat
from hypersphere.datasets import composing
from hypersphere.datasets.corrupting.apply import corrupt
from hypersphere.datasets.part import part
from hypersphere.datasets.types import Arrays

ORIGINAL = "original"
"""No corruption."""
TYPES = {
    0: (
        *("snow", "frost", "fog", "brightness", "contrast"),
        *("spatter", "elastic_transform", "jpeg_compression", "pixelate", "saturate"),
    ),
    1: (
        *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
        *("gaussian_blur", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur", ORIGINAL),
    ),
}
"""The corruption of each class, by the names that Nam et al. give their two lists."""


def corrupted_cifar(
    root: Path,
    download: bool = True,
    *,
    conflicting_percent: PositiveFloat,
    base: Literal["cifar10", "digits"] = "cifar10",
    type: Literal[0, 1] = 0,
    severity: Literal[1, 2, 3, 4, 5] = 5,
    side: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Labels: ``class`` and ``bias``, the corruption; attribute: ``conflicting``, whether they differ.

    Args:
        conflicting_percent: share of each class's training images, percent, with the corruption of another class. In
            the test split every class has all ten corruptions equally often.
        base: CIFAR-10, or scikit-learn's digits on a canvas with clutter.
        type: 0: weather and digital corruptions; 1: noise, blur and none.
        severity: from 1, the weakest, to 5.
        side: of an image, pixels, by area averages; 0: 32 from CIFAR-10, 12 from scikit-learn.
        train_per_class: training images per class; 0: all of CIFAR-10, or 240 from scikit-learn.
        test_per_class: test images per class; 0: all of CIFAR-10, or 100 from scikit-learn.
        seed: of all draws.
    """
    corruptions = TYPES[type]
    plain = part(
        root, download, base=base, side=side, train_per_class=train_per_class, test_per_class=test_per_class, seed=seed
    )

    def corrupted(
        images: UInt8[np.ndarray, "K H W 3"], numbers: Int64[np.ndarray, "K"], bias: Int64[np.ndarray, "N"], part: str
    ) -> UInt8[np.ndarray, "K H W 3"]:
        made = images.copy()
        for place, name in enumerate(corruptions):
            chosen = np.flatnonzero(bias[numbers] == place)
            if name != ORIGINAL and len(chosen):
                made[chosen] = corrupt(images[chosen], name, severity, numbers[chosen], seed, part)
        return made

    how = "corrupted after Hendrycks and Dietterich 2019"
    return composing.biased(plain, corruptions, conflicting_percent, seed, corrupted, how)
