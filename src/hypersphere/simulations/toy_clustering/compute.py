"""LMCL paper, Table 1 and Fig. 3: K-means on three bars and two moons, before and after a linear map is learned.

A trial draws its points, batches, augmentations, and the starts of the map and of K-means. The paper leaves open most
of what Table 1 depends on, so a second table shows Table 1 under other choices.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from scipy import stats
from torch import Tensor

from hypersphere.objectives.geometry import unit
from hypersphere.simulations.study import PRINTED, Answer, Context, Study, calibrated, counted, effect, over_seeds
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, Draws, clustered, draws, euclidean
from hypersphere.simulations.toy_clustering.maps import (
    DEFAULTS,
    LOWER,
    METHODS,
    SETTINGS,
    STEPS,
    UPPER,
    VARIATIONS,
    Setting,
    learn,
)

SEEDS = range(20)
"""Trials, as many as in Table 1."""
BINS = 50
"""Bins of a histogram of D. Both thresholds are edges of bins."""
SPACES = ("euclidean", *METHODS)
READINGS = {
    "euclidean": ("euclidean.{}", PRINTED),
    "cl": ("cl.{}.l9", "L9, L10"),
    "lmcl_mean": ("lmcl.{}.l5", "L5, L9, L10"),
    "lmcl_sum": ("lmcl.{}.l9", "L9, L10"),
}
"""By space: the end of its claims' ids, with a place for the dataset, and the reading in which it is measured."""


def toy_clustering(context: Context) -> Study:
    """Table 1 and its variations, Fig. 3 from the first trial, and histograms of distances."""
    results = simulate(SEEDS)
    tables = {
        "table1": table_1(results),
        "table1_sensitivity": sensitivity(results),
        "fig3": figure_3(results["maps"][0]),
        "toy_distances": distances(results),
    }
    return Study(tables, answers(results))


