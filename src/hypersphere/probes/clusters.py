"""K-means of vectors, from keyed starts, and how well clusters match classes."""

import warnings
from collections.abc import Iterable
from functools import cache

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from threadpoolctl import ThreadpoolController
from torch import Tensor

from hypersphere import prng
from hypersphere.errors import HypersphereError

_libraries = cache(ThreadpoolController)
"""The libraries whose threads can be limited, after scikit-learn is loaded: looking for them takes 5 ms."""

Clusters = tuple[Int[np.ndarray, "n"], float]
"""The cluster of each point, and the sum of squared distances to the centres, the inertia."""


def kmeans(points: Float[Tensor, "n d"], k: int, restarts: int, purpose: str) -> Clusters:
    """The best partition from starts by k-means++ (Arthur & Vassilvitskii 2007), which ``purpose`` keys."""
    if len(points) < k:
        raise HypersphereError(
            f"k-means: {k} clusters need at least {k} points (given: {len(points)})"
        )
    centres = []
    for restart in range(restarts):
        draws = prng.uniform((k,), 0, purpose, restart)
        centres.append(starts(points, k, draws).cpu().numpy())
    return best(points.cpu().numpy(), centres)


def starts(
    points: Float[Tensor, "n d"], k: int, draws: Float[np.ndarray, "k"]
) -> Float[Tensor, "k d"]:
    """The first point uniformly, each next one in proportion to its squared distance from the nearest start.

    ``draws`` are in [0, 1). Where all points coincide with starts, the next is drawn uniformly.
    """
    weights = torch.ones(len(points), dtype=torch.float64, device=points.device)
    nearest = torch.full_like(weights, torch.inf)
    chosen: list[Tensor] = []
    for draw in draws:
        mass = weights.cumsum(dim=0)
        index = int(torch.searchsorted(mass, float(draw) * mass[-1], right=True))
        start = points[min(index, len(points) - 1)]
        chosen.append(start)
        distances = (points - start).double().square().sum(dim=1)
        nearest = torch.minimum(nearest, distances)
        weights = nearest if bool(nearest.any()) else torch.ones_like(nearest)
    return torch.stack(chosen)


def best(points: Float[np.ndarray, "n d"], centres: Iterable[Float[np.ndarray, "k d"]]) -> Clusters:
    """The partition of least inertia, of equals the first, by Lloyd's algorithm from each of these centres."""
    from sklearn.cluster import KMeans  # here, because its import takes a second
    from sklearn.exceptions import ConvergenceWarning

    # threads would add the points in any order
    with _libraries().limit(limits=1), warnings.catch_warnings():
        # points that coincide are fewer clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [KMeans(len(first), init=first, n_init=1, tol=0).fit(points) for first in centres]
    inertias = [fit.inertia_ for fit in fits]
    least = int(np.argmin(inertias))
    return fits[least].labels_, float(inertias[least])


def matched_accuracy(clusters: Int[np.ndarray, "n"], classes: Int[np.ndarray, "n"]) -> float:
    """Percent of points in their class's cluster, at the best assignment of one cluster to each class.

    The assignment is Kuhn's (the "Hungarian" method).
    """
    counts = np.zeros((clusters.max() + 1, classes.max() + 1), np.int64)
    np.add.at(counts, (clusters, classes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return 100 * int(counts[rows, columns].sum()) / len(classes)
