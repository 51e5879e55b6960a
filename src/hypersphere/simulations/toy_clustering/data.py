"""Three bars and two nested moons in the plane. The LMCL paper gives only their names; the shapes are ours.

Each shape has one free parameter. ``calibrate`` chose it once, so that K-means on the points themselves has the
accuracy of Table 1's Euclidean row. No row of a method was used for that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.probes.clusters import best, matched_accuracy

SIZE = 200
"""Points of a class."""
RESTARTS = 5
"""Restarts of K-means from random points. The paper does not state their number."""
EUCLIDEAN = {"three_bars": 75.2, "nested_moons": 77.3}
"""The first row of Table 1, percent."""


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


class Shape(Protocol):
    """A way to make points from draws."""

    def points(self, drawn: Draws) -> Float[Tensor, "seeds n 2"]:
        """The points of all classes, in the order of ``drawn.classes``."""


@dataclass(frozen=True)
class Bars:
    """Three upright bars of length 2, side by side. Each is ``step`` above the one to its left."""

    step: float
    spacing: float = 0.5
    width: float = 0.2
    normal: bool = False
    """Whether points are normal instead of uniform along the bar, with the same standard deviation."""
    origin: tuple[float, float] = (0.0, 0.0)
    """The point that becomes 0 for a linear map; (0, 0) is the middle of the middle bar."""

    def points(self, drawn: Draws) -> Float[Tensor, "seeds n 2"]:
        """x across the bars, y along them."""
        bar = drawn.classes - 1
        y = drawn.noise[..., 1] / math.sqrt(3) if self.normal else 2 * drawn.along - 1
        x = self.spacing * bar + self.width * (drawn.across - 0.5)
        return torch.stack([x, y + self.step * bar], dim=-1) - torch.tensor(self.origin, dtype=x.dtype)


@dataclass(frozen=True)
class Moons:
    """Two half circles, the second turned upside down and moved into the first; noise on both."""

    gap: float
    """Vertical distance by which they are pulled apart. At 0 the tip of each is at half the height of the other."""
    noise: float = 0.1
    """Standard deviation; the first half circle has radius 1."""
    inner: float = 1.0
    """Radius of the second half circle."""
    origin: tuple[float, float] = (0.0, 0.0)
    """The point that becomes 0 for a linear map; (0, 0) is midway between the centres of the circles."""

    def points(self, drawn: Draws) -> Float[Tensor, "seeds n 2"]:
        """The first half circle opens downwards."""
        angle = math.pi * drawn.along
        upper = torch.stack([angle.cos() - 0.5, angle.sin() - 0.25 + self.gap / 2], dim=-1)
        lower = torch.stack([0.5 - self.inner * angle.cos(), 0.25 - self.gap / 2 - self.inner * angle.sin()], dim=-1)
        moon = torch.where((drawn.classes == 0)[:, None], upper, lower)
        return moon + self.noise * drawn.noise - torch.tensor(self.origin, dtype=moon.dtype)


BARS = {
    "default": Bars(step=1.09),
    "corner": Bars(step=1.09, origin=(-0.6, -2.09)),
    "first": Bars(step=1.21, spacing=0.3),
    "second": Bars(step=0.83, normal=True),
    "third": Bars(step=0.0, spacing=1.0),
}
MOONS = {
    "default": Moons(gap=0.11),
    "corner": Moons(gap=0.11, origin=(-1.75, -1.05)),
    "first": Moons(gap=0.11, noise=0.05),
    "second": Moons(gap=0.11, noise=0.2),
    "third": Moons(gap=-0.27, inner=0.7),
}
SHAPES: dict[str, Mapping[str, Shape]] = {"three_bars": BARS, "nested_moons": MOONS}
"""The shapes of Table 1 (default), the same with all points above and to the right of 0 (corner), and three others."""
DATASETS = tuple(SHAPES)


def grid(centre: float) -> list[float]:
    """Steps of 0.01, up to 0.1 on either side of a value found by eye."""
    return [round(centre + hundredth / 100, 2) for hundredth in range(-10, 11)]


FREE: dict[str, dict[str, tuple[str, list[float]]]] = {
    "three_bars": {
        "default": ("step", grid(1.1)),
        "first": ("step", grid(1.2)),
        "second": ("step", grid(0.85)),
        "third": ("spacing", grid(1.0)),
    },
    "nested_moons": {
        "default": ("gap", grid(0.1)),
        "first": ("gap", grid(0.1)),
        "second": ("gap", grid(0.1)),
        "third": ("gap", grid(-0.25)),
    },
}
"""By dataset and shape: the free parameter, and the values that were tried."""


def clustered(points: Float[Tensor, "sets seeds n 2"], drawn: Draws) -> Float[Tensor, "seeds sets"]:
    """Accuracy of K-means, percent."""
    classes = drawn.classes.numpy()
    trials = [list(zip(one.numpy(), drawn.starts.numpy(), strict=True)) for one in points]
    found = [[matched_accuracy(best(xy, xy[starts]).labels, classes) for xy, starts in one] for one in trials]
    return torch.tensor(found, dtype=torch.float64).T


def euclidean(shapes: Sequence[Shape], drawn: Draws) -> Float[Tensor, "seeds shapes"]:
    """Accuracy of K-means on the points themselves, percent."""
    return clustered(torch.stack([shape.points(drawn) for shape in shapes]), drawn)


def tried(dataset: str, name: str) -> list[Shape]:
    """A shape with each value of its free parameter in turn."""
    free, values = FREE[dataset][name]
    return [replace(SHAPES[dataset][name], **{free: value}) for value in values]  # type: ignore[type-var]


def calibrate(shapes: Sequence[Shape], printed: float, drawn: Draws) -> Shape:
    """The shape whose mean Euclidean accuracy is nearest to the printed one, percent."""
    return shapes[int((euclidean(shapes, drawn).mean(dim=0) - printed).abs().argmin())]
