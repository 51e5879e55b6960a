"""Three bars and two nested moons in the plane. The LMCL paper gives only their names; the shapes are ours.

Each shape has one free parameter. It was chosen once, so that K-means on the points themselves has the accuracy of
Table 1's Euclidean row. No row of a method was used for that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.probes.clusters import best, matched_accuracy

SIZE = 200
"""Points of a class."""
RESTARTS = 5
"""Restarts of K-means from random points. The paper does not state their number."""


class Draws(NamedTuple):
    """The random numbers of a trial, which all shapes and all values of their parameters share."""

    along: Float[Tensor, "seeds n"]
    """In [0, 1)."""
    across: Float[Tensor, "seeds n"]
    """In [0, 1)."""
    noise: Float[Tensor, "seeds n 2"]
    """Standard normal."""
    classes: Int[Tensor, "n"]
    starts: Int[Tensor, "seeds restarts k"]
    """Indices of the points from which K-means starts."""


def draws(seeds: Sequence[int], dataset: str) -> Draws:
    """Draw a trial for each seed, from a generator of its own."""
    k = 3 if dataset == "three_bars" else 2
    n = k * SIZE
    trials = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(prng.torch_seed(seed, "toy points", dataset))
        flat = torch.rand(2, n, generator=generator, dtype=torch.float64)
        noise = torch.randn(n, 2, generator=generator, dtype=torch.float64)
        orders = torch.rand(RESTARTS, n, generator=generator, dtype=torch.float64).argsort(dim=1)
        trials.append((flat[0], flat[1], noise, orders[:, :k]))
    along, across, noise, starts = (torch.stack(part) for part in zip(*trials, strict=True))
    return Draws(along, across, noise, torch.arange(k).repeat_interleave(SIZE), starts)


def three_bars(
    drawn: Draws, step: float = 1.09, spacing: float = 0.5, width: float = 0.2
) -> Float[Tensor, "seeds n 2"]:
    """Three upright bars of length 2, side by side; 0 is in the middle. Each is ``step`` above the one to its left."""
    bar = drawn.classes - 1
    x = spacing * bar + width * (drawn.across - 0.5)
    y = step * bar + 2 * drawn.along - 1
    return torch.stack([x, y], dim=-1)


def nested_moons(drawn: Draws, gap: float = 0.11, noise: float = 0.1, inner: float = 1.0) -> Float[Tensor, "seeds n 2"]:
    """Two half circles, the second turned upside down and moved into the first; normal noise on both.

    They have the radii 1 and ``inner``, and are pulled apart by ``gap``: at 0 the tip of each is at half the height of
    the other. 0 is midway between the centres of the circles.
    """
    angle = math.pi * drawn.along
    upper = torch.stack([angle.cos() - 0.5, angle.sin() - 0.25 + gap / 2], dim=-1)
    lower = torch.stack([0.5 - inner * angle.cos(), 0.25 - gap / 2 - inner * angle.sin()], dim=-1)
    moon = torch.where((drawn.classes == 0)[:, None], upper, lower)
    return moon + noise * drawn.noise


SHAPES: Mapping[str, Mapping[str, Callable[[Draws], Float[Tensor, "seeds n 2"]]]] = {
    "three_bars": {
        "default": three_bars,
        "corner": lambda drawn: three_bars(drawn) + torch.tensor([0.6, 2.09], dtype=torch.float64),
        "other": partial(three_bars, step=0.0, spacing=1.0),
    },
    "nested_moons": {
        "default": nested_moons,
        "corner": lambda drawn: nested_moons(drawn) + torch.tensor([1.75, 1.05], dtype=torch.float64),
        "other": partial(nested_moons, gap=-0.27, inner=0.7),
    },
}
"""The shapes of Table 1 (default), the same with all points above and to the right of 0 (corner), and another."""
DATASETS = tuple(SHAPES)


def clustered(points: Float[Tensor, "seeds n 2"], drawn: Draws) -> Float[Tensor, "seeds"]:
    """Accuracy of K-means, percent."""
    classes = drawn.classes.numpy()
    trials = zip(points.numpy(), drawn.starts.numpy(), strict=True)
    found = [matched_accuracy(best(xy, xy[starts]).labels, classes) for xy, starts in trials]
    return torch.tensor(found, dtype=torch.float64)
