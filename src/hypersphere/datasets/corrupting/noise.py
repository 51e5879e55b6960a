"""Noise: independent errors of single values. Images are [N, H, W, 3], 0 … 1; results may lie outside and are clipped.

Definitions: Hendrycks and Dietterich 2019, Sec. 4, and the code published with it.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import pdtr

from hypersphere.datasets.composing.draws import Draws


def gaussian_noise(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, scale: float) -> Float[np.ndarray, "N H W 3"]:
    """Normal noise of standard deviation ``scale``."""
    return images + scale * draws.normal("noise", *images.shape[1:])


def shot_noise(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, photons: float) -> Float[np.ndarray, "N H W 3"]:
    """Counted light: each value v becomes a Poisson number of mean v · ``photons``, over ``photons``."""
    bytes_ = np.rint(images * 255).astype(np.uint8).ravel()
    uniform = draws.uniform("noise", *images.shape[1:]).ravel()
    counts = np.zeros(len(bytes_))
    order = np.argsort(bytes_, kind="stable")
    most = np.arange(photons + 12 * np.sqrt(photons) + 20)
    for value, group in zip(*_groups(bytes_[order], order), strict=True):
        counts[group] = np.searchsorted(pdtr(most, value / 255 * photons), uniform[group], side="right")
    return counts.reshape(images.shape) / photons


def _groups(values: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct values of a sorted array, and for each the part of ``order`` that has it."""
    distinct, starts = np.unique(values, return_index=True)
    return distinct.astype(np.float64), np.split(order, starts[1:]) if len(order) else []


def impulse_noise(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, share: float) -> Float[np.ndarray, "N H W 3"]:
    """Salt and pepper: a ``share`` of the values, each colour by itself, becomes 0 or 1."""
    hit = draws.uniform("hit", *images.shape[1:]) < share
    salt = draws.uniform("salt", *images.shape[1:]) < 0.5
    return np.where(hit, salt.astype(np.float64), images)


def speckle_noise(images: Float[np.ndarray, "N H W 3"], draws: Draws, *, scale: float) -> Float[np.ndarray, "N H W 3"]:
    """Normal noise in proportion to the value."""
    return images + images * scale * draws.normal("noise", *images.shape[1:])
