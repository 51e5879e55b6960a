"""The linear maps of LMCL's toy study: many maps of the plane at once, by Adam on Eq. 1 and Eq. 9.

A row is one map, with its own start, batch and setting. Rows do not influence each other. Gradients are written out: a
map with 4 numbers needs only two thin products with the matrix of pairs, and autograd would take three times as long.

Shapes: seeds, settings; rows; n points of a batch. All is float32: the matrices of pairs take most of the time, and a
step of 1e-3 needs no more digits.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, Draws

LOWER, UPPER = 0.1, 0.5
"""delta+ and delta-, Sec. 5."""
WEIGHT = 0.1
"""lambda, Sec. 5.1."""
RATE = 0.001
"""Adam's learning rate, Sec. 5.1."""
DECAYS = (0.9, 0.999)
EPSILON = 1e-8
"""torch's defaults, as erratum L14 decides."""
STEPS, LONGER = 1000, 2000
"""Steps in every setting, and the total in the default settings, which go on."""
BATCH = 20
"""n + 1 of Algorithm 1. It divides the number of points of both datasets."""
START = 0.01
"""Standard deviation of a map's entries before the first step (erratum L9)."""
METHODS = ("cl", "lmcl_mean", "lmcl_sum")
"""Eq. 1; Eq. 9 with R1 the mean over a batch's ordered pairs; Eq. 9 with R1 their sum (erratum L5)."""


class Setting(NamedTuple):
    """How a map is learned."""

    method: str
    dataset: str
    shape: str = "default"
    start: Literal["random", "identity"] = "random"
    noise: float = 0.1
    """Standard deviation of the augmentation."""
    on_sphere: bool = True
    """Whether Px is normalised in the loss, as in the paper."""


VARIATIONS: dict[str, dict[str, str | float | bool]] = {
    "default": {},
    "identity": {"start": "identity"},
    "noise": {"noise": 0.2},
    "plane": {"on_sphere": False},
    **{shape: {"shape": shape} for shape in SHAPES["three_bars"] if shape != "default"},
}
SETTINGS = [
    Setting(method, dataset, **varied)  # type: ignore[arg-type]
    for method in METHODS
    for varied in VARIATIONS.values()
    for dataset in DATASETS
]
"""Sorted by method, so that the rows without a penalty come first."""
DEFAULTS = [index for index, setting in enumerate(SETTINGS) if setting == Setting(setting.method, setting.dataset)]


class Batches(NamedTuple):
    """Points and noise of each step, for all trials on a dataset."""

    indices: Int[Tensor, "seeds steps n"]
    noise: Float[Tensor, "2 seeds steps n"]
    """Standard normal."""


def batches(seeds: Sequence[int], dataset: str, points: int) -> Batches:
    """Every pass over the points has a new order and is cut into batches: each is a uniform draw without repeats."""
    passes = math.ceil(LONGER * BATCH / points)
    trials = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(prng.torch_seed(seed, "toy batches", dataset))
        order = torch.rand(passes, points, generator=generator, dtype=torch.float64).argsort(dim=1)
        noise = torch.randn(2, LONGER, BATCH, generator=generator)
        trials.append((order.flatten()[: LONGER * BATCH].reshape(LONGER, BATCH), noise))
    indices, noises = (list(part) for part in zip(*trials, strict=True))
    return Batches(torch.stack(indices), torch.stack(noises, dim=1))


def starts(seeds: Sequence[int]) -> Float[Tensor, "2 2 settings seeds"]:
    """The maps before the first step. A trial has the same random start in all its settings."""
    generators = [torch.Generator().manual_seed(prng.torch_seed(seed, "toy start")) for seed in seeds]
    random = torch.stack([START * torch.randn(2, 2, generator=generator) for generator in generators], dim=2)
    identity = torch.eye(2)[:, :, None].expand_as(random)
    return torch.stack([identity if setting.start == "identity" else random for setting in SETTINGS], dim=2)


class Maps(NamedTuple):
    """The learned maps, and the first gradients."""

    learned: Float[Tensor, "settings seeds 2 2"]
    """After ``STEPS`` steps."""
    longer: Float[Tensor, "defaults seeds 2 2"]
    """After ``LONGER``."""
    from_zero: Float[Tensor, "settings seeds"]
    """The largest magnitude in the gradient at P = 0, the printed start, on the first batch."""
    from_start: Float[Tensor, "settings seeds"]
    """The same at the start that was used."""


