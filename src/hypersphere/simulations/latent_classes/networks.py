"""Points of latent classes on a sphere, and networks that learn them by supervised InfoNCE (norms paper, App. B.2).

Each combination of seed and setting is a model of its own. All are trained together, and the settings of a seed share
its random numbers. Training is in single precision, as in the authors' code: three times as fast as in double.

Shapes: m models (seeds, and within a seed settings), n points of a model, b of a batch, d latent dimensions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.objectives.geometry import unit

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

    def __call__(self, points: Points) -> Float[Tensor, "m n d"]:
        """Embeddings, not normalised, in double precision."""
        return self.embed(points.latent, points.matrix).double()

    def embed(self, x: Float[Tensor, "m n d"], matrix: Float[Tensor, "m d observed"]) -> Float[Tensor, "m n d"]:
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

    def parameter(rows: int, columns: int, inputs: int) -> Float[Tensor, "m rows columns"]:
        uniform = torch.stack([torch.rand(rows, columns, generator=generator) for generator in generators])
        return ((2 * uniform - 1) / inputs**0.5).repeat_interleave(settings, dim=0)

    first = parameter(OBSERVED, HIDDEN, OBSERVED), parameter(1, HIDDEN, OBSERVED)
    return Network(*first, parameter(HIDDEN, d, HIDDEN), parameter(1, d, HIDDEN))


def train(network: Network, points: Points, seeds: Sequence[int]) -> Float[Tensor, "m records classes"]:
    """Stochastic gradient descent, in place, on shuffled batches; a last batch that is not full is left out.

    Returns:
        Mean norms of the classes' embeddings, before training and after every fifth epoch.
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
    u = unit(network.embed(x, matrix))
    cosine = torch.bmm(u, u.mT)
    itself = torch.eye(x.shape[1], dtype=torch.bool)
    candidates = cosine.exp().masked_fill(itself, 0).sum(dim=2).log()  # no cosine is too large for exp
    away = candidates - cosine.gather(2, positive[..., None])[..., 0]
    anchor = positive != torch.arange(x.shape[1])
    return ((away * anchor).sum(dim=1) / anchor.sum(dim=1).clamp_min(1)).sum()


@torch.no_grad()
def class_norms(network: Network, points: Points) -> Float[Tensor, "m classes"]:
    """Mean norm of the embeddings of each class's points."""
    norms = torch.linalg.vector_norm(network(points), dim=-1)
    empty = norms.new_zeros(len(norms), int(points.labels.max()) + 1)
    total = empty.scatter_add(1, points.labels, norms)
    return total / empty.scatter_add(1, points.labels, torch.ones_like(norms))
