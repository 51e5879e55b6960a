"""Where the squares of a picture go: anywhere, in the cells of a grid, or apart from one another."""

import numpy as np
from jaxtyping import Int64

from hypersphere.datasets.composing.draws import Draws

TRIES = 32
"""Pairs of places that are drawn at once."""


def corners(draws: Draws, canvas: int, side: int, count: int) -> Int64[np.ndarray, "N count 2"]:
    """Row and column of ``count`` squares, uniform over the canvas and independent: they may overlap."""
    return draws.below("corners", canvas - side + 1, count, 2)


def cells(draws: Draws, canvas: int, side: int, count: int) -> Int64[np.ndarray, "N count 2"]:
    """Row and column of ``count`` different cells of a grid, all choices and orders equally likely.

    The grid is in the middle of the canvas, if its cells leave a rim.
    """
    along = canvas // side
    chosen = np.argsort(draws.uniform("cells", along**2), axis=1, kind="stable")[:, :count]
    return (canvas - along * side) // 2 + side * np.stack(np.divmod(chosen, along), axis=2)


def apart(draws: Draws, canvas: int, first: int, second: int) -> Int64[np.ndarray, "N 2 2"]:
    """Row and column of two squares that do not overlap, uniform over all such pairs of places.

    Pairs are drawn until one fits: ``TRIES`` at a time. The sides must sum to at most the canvas, or none would.
    """
    found = np.zeros((len(draws.numbers), 2, 2), np.int64)
    limits = np.array([[canvas - first + 1], [canvas - second + 1]])
    left, turn = np.arange(len(found)), 0
    while len(left):
        rest = Draws(draws.numbers[left], draws.seed, draws.purpose)
        pairs = (rest.uniform(f"pair {turn}", TRIES, 2, 2) * limits).astype(np.int64)
        one, other = pairs[:, :, 0], pairs[:, :, 1]
        fits = ((one + first <= other) | (other + second <= one)).any(axis=2)
        lucky = np.flatnonzero(fits.any(axis=1))
        found[left[lucky]] = pairs[lucky, fits[lucky].argmax(axis=1)]
        left, turn = np.delete(left, lucky), turn + 1
    return found
