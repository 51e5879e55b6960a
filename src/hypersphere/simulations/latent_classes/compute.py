"""Embedding norms of latent classes, by density and by frequency (norms paper, Sec. 4.2, App. B.2; Fig. 2b, 2c and S2).

Points of latent classes on a sphere, and networks that learn them by supervised InfoNCE. Each combination of seed and
setting is a model of its own. All are trained together, and the settings of a seed share its random numbers. Training
is in single precision, as in the authors' code: three times as fast as in double. Norms are of embeddings before
normalisation, in double precision. Where the text is silent, the authors' code decides (erratum N8).

Shapes: s seeds, m models (seeds, and within a seed settings), n points of a model, b of a batch, d latent dimensions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from scipy import stats
from scipy.spatial import cKDTree
from torch import Tensor

from hypersphere import prng
from hypersphere.objectives.geometry import unit
from hypersphere.simulations.study import PRINTED, Context, ExactNumber, ExactStudy, effect
from hypersphere.t_test import mean_interval

PER_CLASS, OBSERVED, BATCH = 1000, 64, 128  # App. B.2
EPOCHS = 50  # Fig. S2; Fig. 2 does not state its own
HIDDEN, RATE = 64, 0.01  # the authors' code (erratum N8)
SCALE = 10.0  # the authors' code: standard deviation of the random matrix's entries
RECORDED = 5  # epochs between two records of the norms


class Setting(NamedTuple):
    """How a model's points are drawn."""

    noise: float
    """Standard deviation of each latent coordinate."""
    balanced: bool


class Points(NamedTuple):
    """Points to train models on, or to embed: the observations are ``latent @ matrix``.

    A layer multiplies the matrix with its weights instead of computing the observations: a sixth of the work.
    """

    latent: Float[Tensor, "m n d"]
    matrix: Float[Tensor, "m d observed"]
    labels: Int[Tensor, "m n"]


class Network(NamedTuple):
    """Two linear layers with a ReLU between them, one pair for each model."""

    w1: Float[Tensor, "m observed hidden"]
    b1: Float[Tensor, "m 1 hidden"]
    w2: Float[Tensor, "m hidden d"]
    b2: Float[Tensor, "m 1 d"]

    def __call__(self, x: Float[Tensor, "m n d"], matrix: Float[Tensor, "m d observed"]) -> Float[Tensor, "m n d"]:
        """Embeddings, not normalised, of the observations ``x @ matrix``."""
        hidden = torch.baddbmm(self.b1, x, torch.bmm(matrix, self.w1)).relu()
        return torch.baddbmm(self.b2, hidden, self.w2)


def _generators(seeds: Sequence[int], *purpose: str | int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(prng.torch_seed(seed, "latent_classes", *purpose)) for seed in seeds]


def observe(seeds: Sequence[int], settings: Sequence[Setting], classes: int, d: int, purpose: str) -> Points:
    """App. B.2: latent points unit(N(centre, noise² I)) around uniform centres, and their images under a random matrix.

    Balanced classes have equal size and come one after the other; otherwise the class of each point is drawn.
    """
    n = classes * PER_CLASS
    equal_classes = torch.arange(classes).repeat_interleave(PER_CLASS)
    parts = []
    for generator in _generators(seeds, purpose):
        centres = unit(torch.randn(classes, d, generator=generator, dtype=torch.float64))
        noise = torch.randn(n, d, generator=generator, dtype=torch.float64)
        matrix = SCALE * torch.randn(d, OBSERVED, generator=generator, dtype=torch.float64)
        share = torch.rand(n, generator=generator, dtype=torch.float64)
        drawn_classes = torch.searchsorted(class_probabilities(classes).cumsum(0)[:-1], share, right=True)
        labels = torch.stack([equal_classes if setting.balanced else drawn_classes for setting in settings])
        latent = unit(centres[labels] + torch.stack([setting.noise * noise for setting in settings]))
        parts.append((latent.float(), matrix.float().expand(len(settings), -1, -1), labels))
    return Points(*(torch.cat(column) for column in zip(*parts, strict=True)))


def class_probabilities(classes: int) -> Float[Tensor, "classes"]:
    """Sec. 4.2: "~1/2", "~1/4" and so on, normalised, as over four classes they sum to 15/16 (erratum N8)."""
    weights = 0.5 ** torch.arange(1, classes + 1, dtype=torch.float64)
    return weights / weights.sum()


