"""Pairs of points that follow the gradient of their cosine, exactly: norms paper, Sec. 4.1 and App. B.1.

By Proposition 3.1 no step leaves the plane of its pair, so three numbers describe a pair in any
dimension: its cosine and two norms.

Shapes: runs (each has one setting and one seed), pairs, and the 2 points of a pair.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from hypersphere import prng
from hypersphere.objectives.geometry import unit

PAIRS = 500
DIMENSION = 20
RATE = 10.0
CONVERGED = 0.999
CLEARED_EVERY = 40
"""Steps after which finished runs are dropped. Step limits, and their halves, are multiples of it."""
TOGETHER = 64
"""Runs computed together: 64 runs of 500 pairs fit the cache, and a step takes a third of the time of 1000 runs."""


class Runs(NamedTuple):
    """The current pairs of all runs, and the constants of a step."""

    cosine: Float[np.ndarray, "runs pairs"]
    norm: Float[np.ndarray, "2 runs pairs"]
    rate: Float[np.ndarray, "2 runs 1"]
    """Learning rate over the number of pairs, because the loss is a mean over pairs; 0 for a static point."""
    keep: Float[np.ndarray, "2 runs 1"]
    """Factor by which a penalty on the squared norm shrinks a point in a step."""
    pull: Float[np.ndarray, "2 runs 1"]
    """Length that a penalty on the norm takes off a point in a step."""

    def only(self, runs: Int[np.ndarray, "some"] | Bool[np.ndarray, "runs"]) -> "Runs":
        """A part of the runs."""
        return Runs(self.cosine[runs], *(field[:, runs] for field in self[1:]))


class Outcome(NamedTuple):
    """The result of each run."""

    steps: Float[np.ndarray, "runs"]
    """Steps until the mean cosine exceeded 0.999; infinite if it did not within the limit."""
    highest: Float[np.ndarray, "runs"]
    """The highest mean cosine, until the run was dropped."""
    late: Float[np.ndarray, "runs"]
    """The highest mean cosine over the second half of the allowed steps; nan for a run that ended earlier."""
    norm: Float[np.ndarray, "runs"]
    """The median norm of the first points at the limit; nan for a run that converged."""


def random_cosines(seed: int) -> Float[np.ndarray, "pairs"]:
    """Cosines of 500 pairs of independent random directions in R^20 (App. B.1)."""
    generator = torch.Generator().manual_seed(prng.torch_seed(seed, "pair attraction"))
    first, second = unit(torch.randn(2, PAIRS, DIMENSION, generator=generator, dtype=torch.float64))
    return (first * second).sum(dim=-1).numpy()


def interpolated(
    cosine: Float[np.ndarray, "*n"], alpha: Float[np.ndarray, "*n"]
) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Cosine with x1, and norm, of x2 (1 - |alpha|) + x1 alpha, for unit vectors of that cosine (App. B.1)."""
    rest = 1 - abs(alpha)
    norm = np.sqrt(rest * rest + alpha * alpha + 2 * alpha * rest * cosine)
    return (rest * cosine + alpha) / norm, norm


def step(runs: Runs) -> Runs:
    """Move all points at once down the gradient of -cos, which is -(u_j - cos u_i) / ||z_i|| (Proposition 3.1).

    A point arrives at ``along`` times its direction u_i, plus ``across`` times u_j - cos u_i. So ||z_i'||² = along² +
    across² s, with s = sin², and the new inner product follows from (u_j - cos u_i) · (u_i - cos u_j) = -cos s.
    """
    along, across = runs.keep * runs.norm - runs.pull, runs.rate / runs.norm
    square = (1 - runs.cosine) * (1 + runs.cosine)
    np.maximum(square, 0, out=square)  # a cosine may round to more than 1
    ahead, aside = along * along, across * across * square
    norm = np.sqrt(ahead + aside)
    mixed = along[0] * across[1] + along[1] * across[0]
    dot = runs.cosine * (along[0] * along[1] - across[0] * across[1] * square) + mixed * square
    return runs._replace(cosine=dot / (norm[0] * norm[1]), norm=norm)


def converge(runs: Runs, limit: Float[np.ndarray, "runs"]) -> Outcome:
    """Step every run until its mean cosine exceeds 0.999, or to its own limit of steps.

    Finished runs are dropped every ``CLEARED_EVERY`` steps. No operation mixes runs, so the bits of a run do not
    depend on that, nor on the other runs.
    """
    outcome = Outcome(*(np.full(len(limit), fill) for fill in (math.inf, -math.inf, math.nan, math.nan)))
    for begin in range(0, len(limit), TOGETHER):
        alive, count = np.arange(begin, min(begin + TOGETHER, len(limit))), 0
        part = runs.only(alive)
        while len(alive):
            means = np.empty((CLEARED_EVERY, len(alive)))
            for row in means:
                row[:] = part.cosine.mean(axis=1)
                part = step(part)
            reached = means > CONVERGED
            converged, highest = reached.any(axis=0), means.max(axis=0)
            outcome.steps[alive[converged]] = count + reached.argmax(axis=0)[converged]
            outcome.highest[alive] = np.maximum(outcome.highest[alive], highest)
            latter = 2 * count >= limit[alive]
            outcome.late[alive[latter]] = np.fmax(outcome.late[alive], highest)[latter]
            count += CLEARED_EVERY
            ended = ~converged & (count >= limit[alive])
            if ended.any():
                outcome.norm[alive[ended]] = np.median(part.norm[0, ended], axis=1)
            going = ~(converged | ended)
            alive, part = alive[going], part.only(going)
    return outcome
