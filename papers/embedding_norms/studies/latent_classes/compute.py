"""Embedding norms of latent classes, by density and by frequency (norms paper, Sec. 4.2, App. B.2; Fig. 2b, 2c and S2).

Points of latent classes on a sphere, and networks that learn them by supervised InfoNCE. Each combination of seed and
setting is a model of its own. All are trained together, and the settings of a seed share its random numbers. Training
is in single precision, as in the authors' code: three times as fast as in double. Norms are of embeddings before
normalisation, in double precision. Where the text is silent, the authors' code decides (erratum N8).

Shapes: s seeds, m models (seeds, and within a seed settings), n points of a model, b of a batch, d latent dimensions.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from scipy import stats
from scipy.spatial import cKDTree
from torch import Tensor

from hypersphere.exact.study import PRINTED, Context, ExactNumber, ExactStudy, effect, stack
from hypersphere.generators import generator, normal, uniform
from hypersphere.objectives.geometry import unit
from hypersphere.t_test import mean_interval

PER_CLASS = 1000  # App. B.2
OBSERVED = 64  # App. B.2
BATCH = 128  # App. B.2
EPOCHS = 50  # Fig. S2; Fig. 2 does not state its own
HIDDEN = 64  # the authors' code (erratum N8)
RATE = 0.01  # the same
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

    def __call__(
        self, x: Float[Tensor, "m n d"], matrix: Float[Tensor, "m d observed"]
    ) -> Float[Tensor, "m n d"]:
        """Embeddings, not normalised, of the observations ``x @ matrix``."""
        hidden = torch.baddbmm(self.b1, x, torch.bmm(matrix, self.w1)).relu()
        return torch.baddbmm(self.b2, hidden, self.w2)


def _generators(seeds: Sequence[int], *purpose: str | int) -> list[torch.Generator]:
    return [generator(seed, "latent_classes", *purpose) for seed in seeds]


def observe(
    seeds: Sequence[int],
    settings: Sequence[Setting],
    classes: int,
    d: int,
    purpose: str,
) -> Points:
    """App. B.2: latent points unit(N(centre, noise² I)) around uniform centres, and their images under a random matrix.

    Balanced classes have equal size and come one after the other; otherwise the class of each point is drawn.
    """
    n = classes * PER_CLASS
    equal_classes = torch.arange(classes).repeat_interleave(PER_CLASS)
    bounds = class_probabilities(classes).cumsum(0)[:-1]
    noises = torch.tensor([setting.noise for setting in settings], dtype=torch.float64)
    latents = []
    matrices = []
    labels = []
    for drawn in _generators(seeds, purpose):
        centres = unit(normal(drawn, classes, d))
        noise = normal(drawn, n, d)
        matrix = SCALE * normal(drawn, d, OBSERVED)
        share = uniform(drawn, n)
        drawn_classes = torch.searchsorted(bounds, share, right=True)
        label = torch.stack(
            [equal_classes if setting.balanced else drawn_classes for setting in settings]
        )
        latent = unit(centres[label] + noises[:, None, None] * noise)
        latents.append(latent.float())
        matrices.append(matrix.float().expand(len(settings), -1, -1))
        labels.append(label)
    return Points(torch.cat(latents), torch.cat(matrices), torch.cat(labels))


def class_probabilities(classes: int) -> Float[Tensor, "classes"]:
    """Sec. 4.2: "~1/2", "~1/4" and so on, normalised, as over four classes they sum to 15/16 (erratum N8)."""
    weights = 0.5 ** torch.arange(1, classes + 1, dtype=torch.float64)
    return weights / weights.sum()


def initial(seeds: Sequence[int], settings: int, d: int) -> Network:
    """Weights and biases uniform within 1/sqrt(inputs), as torch starts a linear layer; one draw for each seed."""
    generators = _generators(seeds, "weights", d)

    def drawn(rows: int, outputs: int, inputs: int) -> Tensor:
        uniform = torch.stack([torch.rand(rows, outputs, generator=one) for one in generators])
        of_seed = (2 * uniform - 1) / inputs**0.5
        return of_seed.repeat_interleave(settings, dim=0)

    return Network(
        drawn(OBSERVED, HIDDEN, inputs=OBSERVED),
        drawn(1, HIDDEN, inputs=OBSERVED),
        drawn(HIDDEN, d, inputs=HIDDEN),
        drawn(1, d, inputs=HIDDEN),
    )


def train(
    network: Network, points: Points, seeds: Sequence[int]
) -> Float[Tensor, "m records classes"]:
    """Stochastic gradient descent, in place, on shuffled batches; a last batch that is not full is left out.

    The mean norms of the classes' embeddings are those before training and after every fifth epoch.
    """
    models, n = points.labels.shape
    generators = _generators(seeds, "order", n)
    model = torch.arange(models)[:, None]
    norms = [class_norms(network, points)]
    for parameter in network:
        parameter.requires_grad_()
    optimiser = torch.optim.SGD(network, lr=RATE)
    for epoch in range(1, EPOCHS + 1):
        order = torch.stack([torch.randperm(n, generator=one) for one in generators])
        full = order[:, : n // BATCH * BATCH]
        batches = full.unflatten(1, (-1, BATCH)).transpose(0, 1)
        batches = batches.repeat_interleave(models // len(seeds), dim=1)  # [batches, m, b]
        latent = points.latent[model, batches]
        positive = positives(points.labels[model, batches])
        for x, positive_of_x in zip(latent, positive, strict=True):
            optimiser.zero_grad()
            loss(network, x, points.matrix, positive_of_x).backward()
            optimiser.step()
        if epoch % RECORDED == 0:
            norms.append(class_norms(network, points))
    for parameter in network:
        parameter.requires_grad_(False)
    return torch.stack(norms, dim=1)


def positives(labels: Int[Tensor, "*m b"]) -> Int[Tensor, "*m b"]:
    """The next point of each point's class in the batch, cyclically: in random order, a random other point.

    A point that is alone in its class is its own positive.
    """
    order = labels.argsort(dim=-1, stable=True)
    ranked = labels.gather(-1, order)
    rank = torch.arange(labels.shape[-1]).expand_as(labels)
    last = ranked != ranked.roll(-1, dims=-1)
    last[..., -1] = True
    first = torch.searchsorted(ranked, ranked)  # of the same class
    successor = torch.where(last, first, rank + 1)
    return torch.empty_like(labels).scatter_(
        -1,
        order,
        order.gather(-1, successor),
    )


def loss(
    network: Network,
    x: Float[Tensor, "m b d"],
    matrix: Float[Tensor, "m d observed"],
    positive: Int[Tensor, "m b"],
) -> Float[Tensor, ""]:
    """Eq. 1 at temperature 1: the mean over the anchors that have a positive, added over models.

    A point is an anchor, and a candidate of every other anchor; the positive's term is in the sum (erratum N10).
    """
    u = unit(network(x, matrix))
    cosine = torch.bmm(u, u.mT)
    itself = torch.eye(x.shape[1], dtype=torch.bool)
    # no cosine is too large for exp
    candidates = cosine.exp().masked_fill(itself, 0).sum(dim=2).log()
    away = candidates - cosine.gather(2, positive[..., None])[..., 0]
    anchor = positive != torch.arange(x.shape[1])
    anchors = anchor.sum(dim=1).clamp_min(1)
    return ((away * anchor).sum(dim=1) / anchors).sum()


@torch.no_grad()
def class_norms(network: Network, points: Points) -> Float[Tensor, "m classes"]:
    """Mean norm of the embeddings of each class's points."""
    norms = torch.linalg.vector_norm(network(points.latent, points.matrix).double(), dim=-1)
    empty = norms.new_zeros(len(norms), int(points.labels.max()) + 1)
    total = empty.scatter_add(1, points.labels, norms)
    return total / empty.scatter_add(1, points.labels, torch.ones_like(norms))


