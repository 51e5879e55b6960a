"""LMCL paper, Table 1 and Fig. 3: K-means on three bars and two moons, before and after a linear map is learned.

A trial draws its points, batches, augmentations, and the starts of the map and of K-means. The paper leaves open most
of what Table 1 depends on, so a second table shows Table 1 under other choices.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.objectives.geometry import unit
from hypersphere.simulations.study import PRINTED, Answer, Context, Study, calibrated, counted, effect, over_seeds
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, Draws, clustered, draws
from hypersphere.simulations.toy_clustering.maps import (
    LOWER,
    SETTINGS,
    SPACES,
    STEPS,
    UPPER,
    VARIATIONS,
    Setting,
    learn,
)
from hypersphere.t_test import mean_interval

SEEDS = range(20)
"""Trials, as many as in Table 1."""
CONFIDENCE = 0.95
READINGS = {
    "euclidean": ("euclidean.{}", PRINTED),
    "cl": ("cl.{}.l9", "L9, L10"),
    "lmcl_mean": ("lmcl.{}.l5", "L5, L9, L10"),
    "lmcl_sum": ("lmcl.{}.l9", "L9, L10"),
}
"""By space: the end of its claims' ids, with a place for the dataset, and the reading in which it is measured."""
TABLE_1 = [setting for setting in SETTINGS if setting == Setting(setting.space, setting.dataset)]
Results = dict[str, np.ndarray]


def toy_clustering(context: Context) -> Study:
    """Table 1 and its variations, and Fig. 3 from the first trial."""
    results = simulate(SEEDS)
    table_1, others = sensitivity(results)
    tables = {"table1": table_1, "table1_sensitivity": others, "fig3": figure_3(results["maps"][0])}
    return Study(tables, answers(results))


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
    maps = {s: learned.get(s._replace(circle=False), identity) for s in SETTINGS}
    points = {s: mapped(s, p, drawn[s.dataset]) for s, p in maps.items()}
    accuracy = [clustered(unit(xy) if s.circle else xy, drawn[s.dataset]) for s, xy in points.items()]
    results = {
        "accuracy": torch.stack(accuracy, dim=1),
        "maps": torch.stack([maps[s] for s in TABLE_1], dim=1),
        "in_margin": torch.stack([in_margin(points[s]) for s in TABLE_1], dim=1),
        "from_zero": from_zero.T,
    }
    return {name: part.numpy() for name, part in results.items()}


def mapped(setting: Setting, p: Float[Tensor, "seeds 2 2"], drawn: Draws) -> Float[Tensor, "seeds n 2"]:
    """Px for the points x of a setting's dataset."""
    return SHAPES[setting.dataset][setting.shape](drawn) @ p.double().mT


def in_margin(points: Float[Tensor, "seeds n 2"]) -> Float[Tensor, "seeds"]:
    """The share of pairs with LOWER <= D < UPPER, percent; D = (1 - cos)/2 (LMCL paper, Eq. 3)."""
    u, n = unit(points), points.shape[1]
    distance = (1 - u @ u.mT) / 2  # 0, and so outside, for a point and itself
    return 100 * ((distance >= LOWER) & (distance < UPPER)).sum(dim=(1, 2)) / (n * (n - 1))


def accuracies(results: Results, variation: str, dataset: str) -> dict[str, Float[np.ndarray, "seeds"]]:
    """Accuracies by space, percent, under one of ``VARIATIONS``."""
    settings = {space: Setting(space, dataset)._replace(**VARIATIONS[variation]) for space in SPACES}  # type: ignore[arg-type]
    return {space: results["accuracy"][:, SETTINGS.index(setting)] for space, setting in settings.items()}


def sensitivity(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 1, and Table 1 under other choices: means and standard deviations over trials, percent.

    ``claim`` is the id of the printed number. ``gain`` is over conventional CL, with a paired 95 % t interval.
    """
    rows = []
    for variation, dataset in product(VARIATIONS, DATASETS):
        trials = accuracies(results, variation, dataset)
        for space, values in trials.items():
            gain = values - trials["cl"]
            low, high = mean_interval(gain, CONFIDENCE)
            about = {"variation": variation, "dataset": dataset, "space": space}
            spread = {"mean": values.mean(), "std": values.std(ddof=1)}
            gained = {"gain": gain.mean(), "low": low, "high": high}
            claim = "lmcl.table1." + READINGS[space][0].format(dataset)
            rows.append({"claim": claim, **about, **spread, **gained, "trials": len(values), "steps": STEPS})
    table = pd.DataFrame(rows)
    default = table[table["variation"] == "default"].drop(columns=["variation", "gain", "low", "high"])
    return default, table.drop(columns=["claim", "steps"])


def figure_3(maps: Float[np.ndarray, "places 2 2"]) -> pd.DataFrame:
    """Points of the first trial and their projections. Each space is scaled to a root mean square norm of 1."""
    panels = []
    for setting, p in zip(TABLE_1, torch.from_numpy(maps), strict=True):
        drawn = draws(SEEDS[:1], setting.dataset)
        points = mapped(setting, p[None], drawn)[0]
        x, y = (points / points.square().sum(dim=1).mean().sqrt()).T.numpy()
        columns = {"dataset": setting.dataset, "space": setting.space, "class": drawn.classes + 1, "x": x, "y": y}
        panels.append(pd.DataFrame(columns))
    return pd.concat(panels, ignore_index=True)


def answers(results: Results) -> list[Answer]:
    """Answers to Table 1's numbers, to sentences on them and on ambiguous points, and on the printed start."""
    is_zero = results["from_zero"] == 0
    collected = [
        counted("lmcl.table1.start_at_zero", int((~is_zero).sum()), is_zero.size),
        counted("lmcl.table1.start_at_zero.l9", int(is_zero.sum()), is_zero.size, "L9"),
    ]
    for dataset in DATASETS:
        trials = {space: values.tolist() for space, values in accuracies(results, "default", dataset).items()}
        inside = {s.space: results["in_margin"][:, k].tolist() for k, s in enumerate(TABLE_1) if s.dataset == dataset}
        for space, (ending, reading) in READINGS.items():
            # The shapes were chosen to match the Euclidean row.
            kind = calibrated if space == "euclidean" else over_seeds
            collected.append(kind("lmcl.table1." + ending.format(dataset), trials[space], reading))
        collected.append(effect(f"lmcl.table1.cl_gain.{dataset}.l9", trials["cl"], trials["euclidean"], "L9, L10"))
        for space, number in (("lmcl_mean", "l5"), ("lmcl_sum", "l9")):
            reading = READINGS[space][1]
            collected.append(effect(f"lmcl.table1.lmcl_gain.{dataset}.{number}", trials[space], trials["cl"], reading))
            collected.append(effect(f"lmcl.fig3.ambiguous.{dataset}.{number}", inside["cl"], inside[space], reading))
    return collected
