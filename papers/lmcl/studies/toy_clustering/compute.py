"""LMCL paper, Table 1 and Fig. 3: K-means on three bars and two moons, before and after a linear map is learned.

A trial draws its points, batches, augmentations, and the starts of the map and of K-means. The paper leaves open most
of what Table 1 depends on, so a second table shows Table 1 under other choices. It gives only the names of its sets:
the shapes are ours. Each has one free parameter, which was chosen once, so that K-means on the points themselves has
the accuracy of Table 1's Euclidean row. No row of a method was used for that. All maps are learned together, each with
its own start, batches and setting; none influences another.

Shapes: settings; seeds; n points. Maps are float32, because a step of 1e-3 needs no more digits.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.exact.study import (
    PRINTED,
    Context,
    ExactNumber,
    ExactStudy,
    calibrated,
    effect,
    everywhere,
    only,
    over_seeds,
    stack,
)
from hypersphere.generators import generator, normal, uniform
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.geometry import unit
from hypersphere.objectives.nce import nce
from hypersphere.probes.clusters import best, matched_accuracy
from hypersphere.t_test import mean_interval

SIZE = 200  # points of a class
RESTARTS = 5
"""Restarts of K-means from random points. The paper does not state their number."""


class Draws(NamedTuple):
    """The random numbers of a trial, which all shapes and all values of their parameters share."""

    along: Float[Tensor, "seeds n"]
    """Uniform in [0, 1)."""
    across: Float[Tensor, "seeds n"]
    """Uniform in [0, 1)."""
    noise: Float[Tensor, "seeds n 2"]
    """Standard normal."""
    classes: Int[Tensor, "n"]
    starts: Int[Tensor, "seeds restarts k"]
    """Indices of the points from which K-means starts."""


def draws(seeds: Sequence[int], dataset: str) -> Draws:
    """Draw a trial for each seed, from a generator of its own."""
    k = 3 if dataset == "three_bars" else 2
    n = k * SIZE
    along = []
    across = []
    noise = []
    starts = []
    for seed in seeds:
        drawn = generator(seed, "toy points", dataset)
        flat = uniform(drawn, 2, n)
        along.append(flat[0])
        across.append(flat[1])
        noise.append(normal(drawn, n, 2))
        orders = uniform(drawn, RESTARTS, n).argsort(dim=1)
        starts.append(orders[:, :k])
    classes = torch.arange(k).repeat_interleave(SIZE)
    return Draws(
        torch.stack(along),
        torch.stack(across),
        torch.stack(noise),
        classes,
        torch.stack(starts),
    )


Shape = Callable[[Draws], Float[Tensor, "seeds n 2"]]
"""A dataset's points, from the draws of each seed."""


def three_bars(
    drawn: Draws, step: float = 1.09, spacing: float = 0.5
) -> Float[Tensor, "seeds n 2"]:
    """Three upright bars, 2 by 0.2, side by side; 0 is in the middle. Each is ``step`` above the one to its left."""
    bar = drawn.classes - 1
    x = spacing * bar + 0.2 * (drawn.across - 0.5)
    y = step * bar + 2 * drawn.along - 1
    return torch.stack([x, y], dim=-1)


def nested_moons(drawn: Draws, gap: float = 0.11, inner: float = 1.0) -> Float[Tensor, "seeds n 2"]:
    """Two half circles, the second turned upside down and shift into the first; normal noise of 0.1 on both.

    They have the radii 1 and ``inner``, and are pulled apart by ``gap``: at 0 the tip of each is at half the height of
    the other. 0 is midway between the centres of the circles.
    """
    x = (math.pi * drawn.along).cos()
    y = (math.pi * drawn.along).sin()
    upper = torch.stack([x - 0.5, y - 0.25 + gap / 2], dim=-1)
    lower = torch.stack([0.5 - inner * x, 0.25 - gap / 2 - inner * y], dim=-1)
    first_class = (drawn.classes == 0)[:, None]
    return torch.where(first_class, upper, lower) + 0.1 * drawn.noise


def shift(shape: Shape, by: tuple[float, float], drawn: Draws) -> Float[Tensor, "seeds n 2"]:
    """The points of a shape, all shift alike."""
    return shape(drawn) + torch.tensor(by, dtype=torch.float64)


SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "three_bars": {
        "default": three_bars,
        "corner": partial(shift, three_bars, (0.6, 2.09)),
        "other": partial(three_bars, step=0.0, spacing=1.0),
    },
    "nested_moons": {
        "default": nested_moons,
        "corner": partial(shift, nested_moons, (1.75, 1.05)),
        "other": partial(nested_moons, gap=-0.27, inner=0.7),
    },
}
"""The shapes of Table 1 (default), the same with all points above and to the right of 0 (corner), and another."""
DATASETS = tuple(SHAPES)


