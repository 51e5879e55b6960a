"""Colored MNIST: digits whose colour nearly always tells their class (double metric paper, Table 4).

Lee et al. 2021, after Nam et al. 2020, whose published code has ten mean colours and five strengths of noise. Left open
by the double metric paper: the strength (here 4, as in that code's example), the number of training images (here all
60,000; Lee et al. keep some for validation), and which images conflict.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float, Int64, UInt8

from hypersphere.arguments import NonNegativeInt, PositiveFloat
from hypersphere.datasets import composing
from hypersphere.datasets.composing import Draws
from hypersphere.datasets.part import part
from hypersphere.datasets.types import Arrays

# Red, green and blue, 0 … 1: the ten mean colours in the published code, in the order of its classes.
COLOURS = np.array(
    [
        [0.9837, 0.3125, 0.1686],
        [0.9905, 0.9156, 0.3515],
        [0.6730, 0.4611, 0.5798],
        [0.7833, 0.8316, 0.6013],
        [0.0880, 0.7780, 0.9818],
        [0.3214, 0.9611, 0.4464],
        [0.0246, 0.2357, 0.7587],
        [0.5552, 0.1016, 0.7618],
        [0.2077, 0.3929, 0.0187],
        [0.8337, 0.2024, 0.2669],
    ]
)
NAMES = ("orange", "yellow", "mauve", "sage", "sky", "green", "blue", "purple", "olive", "red")
NOISE = 0.005
"""Standard deviation of each colour channel over images: strength 4 of the published code's five, of which 5 is the
weakest."""


def colored_mnist(
    root: Path,
    download: bool = True,
    *,
    conflicting_percent: PositiveFloat,
    base: Literal["mnist", "digits"] = "mnist",
    side: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Coloured ink on black. Labels: ``class``, the digit, and ``bias``, the colour; attribute: ``conflicting``.

    ``side``, ``train_per_class`` and ``test_per_class`` are as in ``part``. All draws depend on ``seed``.

    Args:
        conflicting_percent: share of each class's training images, percent, whose colour is another class's. In the
            test split every class has all colours equally often.
        base: MNIST, or scikit-learn's digits on a canvas with clutter.
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

    def coloured(
        images: UInt8[np.ndarray, "K H W 3"],
        numbers: Int64[np.ndarray, "K"],
        bias: Int64[np.ndarray, "N"],
        part: str,
    ) -> UInt8[np.ndarray, "K H W 3"]:
        draws = Draws(numbers, seed, ("colored_mnist", part)).normal("colour", 3)
        colour: Float[np.ndarray, "K 3"] = np.clip(COLOURS[bias[numbers]] + NOISE * draws, 0, 1)
        # The images are grey, so that each channel holds the ink. Fractions are cut off, as in the published code.
        return (images * colour[:, None, None]).astype(np.uint8)

    return composing.biased(
        plain, NAMES, conflicting_percent, seed, coloured, "coloured as by Nam et al. 2020"
    )
