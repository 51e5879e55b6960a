"""Embedding norms of latent classes, by density and by frequency (norms paper, Sec. 4.2; Fig. 2b, 2c and S2).

Data and networks come from ``latent_networks``. Norms are of embeddings before normalisation, in double precision.
Where the text is silent, the authors' code decides (erratum N8).

Shapes: s seeds, n points of a model, d latent dimensions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import stats
from scipy.spatial import cKDTree
from torch import Tensor

from hypersphere.objectives.geometry import unit
from hypersphere.simulations.latent_classes import networks
from hypersphere.simulations.latent_classes.networks import Network, Setting
from hypersphere.simulations.study import PRINTED, Answer, Context, Study, effect
from hypersphere.t_test import mean_interval

SEEDS = range(6)
CLASSES, DIMENSIONS = 4, 11  # App. B.2: S^10
CLASSES_S2, DIMENSIONS_S2 = 8, 3
NEIGHBOUR = 10  # Sec. 4.2
CONFIDENCE = 0.95
DRAWN = 4  # every fourth point of Fig. S2 is drawn

VARIANCE, DEVIATION, AUTHORS = 0.1**0.5, 0.1, 1.0  # N(c, 0.1 I) in two readings; the authors' imbalanced run
SETTINGS = (
    Setting(VARIANCE, balanced=True),
    Setting(DEVIATION, balanced=True),
    Setting(VARIANCE, balanced=False),
    Setting(DEVIATION, balanced=False),
    Setting(AUTHORS, balanced=False),
)
UNSEEN = Setting(DEVIATION, balanced=True)


class Panel(NamedTuple):
    """One reading of a figure."""

    name: str
    setting: int
    """Index of the network's setting."""
    reading: str
    suffix: str
    """Ends the ids of claims in this reading."""


# The authors' notebook draws Fig. 2b with new centres, points and matrix, embedded by the last network of Fig. 2c.
DENSITY = (
    Panel("variance 0.1", 0, PRINTED, ""),
    Panel("standard deviation 0.1", 1, "N8", ".n8"),
    Panel("new classes", 4, "N8", ".n8_unseen"),
)
FREQUENCY = (
    Panel("variance 0.1", 2, PRINTED, ""),
    Panel("standard deviation 0.1", 3, "N8", ".n8"),
    Panel("standard deviation 1", 4, "N8", ".n8_unit"),
)


def latent_classes(context: Context) -> Study:
    """Fig. 2b, 2c and S2, and the sentences of Sec. 4.2 over seeds."""
    results = simulate(SEEDS)
    fig2b, of_density = _density(results)
    fig2c, of_frequency = _frequency(results["class_norm"])
    return Study({"fig2b": fig2b, "fig2c": fig2c, "figS2": depict(0)}, [*of_density, *of_frequency])