def clustered(points: Float[Tensor, "seeds n 2"], drawn: Draws) -> Float[Tensor, "seeds"]:
    """Accuracy of K-means, percent."""
    classes = drawn.classes.numpy()
    accuracies = []
    for xy, starts in zip(points.numpy(), drawn.starts.numpy(), strict=True):
        clusters, *_ = best(xy, xy[starts])
        accuracies.append(matched_accuracy(clusters, classes))
    return torch.tensor(accuracies, dtype=torch.float64)


LOWER = 0.1  # delta+, Sec. 5
UPPER = 0.5  # delta-, Sec. 5
WEIGHT = 0.1
"""lambda, Sec. 5.1."""
RATE = 0.001
"""Adam's learning rate, Sec. 5.1; its decays and epsilon are torch's (erratum L14)."""
STEPS = 1000  # in Table 1
LONGER = 2000  # twice as many, which go on from there
BATCH = 20
"""n + 1 of Algorithm 1. It divides the number of points of both datasets."""
START = 0.01  # standard deviation of a map's entries before the first step (erratum L9)
WEIGHTS = {"cl": 0.0, "lmcl_mean": WEIGHT / (BATCH * (BATCH - 1)), "lmcl_sum": WEIGHT}
"""The weight of the sum over a batch's ordered pairs: Eq. 1; Eq. 9 with R1 their mean, or their sum (erratum L5)."""
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

    def in_table_1(self) -> bool:
        return self == Setting(self.space, self.dataset)

    def points(self, drawn: Draws) -> Float[Tensor, "seeds n 2"]:
        return SHAPES[self.dataset][self.shape](drawn)


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
LEARNED = [
    setting
    for setting in SETTINGS
    if setting.space in WEIGHTS and not (setting.longer or setting.circle)
]
DEFAULTS = [place for place, setting in enumerate(LEARNED) if setting.in_table_1()]
"""Places in ``LEARNED`` of the maps of Table 1."""


def batches(
    seeds: Sequence[int], dataset: str, points: int
) -> tuple[Int[Tensor, "seeds steps n"], Float[Tensor, "seeds steps n 2"]]:
    """Indices of the points of each step, and standard normal noise, for all trials on a dataset.

    Every pass over the points has a new order and is cut into batches: each is a uniform draw without repeats.
    """
    passes = math.ceil(LONGER * BATCH / points)
    orders = []
    noises = []
    for seed in seeds:
        drawn = generator(seed, "toy batches", dataset)
        order = uniform(drawn, passes, points).argsort(dim=1)
        used = order.flatten()[: LONGER * BATCH]
        orders.append(used.reshape(LONGER, BATCH))
        noise = torch.randn(2, LONGER, BATCH, generator=drawn)
        noises.append(noise.movedim(0, -1))
    return torch.stack(orders), torch.stack(noises)


def starts(seeds: Sequence[int]) -> Float[Tensor, "settings seeds 2 2"]:
    """The maps of ``LEARNED`` before the first step. A trial has the same random start in all its settings."""
    random = START * torch.stack(
        [torch.randn(2, 2, generator=generator(seed, "toy start")) for seed in seeds]
    )
    identity = torch.eye(2).expand_as(random)
    return torch.stack([identity if setting.start == "identity" else random for setting in LEARNED])


def loss(
    p: Float[Tensor, "2 2"],
    x: Float[Tensor, "n 2"],
    perturbed: Float[Tensor, "n 2"],
    weight: Float[Tensor, ""],
) -> Float[Tensor, ""]:
    """LMCL paper, Eq. 1 and 9, with the other points of the batch as negatives, and with the sum of Eq. 10."""
    a = x @ p.T
    b = perturbed @ p.T
    penalty = distance_polarization(
        a,
        b,
        weight=1.0,
        lower=LOWER,
        upper=UPPER,
        reduction="sum",
        among="first_view",
    )
    return nce(a, b) + weight * penalty


def slopes(
    maps: Float[Tensor, "*many 2 2"],
    x: Float[Tensor, "*many n 2"],
    perturbed: Float[Tensor, "*many n 2"],
    weights: Float[Tensor, "*many"],
) -> Float[Tensor, "*many 2 2"]:
    """The gradient of each map's own loss."""
    maps = maps.detach().requires_grad_()
    of_all = torch.func.vmap(torch.func.vmap(loss))(
        maps,
        x,
        perturbed,
        weights,
    )
    return torch.autograd.grad(of_all.sum(), maps)[0]


