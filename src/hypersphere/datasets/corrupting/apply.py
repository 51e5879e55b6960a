"""Corrupt a batch of images by name and severity, with the parameters of data/severities.csv.

Their values are those of the tables in the code that Hendrycks and Dietterich published with the benchmark, for CIFAR
(small images) and for Tiny-ImageNet (medium ones). Lengths are in pixels, but the elastic transform's in shares of the
side.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Int, UInt8

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions
from hypersphere.datasets.reading import published

BENCHMARK = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    *("snow", "frost", "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression"),
)
"""The benchmark's fifteen corruptions."""
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
"""The benchmark's four for choosing hyperparameters."""
FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(functions, name) for name in (*BENCHMARK, *EXTRA)}
SEVERITIES = (1, 2, 3, 4, 5)
BATCH = 256
"""Images that are corrupted at once: some ten times their bytes are in memory."""
MEDIUM = 48
"""Side, pixels, from which on images get the parameters for 64 px; below, those for 32 px."""


@cache
def parameters() -> dict[tuple[str, str, int], dict[str, Any]]:
    """The arguments of a corruption's function by size of image (small, medium), name and severity."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in published.rows(published.DATA / "severities.csv"):
        for severity in SEVERITIES:
            of = found.setdefault((row["size"], row["corruption"], severity), {})
            of[row["parameter"]] = json.loads(row[str(severity)])
    return found


def corrupt(
    images: UInt8[np.ndarray, "N H H 3"],
    name: str,
    severity: int,
    numbers: Int[np.ndarray, "N"],
    seed: int,
    *purpose: str | int,
) -> UInt8[np.ndarray, "N H H 3"]:
    """Corrupted images; values are cut to whole numbers, not rounded, as the benchmark does.

    Args:
        images: square ones; from 48 px on the parameters are those for 64 px, else those for 32 px.
        name: of the corruption.
        severity: 1, the weakest, to 5.
        numbers: the images' numbers in their set; an image's bytes depend on its own number alone.
        seed: of all draws.
        purpose: further parts of the key, for example the set's split.
    """
    chosen = parameters()["medium" if images.shape[1] >= MEDIUM else "small", name, severity]
    corrupted = np.empty_like(images)
    for start in range(0, len(images), BATCH):
        part = slice(start, start + BATCH)
        draws = Draws(numbers[part], seed, ("corruption", *purpose, name, severity))
        values = FUNCTIONS[name](images[part] / 255, draws, **chosen)
        corrupted[part] = np.floor(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return corrupted