SEEDS = range(6)
CLASSES = 4  # App. B.2
DIMENSIONS = 11  # App. B.2: S^10
CLASSES_S2 = 8
DIMENSIONS_S2 = 3
NEIGHBOUR = 10  # Sec. 4.2
CONFIDENCE = 0.95
DRAWN = 4  # every fourth point of Fig. S2 is drawn

VARIANCE = 0.1**0.5  # N(c, 0.1 I)
DEVIATION = 0.1  # the same in another reading
AUTHORS = 1.0  # the authors' imbalanced run
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


Results = dict[str, np.ndarray]


def simulate(seeds: Sequence[int]) -> Results:
    """Train every setting from every seed.

    Returns:
        class_norm [s, settings, records, classes]: mean norms, before training and after every fifth epoch.
        norm, distance [s, panels of Fig. 2b, n]: norm of each embedding, and cosine distance to its tenth neighbour.
        norm_untrained, distance_untrained: the same before training.
    """
    points = observe(seeds, SETTINGS, CLASSES, DIMENSIONS, "training")
    unseen = observe(seeds, [Setting(DEVIATION, balanced=True)], CLASSES, DIMENSIONS, "unseen")
    network = initial(seeds, len(SETTINGS), DIMENSIONS)
    before = embed(network, points, unseen)
    class_norm = train(network, points, seeds)
    after = embed(network, points, unseen)
    return {
        "class_norm": class_norm.unflatten(0, (len(seeds), -1)).numpy(),
        "norm": torch.linalg.vector_norm(after, dim=-1).numpy(),
        "distance": neighbour_distances(after),
        "norm_untrained": torch.linalg.vector_norm(before, dim=-1).numpy(),
        "distance_untrained": neighbour_distances(before),
    }


