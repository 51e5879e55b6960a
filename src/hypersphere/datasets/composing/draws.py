"""Random numbers for a batch of images, each image's from its own key: a piece of a set has the bytes of the whole."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from hypersphere import prng

HALF_STEP = 2.0**-54
"""Half of the distance between two uniform draws: it keeps them off 0, whose normal quantile is infinite."""


@dataclass(frozen=True)
class Draws:
    """Draws of N images; row i depends on the seed, the purpose and ``numbers[i]`` alone."""

    numbers: Int[np.ndarray, "N"]
    seed: int
    purpose: tuple[str | int, ...]

    def uniform(self, what: str, *shape: int) -> Float[np.ndarray, "N ..."]:
        """Independent draws from [0, 1), of this shape for each image."""
        rows = [prng.uniform(shape, self.seed, *self.purpose, what, int(number)) for number in self.numbers]
        return np.stack(rows) if rows else np.zeros((0, *shape))

    def between(self, what: str, low: float, high: float, *shape: int) -> Float[np.ndarray, "N ..."]:
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