def simulate(seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Run all trials: accuracies by setting, and shares of pairs by dataset and space, all in percent."""
    drawn = {dataset: draws(seeds, dataset) for dataset in DATASETS}
    maps = learn(seeds, drawn)
    results = {"from_zero": maps.from_zero.T, "from_start": maps.from_start.T, "maps": maps.learned.movedim(1, 0)}
    defaults = [SETTINGS[index] for index in DEFAULTS]
    for name, learned, settings, circle in (
        ("learned", maps.learned, SETTINGS, False),
        ("longer", maps.longer, defaults, False),
        ("circle", maps.learned[DEFAULTS], defaults, True),
    ):
        results[name] = torch.empty(len(seeds), len(settings), dtype=torch.float64)
        for dataset in DATASETS:
            indices = [index for index, setting in enumerate(settings) if setting.dataset == dataset]
            mapped = projected(learned[indices], [settings[index] for index in indices], drawn[dataset])
            results[name][:, indices] = clustered(unit(mapped) if circle else mapped, drawn[dataset])
    results["euclidean"] = torch.stack([euclidean(list(SHAPES[d].values()), drawn[d]) for d in DATASETS], dim=1)
    points = {dataset: SHAPES[dataset]["default"].points(drawn[dataset])[None] for dataset in DATASETS}
    results["euclidean_circle"] = torch.cat([clustered(unit(points[d]), drawn[d]) for d in DATASETS], dim=1)
    histograms = []
    for dataset in DATASETS:
        indices = [index for index in DEFAULTS if SETTINGS[index].dataset == dataset]
        mapped = projected(maps.learned[indices], [SETTINGS[index] for index in indices], drawn[dataset])
        spaces = torch.cat([points[dataset], mapped])
        histograms.append(torch.stack([pair_counts(space, drawn[dataset].classes) for space in spaces], dim=1))
    counts = torch.stack(histograms, dim=1)
    results["histogram"] = 100 * counts / counts.sum(dim=-1, keepdim=True)
    inside = counts.sum(dim=3)[..., round(LOWER * BINS) : round(UPPER * BINS)].sum(dim=3)
    results["in_margin"] = 100 * inside / counts.sum(dim=(3, 4))
    return {name: part.numpy() for name, part in results.items()}


def projected(
    maps: Float[Tensor, "settings seeds 2 2"], settings: Sequence[Setting], drawn: Draws
) -> Float[Tensor, "settings seeds n 2"]:
    """Px for the points x of one dataset."""
    points = torch.stack([SHAPES[setting.dataset][setting.shape].points(drawn) for setting in settings])
    x, y = points[..., None, 0], points[..., None, 1]
    wide = maps.to(points.dtype)[:, :, None]
    return wide[..., 0] * x + wide[..., 1] * y


def pair_counts(points: Float[Tensor, "seeds n 2"], classes: Int[Tensor, "n"]) -> Int[Tensor, "seeds 2 bins"]:
    """Histograms of D = (1 - cos)/2 (LMCL paper, Eq. 3) over pairs i < j of the same class, then of different ones."""
    u = unit(points).float()
    i, j = torch.triu_indices(len(classes), len(classes), offset=1)
    distance = (1 - u[:, i, 0] * u[:, j, 0] - u[:, i, 1] * u[:, j, 1]) / 2
    kind = (classes[i] != classes[j]).long() + 2 * torch.arange(len(points))[:, None]
    bins = (distance * BINS).long().clamp(0, BINS - 1) + BINS * kind
    return bins.flatten().bincount(minlength=2 * len(points) * BINS).reshape(-1, 2, BINS)


def accuracies(results: dict[str, np.ndarray], variation: str, dataset: str) -> dict[str, Float[np.ndarray, "seeds"]]:
    """Accuracies by space, percent, under ``variation``: one of ``VARIATIONS``, ``circle`` or ``longer``.

    ``circle`` is K-means on Px/|Px|, ``longer`` has more steps.
    """
    of_defaults = variation in ("circle", "longer")
    settings = [SETTINGS[index] for index in DEFAULTS] if of_defaults else SETTINGS
    columns = results[variation] if of_defaults else results["learned"]
    varied = {} if of_defaults else VARIATIONS[variation]
    shape = str(varied.get("shape", "default"))
    if variation == "circle":
        raw = results["euclidean_circle"][:, DATASETS.index(dataset)]
    else:
        raw = results["euclidean"][:, DATASETS.index(dataset), list(SHAPES[dataset]).index(shape)]
    chosen = [Setting(method, dataset)._replace(**varied) for method in METHODS]  # type: ignore[arg-type]
    places = [settings.index(setting) for setting in chosen]
    return {"euclidean": raw, **{method: columns[:, index] for method, index in zip(METHODS, places, strict=True)}}


def table_1(results: dict[str, np.ndarray]) -> pd.DataFrame:
    """Means and standard deviations over trials, percent. Column ``claim`` is the id of the printed number."""
    return pd.DataFrame(
        {
            "claim": "lmcl.table1." + READINGS[space][0].format(dataset),
            "dataset": dataset,
            "space": space,
            "mean": trials.mean(),
            "std": trials.std(ddof=1),
            "trials": len(trials),
            "steps": STEPS,
        }
        for dataset in DATASETS
        for space, trials in accuracies(results, "default", dataset).items()
    )


def sensitivity(results: dict[str, np.ndarray]) -> pd.DataFrame:
    """Table 1 under other choices. ``gain`` is over conventional CL, with a paired 95 % t interval over trials."""
    rows = []
    for variation, dataset in product((*VARIATIONS, "circle", "longer"), DATASETS):
        trials = accuracies(results, variation, dataset)
        for space, values in trials.items():
            gain = values - trials["cl"]
            half = stats.t.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
            rows.append(
                {
                    "variation": variation,
                    "dataset": dataset,
                    "space": space,
                    "mean": values.mean(),
                    "std": values.std(ddof=1),
                    "gain": gain.mean(),
                    "low": gain.mean() - half,
                    "high": gain.mean() + half,
                    "trials": len(values),
                }
            )
    return pd.DataFrame(rows)


def figure_3(maps: Float[np.ndarray, "settings 2 2"]) -> pd.DataFrame:
    """Points of the first trial and their projections. Each space is scaled to a root mean square norm of 1."""
    panels = []
    for dataset in DATASETS:
        drawn = draws(SEEDS[:1], dataset)
        indices = [index for index in DEFAULTS if SETTINGS[index].dataset == dataset]
        mapped = projected(torch.from_numpy(maps[indices])[:, None], [SETTINGS[index] for index in indices], drawn)
        raw = SHAPES[dataset]["default"].points(drawn)
        for space, points in zip(SPACES, torch.cat([raw[None], mapped])[:, 0], strict=True):
            x, y = (points / points.square().sum(dim=1).mean().sqrt()).T.numpy()
            panels.append(
                pd.DataFrame({"dataset": dataset, "space": space, "class": drawn.classes + 1, "x": x, "y": y})
            )
    return pd.concat(panels, ignore_index=True)


def distances(results: dict[str, np.ndarray]) -> pd.DataFrame:
    """Histograms of D: percent of a kind's pairs in each bin, mean and standard deviation over trials."""
    shares = results["histogram"]
    return pd.DataFrame(
        {
            "dataset": dataset,
            "space": space,
            "pairs": pairs,
            "from": index / BINS,
            "to": (index + 1) / BINS,
            "mean": shares[:, d, s, p, index].mean(),
            "std": shares[:, d, s, p, index].std(ddof=1),
            "lower": LOWER,
            "upper": UPPER,
            "in_margin": results["in_margin"][:, d, s].mean(),
            "trials": len(shares),
        }
        for d, dataset in enumerate(DATASETS)
        for s, space in enumerate(SPACES)
        for p, pairs in enumerate(("same class", "different classes"))
        for index in range(BINS)
    )


def answers(results: dict[str, np.ndarray]) -> list[Answer]:
    """Answers to Table 1's numbers, to sentences on them and on ambiguous points, and on the printed start."""
    is_zero = results["from_zero"] == 0
    collected = [
        counted("lmcl.table1.start_at_zero", int((~is_zero).sum()), is_zero.size),
        counted("lmcl.table1.start_at_zero.l9", int(is_zero.sum()), is_zero.size, "L9"),
    ]
    for d, dataset in enumerate(DATASETS):
        trials = {space: values.tolist() for space, values in accuracies(results, "default", dataset).items()}
        inside = dict(zip(SPACES, results["in_margin"][:, d].T.tolist(), strict=True))
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