class _Rows:
    """Some of the settings in all trials, laid out as rows for ``gradient``."""

    def __init__(self, chosen: Sequence[int], seeds: int) -> None:
        settings = [SETTINGS[index] for index in chosen]
        shapes = [(dataset, shape) for dataset in DATASETS for shape in SHAPES[dataset]]
        self.shape = torch.tensor([shapes.index((setting.dataset, setting.shape)) for setting in settings])
        self.dataset = torch.tensor([DATASETS.index(setting.dataset) for setting in settings])
        self.noise = torch.tensor([setting.noise for setting in settings])[:, None, None]
        self.on_sphere = torch.tensor([setting.on_sphere for setting in settings]).repeat_interleave(seeds)
        weights = {"lmcl_mean": WEIGHT / (BATCH * (BATCH - 1)), "lmcl_sum": WEIGHT}
        penalty = [weights[setting.method] for setting in settings if setting.method != "cl"]
        self.penalty = torch.tensor(penalty).repeat_interleave(seeds)

    def gradient(
        self,
        maps: Float[Tensor, "2 2 rows"],
        points: Float[Tensor, "2 shapes seeds n"],
        noise: Float[Tensor, "2 datasets seeds n"],
    ) -> Float[Tensor, "2 2 rows"]:
        x = points[:, self.shape]
        perturbed = x + self.noise * noise[:, self.dataset]
        return gradient(maps, x.flatten(1, 2), perturbed.flatten(1, 2), self.penalty, self.on_sphere)


def learn(seeds: Sequence[int], drawn: dict[str, Draws]) -> Maps:
    """Learn all maps. ``drawn`` holds draws of the same seeds, by dataset."""
    batches_of = {dataset: batches(seeds, dataset, len(drawn[dataset].classes)) for dataset in DATASETS}
    planes = {
        dataset: torch.stack([shape.points(drawn[dataset]).float() for shape in SHAPES[dataset].values()])
        .movedim(3, 0)
        .contiguous()
        for dataset in DATASETS
    }

    def at(step: int) -> tuple[Float[Tensor, "2 shapes seeds n"], Float[Tensor, "2 datasets seeds n"]]:
        points = [
            plane.gather(3, batches_of[dataset].indices[:, step].expand(*plane.shape[:2], -1, -1))
            for dataset, plane in planes.items()
        ]
        noise = [batches_of[dataset].noise[:, :, step] for dataset in DATASETS]
        return torch.cat(points, dim=1), torch.stack(noise, dim=1)

    everything = _Rows(range(len(SETTINGS)), len(seeds))
    first = starts(seeds).flatten(2)
    from_zero, from_start = (
        everything.gradient(maps, *at(0)).abs().amax(dim=(0, 1)).reshape(-1, len(seeds))
        for maps in (torch.zeros_like(first), first)
    )
    maps, moments = first, Moments(torch.zeros_like(first), torch.zeros_like(first))
    for step in range(STEPS):
        maps, moments = adam(maps, everything.gradient(maps, *at(step)), moments, step + 1)
    learned = _by_setting(maps, len(seeds))
    maps, *rest = (part.unflatten(2, (-1, len(seeds)))[:, :, DEFAULTS].flatten(2) for part in (maps, *moments))
    moments, rows = Moments(*rest), _Rows(DEFAULTS, len(seeds))
    for step in range(STEPS, LONGER):
        maps, moments = adam(maps, rows.gradient(maps, *at(step)), moments, step + 1)
    return Maps(learned, _by_setting(maps, len(seeds)), from_zero, from_start)


def _by_setting(maps: Float[Tensor, "2 2 rows"], seeds: int) -> Float[Tensor, "settings seeds 2 2"]:
    return maps.movedim(2, 0).unflatten(0, (-1, seeds))


