"""K-means of vectors, from keyed starts, and how well clusters match classes."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from hypersphere import prng
from hypersphere.errors import HypersphereError

ITERATIONS = 300
"""The limit, as in scikit-learn."""


class Clusters(NamedTuple):
    """A partition of n points."""

    labels: Int[Tensor, "n"]
    centres: Float[Tensor, "k d"]
    inertia: float
    """Sum of squared distances to the centres."""


def kmeans(points: Float[Tensor, "n d"], k: int, restarts: int, purpose: str) -> Clusters:
    """Lloyd's algorithm from starts by k-means++ (Arthur & Vassilvitskii 2007); the restart of least inertia wins.

    Args:
        points: to be divided.
        k: number of clusters.
        restarts: independent starts.
        purpose: key of the starts.

    Raises:
        HypersphereError: there are fewer points than clusters.
    """
    if len(points) < k:
        raise HypersphereError(f"k-means: {k} clusters need at least {k} points (given: {len(points)})")
    found = [lloyd(points, starts(points, k, prng.uniform((k,), 0, purpose, restart))) for restart in range(restarts)]
    return min(found, key=_inertia)  # of equals, the first


def _inertia(clusters: Clusters) -> float:
    return clusters.inertia


def starts(points: Float[Tensor, "n d"], k: int, draws: Float[np.ndarray, "k"]) -> Float[Tensor, "k d"]:
    """The first point uniformly, each next one in proportion to its squared distance from the nearest start.

    ``draws`` are in [0, 1). Where all points coincide with starts, the next is drawn uniformly.
    """
    weights = torch.ones(len(points), dtype=torch.float64, device=points.device)
    nearest = torch.full_like(weights, torch.inf)
    found: list[Tensor] = []
    for draw in draws:
        mass = weights.cumsum(dim=0)
        index = min(int(torch.searchsorted(mass, float(draw) * mass[-1], right=True)), len(points) - 1)
        found.append(points[index])
        nearest = torch.minimum(nearest, (points - points[index]).double().square().sum(dim=1))
        weights = nearest if bool(nearest.any()) else torch.ones_like(nearest)
    return torch.stack(found)


def lloyd(points: Float[Tensor, "n d"], centres: Float[Tensor, "k d"]) -> Clusters:
    """Lloyd's algorithm until no point moves. A cluster that loses all its points keeps its centre."""
    labels = torch.full((len(points),), -1, device=points.device)
    for _ in range(ITERATIONS):
        nearest = torch.cdist(points, centres, compute_mode="donot_use_mm_for_euclid_dist").argmin(dim=1)
        if torch.equal(nearest, labels):
            break
        labels = nearest
        members = torch.nn.functional.one_hot(labels, len(centres)).to(points.dtype)
        sizes = members.sum(dim=0)[:, None]
        centres = torch.where(sizes > 0, members.T @ points / sizes.clamp(min=1), centres)
    return Clusters(labels, centres, float((points - centres[labels]).double().square().sum()))


def matched_accuracy(clusters: Int[np.ndarray, "n"], classes: Int[np.ndarray, "n"]) -> float:
    """Percent of points in their class's cluster, at the best assignment of one cluster to each class.

    The assignment is Kuhn's (the "Hungarian" method).
    """
    counts = np.zeros((clusters.max() + 1, classes.max() + 1), np.int64)
    np.add.at(counts, (clusters, classes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return 100 * int(counts[rows, columns].sum()) / len(classes)