def learn(
    seeds: Sequence[int], drawn: Mapping[str, Draws]
) -> tuple[dict[Setting, Float[Tensor, "seeds 2 2"]], Float[Tensor, "defaults seeds"]]:
    """The learned maps; for those of Table 1, also the largest magnitude in the first gradient at the printed P = 0.

    ``drawn`` holds draws of the same seeds, by dataset.
    """
    points = [setting.points(drawn[setting.dataset]).float() for setting in LEARNED]
    weight = torch.tensor([WEIGHTS[setting.space] for setting in LEARNED])
    weights = weight[:, None].expand(-1, len(seeds))
    batches_of = {
        dataset: batches(seeds, dataset, len(drawn[dataset].classes)) for dataset in DATASETS
    }

    def slope(maps: Float[Tensor, "some seeds 2 2"], step: int, places: Sequence[int]) -> Tensor:
        """The gradients at the batch of a step, for the settings at ``places`` of ``LEARNED``."""
        x = []
        noise = []
        for place in places:
            setting = LEARNED[place]
            order, normal = batches_of[setting.dataset]
            batch = order[:, step, :, None]
            x.append(points[place].take_along_dim(batch, dim=1))
            noise.append(setting.noise * normal[:, step])
        perturbed = torch.stack(x) + torch.stack(noise)
        return slopes(maps, torch.stack(x), perturbed, weights[places])

    maps = starts(seeds)
    at_zero = slope(torch.zeros_like(maps[DEFAULTS]), 0, DEFAULTS)
    optimiser = torch.optim.Adam([maps], lr=RATE)
    learned: dict[Setting, Tensor] = {}
    going = list(range(len(LEARNED)))
    for step in range(LONGER):
        if step == STEPS:
            learned = dict(zip(LEARNED, maps.clone(), strict=True))
            going = DEFAULTS  # the others are not read any more
        maps.grad = torch.zeros_like(maps)
        maps.grad[going] = slope(maps[going], step, going)
        optimiser.step()
    for place in DEFAULTS:
        longer = LEARNED[place]._replace(longer=True)
        learned[longer] = maps[place]
    return learned, at_zero.abs().amax(dim=(2, 3))


SEEDS = range(20)  # trials, as many as in Table 1
CONFIDENCE = 0.95
READINGS = {
    "euclidean": ("euclidean.{}", PRINTED),
    "cl": ("cl.{}.l9", "L9, L10"),
    "lmcl_mean": ("lmcl.{}.l5", "L5, L9, L10"),
    "lmcl_sum": ("lmcl.{}.l9", "L9, L10"),
}
"""The end of a space's claim ids, with a place for the dataset, and the reading in which the space is measured."""
TABLE_1 = [setting for setting in SETTINGS if setting.in_table_1()]
Results = dict[str, np.ndarray]


def simulate(seeds: Sequence[int]) -> Results:
    """Run all trials.

    Returns:
        accuracy [seeds, settings]: of K-means, percent.
        maps [seeds, places of Table 1, 2, 2]: the learned maps; for Euclidean space the identity.
        in_margin [seeds, places of Table 1]: the share of pairs in the margin region, percent.
        from_zero [seeds, maps of Table 1]: the largest magnitude in the gradient at P = 0.
    """
    drawn = {dataset: draws(seeds, dataset) for dataset in DATASETS}
    learned, from_zero = learn(seeds, drawn)
    identity = torch.eye(2).expand(len(seeds), 2, 2)
    maps = {setting: learned.get(setting._replace(circle=False), identity) for setting in SETTINGS}
    points = {
        setting: mapped(setting, maps[setting], drawn[setting.dataset]) for setting in SETTINGS
    }
    accuracy = []
    for setting in SETTINGS:
        seen = unit(points[setting]) if setting.circle else points[setting]
        accuracy.append(clustered(seen, drawn[setting.dataset]))
    return {
        "accuracy": torch.stack(accuracy, dim=1).numpy(),
        "maps": torch.stack([maps[setting] for setting in TABLE_1], dim=1).numpy(),
        "in_margin": torch.stack(
            [in_margin(points[setting]) for setting in TABLE_1], dim=1
        ).numpy(),
        "from_zero": from_zero.T.numpy(),
    }


def mapped(
    setting: Setting, p: Float[Tensor, "seeds 2 2"], drawn: Draws
) -> Float[Tensor, "seeds n 2"]:
    """Px for the points x of a setting's dataset."""
    return setting.points(drawn) @ p.double().mT