def initial(seeds: Sequence[int], settings: int, d: int) -> Network:
    """Weights and biases uniform within 1/sqrt(inputs), as torch starts a linear layer; one draw for each seed."""
    generators = _generators(seeds, "weights", d)
    parameters = []
    for inputs, outputs in ((OBSERVED, HIDDEN), (HIDDEN, d)):
        for rows in (inputs, 1):
            uniform = torch.stack([torch.rand(rows, outputs, generator=generator) for generator in generators])
            parameters.append(((2 * uniform - 1) / inputs**0.5).repeat_interleave(settings, dim=0))
    return Network(*parameters)


def train(network: Network, points: Points, seeds: Sequence[int]) -> Float[Tensor, "m records classes"]:
    """Stochastic gradient descent, in place, on shuffled batches; a last batch that is not full is left out.

    The mean norms of the classes' embeddings are those before training and after every fifth epoch.
    """
    models, n = points.labels.shape
    generators = _generators(seeds, "order", n)
    model = torch.arange(models)[:, None]
    norms = [class_norms(network, points)]
    optimiser = torch.optim.SGD([parameter.requires_grad_() for parameter in network], lr=RATE)
    for epoch in range(1, EPOCHS + 1):
        order = torch.stack([torch.randperm(n, generator=generator) for generator in generators])
        batches = order[:, : n // BATCH * BATCH].unflatten(1, (-1, BATCH)).transpose(0, 1)
        batches = batches.repeat_interleave(models // len(seeds), dim=1)  # [batches, m, b]
        for x, positive in zip(points.latent[model, batches], positives(points.labels[model, batches]), strict=True):
            optimiser.zero_grad()
            loss(network, x, points.matrix, positive).backward()
            optimiser.step()
        if epoch % RECORDED == 0:
            norms.append(class_norms(network, points))
    for parameter in network:
        parameter.requires_grad_(False)
    return torch.stack(norms, dim=1)


def positives(labels: Int[Tensor, "*m b"]) -> Int[Tensor, "*m b"]:
    """For each point the next one of its class in the batch, cyclically: in random order, a random other point.

    A point that is alone in its class is its own positive.
    """
    order = labels.argsort(dim=-1, stable=True)
    ranked = labels.gather(-1, order)
    rank = torch.arange(labels.shape[-1]).expand_as(labels)
    last = ranked != ranked.roll(-1, dims=-1)
    last[..., -1] = True
    first = torch.searchsorted(ranked, ranked)  # of the same class
    successor = torch.where(last, first, rank + 1)
    return torch.empty_like(labels).scatter_(-1, order, order.gather(-1, successor))


def loss(
    network: Network, x: Float[Tensor, "m b d"], matrix: Float[Tensor, "m d observed"], positive: Int[Tensor, "m b"]
) -> Float[Tensor, ""]:
    """Eq. 1 at temperature 1: the mean over the anchors that have a positive, added over models.

    A point is an anchor, and a candidate of every other anchor; the positive's term is in the sum (erratum N10).
    """
    u = unit(network(x, matrix))
    cosine = torch.bmm(u, u.mT)
    itself = torch.eye(x.shape[1], dtype=torch.bool)
    candidates = cosine.exp().masked_fill(itself, 0).sum(dim=2).log()  # no cosine is too large for exp
    away = candidates - cosine.gather(2, positive[..., None])[..., 0]
    anchor = positive != torch.arange(x.shape[1])
    return ((away * anchor).sum(dim=1) / anchor.sum(dim=1).clamp_min(1)).sum()


@torch.no_grad()
def class_norms(network: Network, points: Points) -> Float[Tensor, "m classes"]:
    """Mean norm of the embeddings of each class's points."""
    norms = torch.linalg.vector_norm(network(points.latent, points.matrix).double(), dim=-1)
    empty = norms.new_zeros(len(norms), int(points.labels.max()) + 1)
    total = empty.scatter_add(1, points.labels, norms)
    return total / empty.scatter_add(1, points.labels, torch.ones_like(norms))


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


def simulate(seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Train every setting from every seed.

    Returns:
        class_norm [s, settings, records, classes]: mean norms, before training and after every fifth epoch.
        norm, distance [s, panels of Fig. 2b, n]: norm of each embedding, and cosine distance to its tenth neighbour.
        norm_untrained, distance_untrained: the same before training.
    """
    points = observe(seeds, SETTINGS, CLASSES, DIMENSIONS, "training")
    unseen = observe(seeds, [Setting(DEVIATION, balanced=True)], CLASSES, DIMENSIONS, "unseen")
    network = initial(seeds, len(SETTINGS), DIMENSIONS)
    untrained = Network(*(parameter.clone() for parameter in network))
    class_norm = train(network, points, seeds)
    found = {"class_norm": class_norm.unflatten(0, (len(seeds), -1)).numpy()}
    for suffix, model in (("", network), ("_untrained", untrained)):
        embeddings = model(points.latent, points.matrix).unflatten(0, (len(seeds), -1))
        last = Network(*(parameter[DENSITY[-1].setting :: len(SETTINGS)] for parameter in model))
        seen = [embeddings[:, panel.setting] for panel in DENSITY[:-1]]
        z = torch.stack([*seen, last(unseen.latent, unseen.matrix)], dim=1).double()
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


def _mean(values: Float[np.ndarray, "s"]) -> dict[str, float]:
    low, high = mean_interval(values, CONFIDENCE)
    return {"value": float(values.mean()), "low": low, "high": high}


def depict(seed: int) -> pd.DataFrame:
    """Fig. S2: eight classes in three dimensions, latent and learned, with the mean of each class's points."""
    settings = [SETTINGS[panel.setting] for panel in DENSITY[:2]]
    points = observe([seed], settings, CLASSES_S2, DIMENSIONS_S2, "depiction")
    network = initial([seed], len(settings), DIMENSIONS_S2)
    train(network, points, [seed])
    tables, label = [], np.repeat(range(1, CLASSES_S2 + 1), PER_CLASS)
    for space, x in (("latent", points.latent), ("embedding", network(points.latent, points.matrix).double())):
        for panel, positions in zip(DENSITY, x.numpy(), strict=False):
            table = pd.DataFrame(positions, columns=["x", "y", "z"]).assign(label=label)
            means = table.groupby("label", as_index=False).mean()
            rows = pd.concat([table[::DRAWN].assign(kind="point"), means.assign(kind="mean")])
            tables.append(rows.assign(panel=panel.name, space=space, per_class=PER_CLASS))
    return pd.concat(tables, ignore_index=True).assign(epochs=EPOCHS)


def latent_classes(context: Context) -> ExactStudy:
    """Fig. 2b, 2c and S2, and the sentences of Sec. 4.2 over seeds.

    Fig. 2b has, by panel, the points of the first seed, and over seeds the mean norm of each quarter and the rank
    correlations. Fig. 2c has mean norms over seeds, and as its values how far each class is from the mean of all
    classes of its own seed.
    """
    results = simulate(SEEDS)
    answers: list[ExactNumber] = []
    density, label = [], np.repeat(range(1, CLASSES + 1), PER_CLASS)
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
        answers += [effect(f"norms.fig2b.{k}{panel.suffix}", *pair, panel.reading) for k, pair in arms.items()]
        distances = quarter_means(distance, distance).mean(axis=0)
        rows: list[dict[str, Any]] = [
            {"kind": "quarter", "label": k + 1, "distance": distances[k], **_mean(quarters[:, k])} for k in range(4)
        ]
        rows.append({"kind": "rank", **_mean(rank)})
        points = pd.DataFrame({"kind": "point", "label": label, "distance": distance[0], "value": norm[0]})
        both = pd.concat([points, pd.DataFrame(rows).assign(n=len(norm))])
        density.append(both.assign(panel=panel.name, epochs=EPOCHS))
    frequency = []
    for panel in FREQUENCY:
        norm = results["class_norm"][:, panel.setting]  # [s, records, classes]
        apart = norm - norm.mean(axis=-1, keepdims=True)
        for c, probability in enumerate(class_probabilities(CLASSES).tolist()):
            for record in range(norm.shape[1]):
                row = {"panel": panel.name, "label": c + 1, "probability": probability, "n": len(norm)}
                row |= {"epoch": record * RECORDED, "norm": float(norm[:, record, c].mean())}
                frequency.append(row | _mean(apart[:, record, c]))
        first, last = norm[:, 0], norm[:, -1]
        arms = {f"class{c + 1}_class{c + 2}": (last[:, c], last[:, c + 1]) for c in range(CLASSES - 1)}
        arms["growth"] = (last.mean(axis=1), first.mean(axis=1))
        for balanced in (i for i in (0, 1) if SETTINGS[i].noise == SETTINGS[panel.setting].noise):
            gain = last - results["class_norm"][:, balanced, -1]  # over the same class and seed at equal frequency
            arms["gain"] = (gain[:, 0], gain[:, -1])
        answers += [effect(f"norms.fig2c.{k}{panel.suffix}", *pair, panel.reading) for k, pair in arms.items()]
    fig2b = pd.concat(density, ignore_index=True)
    return ExactStudy({"fig2b": fig2b, "fig2c": pd.DataFrame(frequency), "figS2": depict(0)}, answers)