def embed(network: Network, points: Points, unseen: Points) -> Float[Tensor, "s panels n d"]:
    """Embeddings of the panels of Fig. 2b: the last panel's are of unseen points."""
    last = DENSITY[-1].setting
    of_last = Network(*(parameter[last :: len(SETTINGS)] for parameter in network))
    embeddings = network(points.latent, points.matrix).unflatten(0, (-1, len(SETTINGS)))
    panels = [embeddings[:, panel.setting] for panel in DENSITY[:-1]]
    panels.append(of_last(unseen.latent, unseen.matrix))
    return torch.stack(panels, dim=1).double()


def neighbour_distances(
    z: Float[Tensor, "s panels n d"],
) -> Float[np.ndarray, "s panels n"]:
    """``neighbour_distance``, with a search tree for each panel of each seed."""
    distances = [neighbour_distance(model) for model in z.flatten(0, 1)]
    return np.stack(distances).reshape(z.shape[:3])


def neighbour_distance(z: Float[Tensor, "n d"]) -> Float[np.ndarray, "n"]:
    """1 - cos to the tenth nearest other point: half the squared chord. Sec. 4.2 takes it for the inverse density."""
    u = unit(z).numpy()
    chord, _ = cKDTree(u).query(u, [NEIGHBOUR + 1])  # the first is the point itself
    return chord[:, 0] ** 2 / 2


def quarter_means(
    value: Float[np.ndarray, "s n"], distance: Float[np.ndarray, "s n"]
) -> Float[np.ndarray, "s 4"]:
    """Mean value in each quarter of the points, sorted by distance to the tenth neighbour, the densest first."""
    ranked = np.take_along_axis(value, distance.argsort(axis=1, kind="stable"), axis=1)
    return ranked.reshape(len(value), 4, -1).mean(axis=2)


def rank_correlations(
    norm: Float[np.ndarray, "s n"], distance: Float[np.ndarray, "s n"]
) -> Float[np.ndarray, "s"]:
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
    latent = panels_in("latent", points.latent)
    learned = panels_in("embedding", network(points.latent, points.matrix).double())
    return stack([*latent, *learned]).assign(epochs=EPOCHS)


def panels_in(space: str, points: Float[Tensor, "panels n d"]) -> Iterator[pd.DataFrame]:
    """The rows of Fig. S2's panels in one space: some points, and the mean of each class."""
    label = np.repeat(range(1, CLASSES_S2 + 1), PER_CLASS)
    for panel, positions in zip(DENSITY[:2], points.numpy(), strict=True):
        table = pd.DataFrame(positions, columns=["x", "y", "z"]).assign(label=label)
        means = table.groupby("label", as_index=False).mean()
        drawn = table[::DRAWN]
        both = pd.concat([drawn.assign(kind="point"), means.assign(kind="mean")])
        yield both.assign(panel=panel.name, space=space, per_class=PER_CLASS)