def simulate(seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Train every setting from every seed.

    Returns:
        class_norm [s, settings, records, classes]: mean norms, before training and after every fifth epoch.
        norm, distance [s, panels of Fig. 2b, n]: norm of each embedding, and cosine distance to its tenth neighbour.
        norm_untrained, distance_untrained: the same before training.
    """
    points = networks.observe(seeds, SETTINGS, CLASSES, DIMENSIONS, "training")
    unseen = networks.observe(seeds, [UNSEEN], CLASSES, DIMENSIONS, "unseen")
    network = networks.initial(seeds, len(SETTINGS), DIMENSIONS)
    untrained = Network(*(parameter.clone() for parameter in network))
    class_norm = networks.train(network, points, seeds)
    found = {"class_norm": class_norm.unflatten(0, (len(seeds), -1)).numpy()}
    for suffix, model in (("", network), ("_untrained", untrained)):
        embeddings = model(points).unflatten(0, (len(seeds), -1))
        last = Network(*(parameter[DENSITY[-1].setting :: len(SETTINGS)] for parameter in model))(unseen)
        z = torch.stack([*(embeddings[:, panel.setting] for panel in DENSITY[:-1]), last], dim=1)
        distance = np.stack([neighbour_distance(model_z) for model_z in z.flatten(0, 1)])  # a search tree for each
        found[f"norm{suffix}"] = torch.linalg.vector_norm(z, dim=-1).numpy()
        found[f"distance{suffix}"] = distance.reshape(z.shape[:3])
    return found


def neighbour_distance(z: Float[Tensor, "n d"]) -> Float[np.ndarray, "n"]:
    """1 - cos to the tenth nearest other point: half the squared chord. Sec. 4.2 takes it for the inverse density."""
    u = unit(z).numpy()
    chord, _ = cKDTree(u).query(u, [NEIGHBOUR + 1])  # the first is the point itself
    return chord[:, 0] ** 2 / 2


def quarter_means(value: Float[np.ndarray, "s n"], distance: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s 4"]:
    """Mean value in each quarter of the points, sorted by distance to the tenth neighbour, the densest first."""
    ranked = np.take_along_axis(value, distance.argsort(axis=1, kind="stable"), axis=1)
    return ranked.reshape(len(value), 4, -1).mean(axis=2)


def rank_correlations(norm: Float[np.ndarray, "s n"], distance: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s"]:
    """Spearman's correlation of the norm with the density, which is minus that with the distance."""
    return np.array([-stats.spearmanr(a, b).statistic for a, b in zip(norm, distance, strict=True)])


def _answers(artifact: str, panel: Panel, arms: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[Answer]:
    return [
        effect(f"norms.{artifact}.{name}{panel.suffix}", variant.tolist(), baseline.tolist(), panel.reading)
        for name, (variant, baseline) in arms.items()
    ]


def _mean(values: Float[np.ndarray, "s"], prefix: str = "") -> dict[str, Any]:
    low, high = mean_interval(values, CONFIDENCE)
    return {f"{prefix}value": float(values.mean()), f"{prefix}low": low, f"{prefix}high": high}


def _density(results: dict[str, np.ndarray]) -> tuple[pd.DataFrame, list[Answer]]:
    """By panel: points of the first seed; over seeds, the mean norm of each quarter and the rank correlations."""
    tables, answers = [], []
    label = np.repeat(range(1, CLASSES + 1), networks.PER_CLASS)
    for i, panel in enumerate(DENSITY):
        norm, distance = results["norm"][:, i], results["distance"][:, i]
        quarters = quarter_means(norm, distance)
        rank = rank_correlations(norm, distance)
        before = rank_correlations(results["norm_untrained"][:, i], results["distance_untrained"][:, i])
        arms = {
            "dense": (quarters[:, 0], quarters[:, -1]),
            "rank": (rank, np.zeros_like(rank)),
            "training": (rank, before),
        }
        answers += _answers("fig2b", panel, arms)
        distances = quarter_means(distance, distance).mean(axis=0)
        rows: list[dict[str, Any]] = [
            {"kind": "quarter", "label": k + 1, "distance": distances[k], **_mean(quarters[:, k])} for k in range(4)
        ]
        rows += [{"kind": "rank", **_mean(rank)}, {"kind": "rank_untrained", **_mean(before)}]
        points = pd.DataFrame({"kind": "point", "label": label, "distance": distance[0], "value": norm[0]})
        both = pd.concat([points, pd.DataFrame(rows).assign(n=len(norm))])
        tables.append(both.assign(panel=panel.name, epochs=networks.EPOCHS))
    columns = ["panel", "kind", "label", "distance", "value", "low", "high", "n", "epochs"]
    return pd.concat(tables, ignore_index=True)[columns], answers


def _frequency(class_norm: Float[np.ndarray, "s settings records classes"]) -> tuple[pd.DataFrame, list[Answer]]:
    """Mean norms over seeds, and how far each class is from the mean of all classes of its own seed (``apart``)."""
    rows, answers = [], []
    for panel in FREQUENCY:
        norm = class_norm[:, panel.setting]
        apart = norm - norm.mean(axis=-1, keepdims=True)
        for c, probability in enumerate(networks.class_probabilities(CLASSES).tolist()):
            for record in range(norm.shape[1]):
                row = {"panel": panel.name, "label": c + 1, "probability": probability}
                row |= {"epoch": record * networks.RECORDED, **_mean(norm[:, record, c]), "n": len(norm)}
                rows.append(row | _mean(apart[:, record, c], "apart_"))
        first, last = norm[:, 0], norm[:, -1]
        arms = {f"class{c + 1}_class{c + 2}": (last[:, c], last[:, c + 1]) for c in range(CLASSES - 1)}
        arms["growth"] = (last.mean(axis=1), first.mean(axis=1))
        for balanced in (i for i in (0, 1) if SETTINGS[i].noise == SETTINGS[panel.setting].noise):
            gain = last - class_norm[:, balanced, -1]  # over the same class and seed at equal frequency
            arms["gain"] = (gain[:, 0], gain[:, -1])
        answers += _answers("fig2c", panel, arms)
    return pd.DataFrame(rows), answers


def depict(seed: int) -> pd.DataFrame:
    """Fig. S2: eight classes in three dimensions, latent and learned, with the mean of each class's points."""
    settings = [SETTINGS[panel.setting] for panel in DENSITY[:2]]
    points = networks.observe([seed], settings, CLASSES_S2, DIMENSIONS_S2, "depiction")
    network = networks.initial([seed], len(settings), DIMENSIONS_S2)
    networks.train(network, points, [seed])
    tables, label = [], np.repeat(range(1, CLASSES_S2 + 1), networks.PER_CLASS)
    for space, x in (("latent", points.latent), ("embedding", network(points))):
        for panel, positions in zip(DENSITY, x.numpy(), strict=False):
            table = pd.DataFrame(positions, columns=["x", "y", "z"]).assign(label=label)
            means = table.groupby("label", as_index=False).mean()
            rows = pd.concat([table[::DRAWN].assign(kind="point"), means.assign(kind="mean")])
            tables.append(rows.assign(panel=panel.name, space=space, per_class=networks.PER_CLASS))
    columns = ["panel", "space", "kind", "label", "x", "y", "z", "per_class", "epochs"]
    return pd.concat(tables, ignore_index=True).assign(epochs=networks.EPOCHS)[columns]
