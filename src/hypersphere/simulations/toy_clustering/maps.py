"""The linear maps of LMCL's toy study: many maps of the plane at once, by Adam on Eq. 1 and Eq. 9.

Each map has its own start, batches and setting. Maps do not influence each other.

Shapes: settings; seeds; n points of a batch. All is float32, because a step of 1e-3 needs no more digits.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.nce import nce
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, Draws

LOWER, UPPER = 0.1, 0.5
"""delta+ and delta-, Sec. 5."""
WEIGHT = 0.1
"""lambda, Sec. 5.1."""
RATE = 0.001
"""Adam's learning rate, Sec. 5.1; its decays and epsilon are torch's (erratum L14)."""
STEPS, LONGER = 1000, 2000
"""Steps in Table 1, and twice as many, which go on from there."""
BATCH = 20
"""n + 1 of Algorithm 1. It divides the number of points of both datasets."""
START = 0.01
"""Standard deviation of a map's entries before the first step (erratum L9)."""
WEIGHTS = {"cl": 0.0, "lmcl_mean": WEIGHT / (BATCH * (BATCH - 1)), "lmcl_sum": WEIGHT}
"""Of the sum over a batch's ordered pairs: Eq. 1; Eq. 9 with R1 their mean; Eq. 9 with R1 their sum (erratum L5)."""
SPACES = ("euclidean", *WEIGHTS)
"""Where K-means sees the points: as they are, or mapped by a method."""


class Setting(NamedTuple):
    """One place of Table 1: a space, a dataset, and the choices that the paper leaves open."""

    space: str
    dataset: str
    shape: str = "default"
    start: Literal["random", "identity"] = "random"
    noise: float = 0.1
    """Standard deviation of the augmentation."""
    longer: bool = False
    circle: bool = False
    """Whether K-means sees Px/|Px|; a map is learned in the same way."""


VARIATIONS: dict[str, dict[str, str | float | bool]] = {
    "default": {},
    "longer": {"longer": True},
    "identity": {"start": "identity"},
    "noise": {"noise": 0.2},
    "circle": {"circle": True},
    "corner": {"shape": "corner"},
    "other": {"shape": "other"},
}
"""Table 1's choices, and one of them changed at a time."""
SETTINGS = [
    Setting(space, dataset, **varied)  # type: ignore[arg-type]
    for varied, dataset, space in product(VARIATIONS.values(), DATASETS, SPACES)
]
LEARNED = [s for s in SETTINGS if s.space in WEIGHTS and not s.longer and not s.circle]
DEFAULTS = [place for place, setting in enumerate(LEARNED) if setting == Setting(setting.space, setting.dataset)]
"""Places in ``LEARNED`` of the maps of Table 1."""


def batches(
    seeds: Sequence[int], dataset: str, points: int
) -> tuple[Int[Tensor, "seeds steps n"], Float[Tensor, "seeds steps n 2"]]:
    """Indices of the points of each step, and standard normal noise, for all trials on a dataset.

    Every pass over the points has a new order and is cut into batches: each is a uniform draw without repeats.
    """
    passes = math.ceil(LONGER * BATCH / points)
    orders, noises = [], []
    for seed in seeds:
        generator = torch.Generator().manual_seed(prng.torch_seed(seed, "toy batches", dataset))
        order = torch.rand(passes, points, generator=generator, dtype=torch.float64).argsort(dim=1)
        orders.append(order.flatten()[: LONGER * BATCH].reshape(LONGER, BATCH))
        noises.append(torch.randn(2, LONGER, BATCH, generator=generator).movedim(0, -1))
    return torch.stack(orders), torch.stack(noises)


def starts(seeds: Sequence[int]) -> Float[Tensor, "settings seeds 2 2"]:
    """The maps of ``LEARNED`` before the first step. A trial has the same random start in all its settings."""
    generators = [torch.Generator().manual_seed(prng.torch_seed(seed, "toy start")) for seed in seeds]
    random = torch.stack([START * torch.randn(2, 2, generator=generator) for generator in generators])
    identity = torch.eye(2).expand_as(random)
    return torch.stack([identity if setting.start == "identity" else random for setting in LEARNED])


def loss(
    p: Float[Tensor, "2 2"], x: Float[Tensor, "n 2"], perturbed: Float[Tensor, "n 2"], weight: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """LMCL paper, Eq. 1 and 9, with the other points of the batch as negatives, and with the sum of Eq. 10."""
    a, b = x @ p.T, perturbed @ p.T
    penalty = distance_polarization(a, b, weight=1.0, lower=LOWER, upper=UPPER, reduction="sum", among="first_view")
    return nce(a, b) + weight * penalty


def slopes(
    maps: Float[Tensor, "*many 2 2"],
    x: Float[Tensor, "*many n 2"],
    perturbed: Float[Tensor, "*many n 2"],
    weights: Float[Tensor, "*many"],
) -> Float[Tensor, "*many 2 2"]:
    """The gradient of each map's own loss."""
    maps = maps.detach().requires_grad_()
    of_all = torch.func.vmap(torch.func.vmap(loss))(maps, x, perturbed, weights)
    return torch.autograd.grad(of_all.sum(), maps)[0]


def learn(
    seeds: Sequence[int], drawn: Mapping[str, Draws]
) -> tuple[dict[Setting, Float[Tensor, "seeds 2 2"]], Float[Tensor, "defaults seeds"]]:
    """Learn the maps of all settings. ``drawn`` holds draws of the same seeds, by dataset.

    Returns:
        The learned maps; and for the maps of Table 1, the largest magnitude in the gradient of the first batch at the
        printed start, P = 0.
    """
    batches_of = {dataset: batches(seeds, dataset, len(drawn[dataset].classes)) for dataset in DATASETS}
    points = {(s.dataset, s.shape): SHAPES[s.dataset][s.shape](drawn[s.dataset]).float() for s in LEARNED}

    def slope(maps: Float[Tensor, "some seeds 2 2"], step: int, places: Sequence[int]) -> Tensor:
        """The gradients at the batch of a step, for the settings at ``places`` of ``LEARNED``."""
        x, noise = [], []
        for setting in (LEARNED[place] for place in places):
            order, normal = batches_of[setting.dataset]
            x.append(points[setting.dataset, setting.shape].take_along_dim(order[:, step, :, None], dim=1))
            noise.append(setting.noise * normal[:, step])
        weights = torch.tensor([WEIGHTS[LEARNED[place].space] for place in places])[:, None].expand(-1, len(seeds))
        return slopes(maps, torch.stack(x), torch.stack(x) + torch.stack(noise), weights)

    maps = starts(seeds)
    from_zero = slope(torch.zeros_like(maps[DEFAULTS]), 0, DEFAULTS).abs().amax(dim=(2, 3))
    optimiser = torch.optim.Adam([maps], lr=RATE)
    for step in range(LONGER):
        if step == STEPS:
            learned = dict(zip(LEARNED, maps.clone(), strict=True))
        going = range(len(LEARNED)) if step < STEPS else DEFAULTS  # the others are not read any more
        maps.grad = torch.zeros_like(maps)
        maps.grad[list(going)] = slope(maps[list(going)], step, going)
        optimiser.step()
    return learned | {LEARNED[place]._replace(longer=True): maps[place] for place in DEFAULTS}, from_zero