def gradient(
    maps: Float[Tensor, "2 2 rows"],
    x: Float[Tensor, "2 rows n"],
    perturbed: Float[Tensor, "2 rows n"],
    penalty: Float[Tensor, "penalised"],
    on_sphere: Bool[Tensor, "rows"],
) -> Float[Tensor, "2 2 rows"]:
    """Gradient in the map P of nce + penalty times the sum over ordered pairs of |min((D - delta+)(D - delta-), 0)|.

    LMCL paper, Eq. 1 (the mean over the n points as anchors, the other n - 1 as negatives) and Eq. 9 and 10. The last
    ``len(penalty)`` rows are penalised, the others are not. A row that is not ``on_sphere`` uses Px in place of the
    unit vector in both terms. A point that is mapped to 0 counts as in ``geometry.unit``.
    """
    rows, n = x.shape[1:]
    u, norm = _mapped(maps, x, on_sphere)
    v, norm_perturbed = _mapped(maps, perturbed, on_sphere)
    cosine = u[0, :, :, None] * u[0, :, None] + u[1, :, :, None] * u[1, :, None]
    first = rows - len(penalty)
    offset = cosine[first:] - (1 - LOWER - UPPER)
    # With s the cosine less the one in the middle of the margin region, the penalty's slope there is -s/2.
    inside = offset - torch.nn.functional.hardshrink(offset, UPPER - LOWER)
    inside.diagonal(dim1=1, dim2=2).zero_()  # off the sphere a point's product with itself can be in the region
    scores = cosine.exp_()
    scores.diagonal(dim1=1, dim2=2).zero_()
    positive = (u[0] * v[0] + u[1] * v[1]).exp()
    sums = positive + scores.sum(dim=2)
    pull = (positive / sums - 1) / n
    weighted = (scores @ torch.stack([u[0], u[1], u[0] / sums, u[1] / sums], dim=2)).movedim(2, 0)
    along_u = pull * v + (weighted[:2] / sums + weighted[2:]) / n
    push = inside @ torch.stack([u[0, first:], u[1, first:]], dim=2)
    along_u[:, first:] -= penalty[:, None] * push.movedim(2, 0)
    along = _through(along_u, u, norm, on_sphere)
    along_perturbed = _through(pull * u, v, norm_perturbed, on_sphere)
    return (along[:, None] * x[None] + along_perturbed[:, None] * perturbed[None]).sum(dim=3)


def _mapped(
    maps: Float[Tensor, "2 2 rows"], x: Float[Tensor, "2 rows n"], on_sphere: Bool[Tensor, "rows"]
) -> tuple[Float[Tensor, "2 rows n"], Float[Tensor, "rows n"]]:
    """Px over its norm, and the norm; 1 where Px is left as it is."""
    z = maps[:, 0, :, None] * x[0] + maps[:, 1, :, None] * x[1]
    norm = (z[0].square() + z[1].square()).sqrt().clamp(min=1e-12)
    norm = torch.where(on_sphere[:, None], norm, 1)
    return z / norm, norm


def _through(
    along: Float[Tensor, "2 rows n"],
    unit: Float[Tensor, "2 rows n"],
    norm: Float[Tensor, "rows n"],
    on_sphere: Bool[Tensor, "rows"],
) -> Float[Tensor, "2 rows n"]:
    """Carry a gradient in unit vectors back to the vectors themselves: its part across them, over the norm."""
    radial = torch.where(on_sphere[:, None], along[0] * unit[0] + along[1] * unit[1], 0)
    return (along - radial * unit) / norm


class Moments(NamedTuple):
    """Adam's memory."""

    first: Float[Tensor, "2 2 rows"]
    second: Float[Tensor, "2 2 rows"]


def adam(
    maps: Float[Tensor, "2 2 rows"], slope: Float[Tensor, "2 2 rows"], moments: Moments, step: int
) -> tuple[Float[Tensor, "2 2 rows"], Moments]:
    """A step of Adam; ``step`` counts from 1 (Kingma and Ba 2015, Algorithm 1; LMCL paper, Algorithm 1 and Eq. 12)."""
    first = DECAYS[0] * moments.first + (1 - DECAYS[0]) * slope
    second = DECAYS[1] * moments.second + (1 - DECAYS[1]) * slope.square()
    root = (second / (1 - DECAYS[1] ** step)).sqrt() + EPSILON
    return maps - RATE * first / (1 - DECAYS[0] ** step) / root, Moments(first, second)