def latent_classes(context: Context) -> ExactStudy:
    """Fig. 2b, 2c and S2, and the sentences of Sec. 4.2 over seeds."""
    results = simulate(SEEDS)
    tables = {
        "fig2b": stack(fig2b(results, i) for i in range(len(DENSITY))),
        "fig2c": stack(fig2c(results, panel) for panel in FREQUENCY),
        "figS2": depict(0),
    }
    answers = []
    for i, panel in enumerate(DENSITY):
        answers += effects("norms.fig2b", panel, on_density(results, i))
    for panel in FREQUENCY:
        answers += effects("norms.fig2c", panel, on_frequency(results, panel))
    return ExactStudy(tables, answers)


Arms = Iterator[tuple[str, Float[np.ndarray, "s"], Float[np.ndarray, "s"]]]
"""The two arms of each sentence, with its name."""


def effects(figure: str, panel: Panel, arms: Arms) -> list[ExactNumber]:
    """The sentences of Sec. 4.2 in a panel's reading."""
    return [
        effect(f"{figure}.{name}{panel.suffix}", first, second, panel.reading)
        for name, first, second in arms
    ]


def fig2b(results: Results, i: int) -> pd.DataFrame:
    """A panel: the points of the first seed, and over seeds the mean norm of each quarter and the rank correlations."""
    norm = results["norm"][:, i]
    distance = results["distance"][:, i]
    points = pd.DataFrame(
        {
            "kind": "point",
            "label": np.repeat(range(1, CLASSES + 1), PER_CLASS),
            "distance": distance[0],
            "value": norm[0],
        }
    )
    distances = quarter_means(distance, distance).mean(axis=0)
    norms = quarter_means(norm, distance)
    rows: list[dict[str, Any]] = []
    for k in range(4):
        rows.append(
            {"kind": "quarter", "label": k + 1, "distance": distances[k]} | _mean(norms[:, k])
        )
    rows.append({"kind": "rank"} | _mean(rank_correlations(norm, distance)))
    summary = pd.DataFrame(rows).assign(n=len(norm))
    return pd.concat([points, summary]).assign(panel=DENSITY[i].name, epochs=EPOCHS)


def on_density(results: Results, i: int) -> Arms:
    norm = results["norm"][:, i]
    distance = results["distance"][:, i]
    quarters = quarter_means(norm, distance)
    rank = rank_correlations(norm, distance)
    untrained = rank_correlations(
        results["norm_untrained"][:, i], results["distance_untrained"][:, i]
    )
    yield "dense", quarters[:, 0], quarters[:, -1]
    yield "rank", rank, np.zeros_like(rank)
    yield "training", rank, untrained


def fig2c(results: Results, panel: Panel) -> pd.DataFrame:
    """A panel's mean norms over seeds, and as its values how far each class is from the mean of its own seed."""
    norm = results["class_norm"][:, panel.setting]  # [s, records, classes]
    apart = norm - norm.mean(axis=-1, keepdims=True)
    probabilities = class_probabilities(CLASSES).tolist()
    rows = []
    for c, probability in enumerate(probabilities):
        for record in range(norm.shape[1]):
            row = {
                "panel": panel.name,
                "label": c + 1,
                "probability": probability,
                "n": len(norm),
                "epoch": record * RECORDED,
                "norm": float(norm[:, record, c].mean()),
            }
            rows.append(row | _mean(apart[:, record, c]))
    return pd.DataFrame(rows)


def on_frequency(results: Results, panel: Panel) -> Arms:
    norm = results["class_norm"][:, panel.setting]
    first = norm[:, 0]
    last = norm[:, -1]
    for c in range(CLASSES - 1):
        yield f"class{c + 1}_class{c + 2}", last[:, c], last[:, c + 1]
    yield "growth", last.mean(axis=1), first.mean(axis=1)
    for balanced in (0, 1):
        if SETTINGS[balanced].noise == SETTINGS[panel.setting].noise:
            # over the same class and seed at equal frequency
            gain = last - results["class_norm"][:, balanced, -1]
            yield "gain", gain[:, 0], gain[:, -1]
