"""Corrupt a batch of images by name and severity."""

import numpy as np
from jaxtyping import Int, UInt8

from hypersphere.config.validation import not_one_of
from hypersphere.datasets.composing.draws import Draws
from hypersphere.datasets.corrupting.severities import FUNCTIONS, PARAMETERS, SEVERITIES, Size
from hypersphere.errors import HypersphereError

BATCH = 256
"""Images that are corrupted at once: some ten times their bytes are in memory."""
MEDIUM = 48
"""Side, pixels, from which on images get the parameters for 64 px; below, those for 32 px."""


def check(name: str, severity: int, where: str) -> None:
    """Check a corruption's name and severity.

    Raises:
        HypersphereError: there is no such corruption (the nearest name is given) or severity; ``where`` comes first.
    """
    if name not in FUNCTIONS:
        raise HypersphereError(f"{where}: {not_one_of(name, FUNCTIONS)}")
    if severity not in SEVERITIES:
        raise HypersphereError(f"{where}: severity must be from 1 to 5 (given: {severity})")


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

    Raises:
        HypersphereError: no such corruption or severity.
    """
    check(name, severity, "corruption")
    size: Size = "medium" if images.shape[1] >= MEDIUM else "small"
    parameters = PARAMETERS[size][name][severity - 1]
    corrupted = np.empty_like(images)
    for start in range(0, len(images), BATCH):
        part = slice(start, start + BATCH)
        draws = Draws(numbers[part], seed, ("corruption", *purpose, name, severity))
        values = FUNCTIONS[name](images[part] / 255, draws, **parameters)
        corrupted[part] = np.floor(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return corrupted
