"""K-means for many small sets of points in the plane at once, and how well its clusters match given classes."""

from itertools import permutations

import torch
from jaxtyping import Float, Int
from torch import Tensor

ITERATIONS = 300
"""The limit, as in scikit-learn. The toy sets take about ten."""


def kmeans(points: Float[Tensor, "sets n 2"], starts: Int[Tensor, "sets restarts k"]) -> Int[Tensor, "sets n"]:
    """Lloyd's algorithm from the points ``starts``. The restart of least inertia wins; among equals, the first.

    A run ends when no point changes its cluster. A cluster that loses all its points keeps its centre. The result of a
    set does not depend on which other sets are computed with it.
    """
    sets, restarts, k = starts.shape
    n = points.shape[1]
    index = torch.arange(sets)[:, None, None]
    centres = points[index, starts].reshape(sets * restarts, k, 2)
    x, y = points.movedim(2, 0).repeat_interleave(restarts, dim=1)
    labels = torch.full(x.shape, -1)
    inertia = torch.empty(len(x), dtype=points.dtype)
    running = torch.arange(len(x))
    for _ in range(ITERATIONS):
        squares = torch.stack([(x - c[:, :1]).square() + (y - c[:, 1:]).square() for c in centres.unbind(dim=1)])
        least, nearest = squares.min(dim=0)
        moving = (nearest != labels[running]).any(dim=1)
        labels[running] = nearest
        inertia[running] = least.sum(dim=1)
        if not moving.any():
            break
        if not moving.all():
            running, x, y, centres, nearest = (rows[moving] for rows in (running, x, y, centres, nearest))
        centres = torch.stack([_mean(x, y, nearest == c, centres[:, c]) for c in range(k)], dim=1)
    best = inertia.reshape(sets, restarts).argmin(dim=1)
    return labels.reshape(sets, restarts, n)[index[:, 0, 0], best]


def _mean(
    x: Float[Tensor, "runs n"], y: Float[Tensor, "runs n"], members: Tensor, otherwise: Float[Tensor, "runs 2"]
) -> Float[Tensor, "runs 2"]:
    size = members.sum(dim=1, keepdim=True)
    mean = torch.stack([(x * members).sum(dim=1), (y * members).sum(dim=1)], dim=1) / size.clamp(min=1)
    return torch.where(size > 0, mean, otherwise)


def accuracy(clusters: Int[Tensor, "sets n"], classes: Int[Tensor, "n"], k: int) -> Float[Tensor, "sets"]:
    """Percent of points in the right cluster, under the best of the k! assignments of classes to clusters."""
    orders = torch.tensor(list(permutations(range(k))))
    hits = torch.stack([(order[clusters] == classes).sum(dim=1) for order in orders])
    return 100 * hits.amax(dim=0).to(torch.float64) / len(classes)