def in_margin(points: Float[Tensor, "seeds n 2"]) -> Float[Tensor, "seeds"]:
    """The share of pairs with LOWER <= D < UPPER, percent; D = (1 - cos)/2 (LMCL paper, Eq. 3)."""
    n = points.shape[1]
    u = unit(points)
    distance = (1 - u @ u.mT) / 2  # 0, and so outside, for a point and itself
    inside = (distance >= LOWER) & (distance < UPPER)
    return 100 * inside.sum(dim=(1, 2)) / (n * (n - 1))


def accuracies(
    results: Results, variation: str, dataset: str
) -> dict[str, Float[np.ndarray, "seeds"]]:
    """Accuracies by space, percent, under one of ``VARIATIONS``."""
    by_space = {}
    for space in SPACES:
        setting = Setting(space, dataset, **VARIATIONS[variation])  # type: ignore[arg-type]
        by_space[space] = results["accuracy"][:, SETTINGS.index(setting)]
    return by_space


def toy_clustering(context: Context) -> ExactStudy:
    """Table 1 and its variations, Fig. 3 from the first trial, and answers to their numbers and sentences."""
    results = simulate(SEEDS)
    table = table_1(results)
    as_printed = only(table, variation="default")
    tables = {
        "table1": as_printed.drop(columns=["variation", "gain", "low", "high"]),
        "table1_sensitivity": table.drop(columns=["claim", "steps"]),
        "fig3": fig3(results),
    }
    return ExactStudy(tables, list(answers(results)))


def table_1(results: Results) -> pd.DataFrame:
    """Means and standard deviations over trials, percent, for each variation, dataset and space.

    ``claim`` is the id of the printed number. ``gain`` is over conventional CL, with a paired 95 % t interval.
    """
    rows = []
    for dataset, variation in product(DATASETS, VARIATIONS):
        trials = accuracies(results, variation, dataset)
        for space, values in trials.items():
            gain = values - trials["cl"]
            low, high = mean_interval(gain, CONFIDENCE)
            claim, _ = READINGS[space]
            rows.append(
                {
                    "claim": "lmcl.table1." + claim.format(dataset),
                    "variation": variation,
                    "dataset": dataset,
                    "space": space,
                    "mean": values.mean(),
                    "std": values.std(ddof=1),
                    "gain": gain.mean(),
                    "low": low,
                    "high": high,
                    "trials": len(values),
                    "steps": STEPS,
                }
            )
    return pd.DataFrame(rows)


def fig3(results: Results) -> pd.DataFrame:
    """Points and their projections, each space scaled to a root mean square norm of 1."""
    panels = []
    first_maps = torch.from_numpy(results["maps"][0])
    for setting, p in zip(TABLE_1, first_maps, strict=True):
        drawn = draws(SEEDS[:1], setting.dataset)
        (points,) = mapped(setting, p[None], drawn)
        size = points.square().sum(dim=1).mean().sqrt()
        x, y = (points / size).T.numpy()
        columns = {
            "dataset": setting.dataset,
            "space": setting.space,
            "class": drawn.classes + 1,
            "x": x,
            "y": y,
        }
        panels.append(pd.DataFrame(columns))
    return stack(panels)


def answers(results: Results) -> Iterator[ExactNumber]:
    """The answers to Table 1's numbers, to sentences on them and on ambiguous points, and on the printed start."""
    is_zero = results["from_zero"] == 0
    yield everywhere("lmcl.table1.start_at_zero", ~is_zero)
    yield everywhere("lmcl.table1.start_at_zero.l9", is_zero, "L9")
    for dataset in DATASETS:
        yield from on_dataset(results, dataset)


def on_dataset(results: Results, dataset: str) -> Iterator[ExactNumber]:
    trials = accuracies(results, "default", dataset)
    inside = {}
    for place, setting in enumerate(TABLE_1):
        if setting.dataset == dataset:
            inside[setting.space] = results["in_margin"][:, place]
    for space, (claim, reading) in READINGS.items():
        # The shapes were chosen to match the Euclidean row.
        kind = calibrated if space == "euclidean" else over_seeds
        yield kind("lmcl.table1." + claim.format(dataset), trials[space], reading)
    yield effect(
        f"lmcl.table1.cl_gain.{dataset}.l9",
        trials["cl"],
        trials["euclidean"],
        "L9, L10",
    )
    for space, number in (("lmcl_mean", "l5"), ("lmcl_sum", "l9")):
        _, reading = READINGS[space]
        yield effect(
            f"lmcl.table1.lmcl_gain.{dataset}.{number}",
            trials[space],
            trials["cl"],
            reading,
        )
        yield effect(
            f"lmcl.fig3.ambiguous.{dataset}.{number}",
            inside["cl"],
            inside[space],
            reading,
        )
