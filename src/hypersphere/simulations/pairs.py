"""Pairs of points under the gradient of their cosine, exactly, in any dimension: norms paper, Sec. 4.1 and App. B.1.

By Proposition 3.1 no step leaves the plane of its pair, so that a pair is three numbers: its cosine and two norms.

Shapes: runs (a setting and a seed each), pairs; sides is 2, or 1 where both points of every pair are alike.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from hypersphere import keyed
from hypersphere.objectives.geometry import unit

PAIRS = 500
DIMENSION = 20
RATE = 10.0
CONVERGED = 0.999
CLEARED_EVERY = 40
"""Steps between two clearings of what is over; limits, and their halves, are multiples of it."""
TOGETHER = 64
"""Runs side by side: 64 of 500 pairs stay in the cache, where a step costs a third of what it does for 1000 runs."""


class Runs(NamedTuple):
    """Pairs under way, and what a step does to them."""

    cosine: Float[np.ndarray, "runs pairs"]
    norm: Float[np.ndarray, "sides runs pairs"]
    rate: Float[np.ndarray, "sides runs 1"]
    """Learning rate over the number of pairs, the loss being a mean over them; 0 for a static point."""
    keep: Float[np.ndarray, "sides runs 1"]
    """The part of a point that a penalty on its squared norm leaves in a step."""
    pull: Float[np.ndarray, "sides runs 1"]
    """The length that a penalty on its norm takes off it in a step."""

    def only(self, which: Int[np.ndarray, "some"] | Bool[np.ndarray, "runs"]) -> "Runs":
        """Some of the runs."""
        return Runs(self.cosine[which], *(field[:, which] for field in self[1:]))


class Outcome(NamedTuple):
    """What became of each run."""

    steps: Float[np.ndarray, "runs"]
    """Before the mean cosine exceeded 0.999; infinite where it did not within the limit."""
    highest: Float[np.ndarray, "runs"]
    """The highest mean cosine, to the clearing at which the run was over."""
    late: Float[np.ndarray, "runs"]
    """The same over the second half of the steps allowed; nan for a run that was over before."""
    norm: Float[np.ndarray, "runs"]
    """The median norm of the first points at the limit; nan for a run that converged."""


def random_cosines(seed: int) -> Float[np.ndarray, "pairs"]:
    """Cosines of 500 pairs of independent random directions in R^20 (App. B.1)."""
    generator = torch.Generator().manual_seed(keyed.torch_seed(seed, "pair attraction"))
    first, second = unit(torch.randn(2, PAIRS, DIMENSION, generator=generator, dtype=torch.float64))
    return (first * second).sum(dim=-1).numpy()


def interpolated(
    cosine: Float[np.ndarray, "*n"], alpha: Float[np.ndarray, "*n"]
) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Cosine with x1, and norm, of x2 (1 - |alpha|) + x1 alpha, for unit vectors of the given cosine (App. B.1)."""
    other = 1 - abs(alpha)
    norm = np.sqrt(other * other + alpha * alpha + 2 * alpha * other * cosine)
    return (other * cosine + alpha) / norm, norm


def attraction(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """Descent on -cos takes a point to ``along`` times its direction u_i plus ``across`` times u_j - cos u_i.

    Norms paper, Proposition 3.1: the gradient is -(u_j - cos u_i) / ||z_i||.
    """
    return runs.keep * runs.norm - runs.pull, runs.rate / runs.norm


def inner_product(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """The same for descent on -z_i · z_j, Table 1's objective with its symbols as they stand: the gradient is -z_j."""
    other = runs.rate * runs.norm[::-1]
    return runs.keep * runs.norm - runs.pull + other * runs.cosine, other


def step(runs: Runs, *, inner: bool) -> Runs:
    """All points moved at once: ||z_i'||² = along² + across² s, with s = sin²; the inner product likewise, from
    (u_j - cos u_i) · (u_i - cos u_j) = -cos s."""
    along, across = (inner_product if inner else attraction)(runs)
    square = (1 - runs.cosine) * (1 + runs.cosine)
    np.maximum(square, 0, out=square)  # a cosine may round to beyond 1
    ahead, aside = along * along, across * across * square
    norm = np.sqrt(ahead + aside)
    if len(norm) == 1:  # the same for two points alike, with a third fewer operations
        dot = runs.cosine * (ahead[0] - aside[0]) + 2 * along[0] * across[0] * square
        return runs._replace(cosine=dot / (ahead[0] + aside[0]), norm=norm)
    mixed = along[0] * across[1] + along[1] * across[0]
    dot = runs.cosine * (along[0] * along[1] - across[0] * across[1] * square) + mixed * square
    return runs._replace(cosine=dot / (norm[0] * norm[1]), norm=norm)


def converge(runs: Runs, limit: Float[np.ndarray, "runs"], *, inner: bool = False) -> Outcome:
    """Every run until its mean cosine exceeds 0.999, or to its own limit of steps.

    What is over is dropped at the next clearing. No operation mixes runs, so neither that nor what else is computed
    changes a bit of a run.
    """
    whole = Outcome(*(np.full(len(limit), fill) for fill in (math.inf, -math.inf, math.nan, math.nan)))
    for begin in range(0, len(limit), TOGETHER):
        some = np.arange(begin, min(begin + TOGETHER, len(limit)))
        _converge(runs.only(some), limit, some, whole, inner)
    return whole


def _converge(runs: Runs, limit: np.ndarray, alive: np.ndarray, outcome: Outcome, inner: bool) -> None:
    """Fill in what becomes of the runs ``alive``."""
    count = 0
    while len(alive):
        means = np.empty((CLEARED_EVERY, len(alive)))
        for row in means:
            row[:] = runs.cosine.mean(axis=1)
            runs = step(runs, inner=inner)
        reached = means > CONVERGED
        converged, highest = reached.any(axis=0), means.max(axis=0)
        outcome.steps[alive[converged]] = count + reached.argmax(axis=0)[converged]
        outcome.highest[alive] = np.maximum(outcome.highest[alive], highest)
        latter = 2 * count >= limit[alive]
        outcome.late[alive[latter]] = np.fmax(outcome.late[alive], highest)[latter]
        count += CLEARED_EVERY
        ended = ~converged & (count >= limit[alive])
        if ended.any():
            outcome.norm[alive[ended]] = np.median(runs.norm[0, ended], axis=1)
        going = ~(converged | ended)
        alive, runs = alive[going], runs.only(going)
