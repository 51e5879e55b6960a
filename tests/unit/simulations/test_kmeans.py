"""Batched K-means against scikit-learn's, and accuracies by hand."""

from itertools import permutations

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from torch import Tensor

from hypersphere.simulations.toy_clustering.kmeans import accuracy, kmeans


def clouds(k: int) -> tuple[Tensor, Tensor]:
    """Eight sets of 90 points around three places that overlap, and four restarts of each."""
    generator = torch.Generator().manual_seed(0)
    places = torch.tensor([[0.0, 0.0], [2.0, 0.5], [1.0, 2.0]], dtype=torch.float64).repeat(30, 1)
    points = places + 0.7 * torch.randn(8, 90, 2, generator=generator, dtype=torch.float64)
    return points, torch.rand(8, 4, 90, generator=generator).argsort(dim=2)[..., :k]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_is_scikit_learns_lloyd_from_the_same_points(k: int) -> None:
    """Of its four runs, each from the given points, the one of least inertia."""
    points, starts = clouds(k)
    ours = kmeans(points, starts).numpy()
    single = kmeans(points, starts[:, :1]).numpy()
    for cloud, begin, labels in zip(points.numpy(), starts.numpy(), ours, strict=True):
        runs = [KMeans(k, init=cloud[first], n_init=1, algorithm="lloyd", tol=0).fit(cloud) for first in begin]
        assert np.array_equal(labels, min(runs, key=lambda run: run.inertia_).labels_)
    assert not np.array_equal(ours, single)  # control: restarts matter here


def test_a_set_does_not_depend_on_the_others() -> None:
    points, starts = clouds(3)
    together = kmeans(points, starts)
    assert torch.equal(together, torch.cat([kmeans(points[i : i + 1], starts[i : i + 1]) for i in range(8)]))
    assert torch.equal(together[2:5], kmeans(points[2:5], starts[2:5]))
    assert not torch.equal(together[0], together[1])


def test_a_cluster_without_points_keeps_its_centre() -> None:
    """Both start at 0, where the first takes all; its mean moves away, and the second is left with the two at 0."""
    points = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.2, 0.0]]], dtype=torch.float64)
    assert kmeans(points, torch.tensor([[[0, 1]]])).tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize(
    ("clusters", "percent"),
    [
        ([0, 0, 1, 1, 2, 2], 100),
        ([2, 2, 0, 0, 1, 1], 100),
        ([0, 1, 1, 1, 2, 2], 500 / 6),
        ([0, 0, 0, 0, 0, 0], 100 / 3),
    ],
)
def test_accuracy_by_hand(clusters: list[int], percent: float) -> None:
    assert accuracy(torch.tensor([clusters]), torch.tensor([0, 0, 1, 1, 2, 2]), 3).item() == pytest.approx(percent)


def test_accuracy_is_the_best_of_all_ways_to_name_clusters() -> None:
    """A plain loop over the 3! ways."""
    generator = torch.Generator().manual_seed(1)
    clusters = torch.randint(3, (20, 30), generator=generator)
    classes = torch.arange(30) % 3
    expected = [
        max(
            sum(way[cluster] == right for cluster, right in zip(row, classes.tolist(), strict=True))
            for way in permutations(range(3))
        )
        for row in clusters.tolist()
    ]
    assert accuracy(clusters, classes, 3).tolist() == pytest.approx([100 * hits / 30 for hits in expected])
