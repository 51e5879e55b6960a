"""The linear maps of LMCL's toy study: every trial in every setting is a row of one batch.

Shapes: seeds, settings; n points of a batch. All is float32: the matrices of pairs take most of the time, and a step of
1e-3 needs no more digits.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, Draws
from hypersphere.simulations.toy_clustering.training import WEIGHT, Moments, adam, gradient

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
