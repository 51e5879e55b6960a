"""K-means from keyed starts, accuracies against all assignments; points on the sphere."""

import math
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import normalized_mutual_info_score

from hypersphere.probes.clustering import clustering
from hypersphere.probes.clusters import best, kmeans, matched_accuracy, starts
from hypersphere.probes.sphere_points import sphere_points

from .conftest import Given, cloud


def test_the_best_of_several_starts_is_kept() -> None:
    points = cloud().bank.numpy()
    labels, inertia = best(points, [points[:4], points[4:8], points[8:12]])
    single = [best(points, [points[at : at + 4]])[1] for at in (0, 4, 8)]
    assert inertia == min(single)
    assert max(single) > inertia + 1
    centres = np.stack([points[labels == label].mean(axis=0) for label in range(4)])
    distances = np.linalg.norm(points[:, None] - centres, axis=2)
    assert labels.tolist() == distances.argmin(axis=1).tolist()  # no point moves any more
    assert inertia == pytest.approx((distances.min(axis=1) ** 2).sum())


def test_the_next_start_is_drawn_in_proportion_to_the_squared_distance() -> None:
    points = torch.tensor([[0.0], [1.0], [3.0]])
    draws = (np.arange(1000) + 0.5) / 1000
    taken = [float(starts(points, 2, np.array([0.0, draw]))[1]) for draw in draws]
    assert (taken.count(0.0), taken.count(1.0), taken.count(3.0)) == (0, 100, 900)


@pytest.mark.parametrize("seed", range(10))
def test_matched_accuracy_is_the_best_of_all_assignments(seed: int) -> None:
    random = np.random.default_rng(seed)
    clusters, classes = random.integers(0, 5, 60), random.integers(0, 4, 60)
    most = max((np.array(order)[clusters] == classes).sum() for order in permutations(range(5)))
    assert matched_accuracy(clusters, classes) == pytest.approx(100 * most / 60)


def test_separate_constant_and_mixed_classes_and_too_few_points(refused: Any) -> None:
    """Constant features say nothing of the classes. Of mixed ones: scikit-learn's information."""
    separate, few = torch.arange(30) % 3, torch.tensor([0, 0, 0, 1, 2])
    for features, labels, accuracy, nmi in (
        (torch.eye(3)[separate] * 1e-9, separate, 100.0, pytest.approx(1.0)),
        (torch.ones(5, 2), few, 60.0, 0.0),
    ):
        frozen: Any = Given(features[:0], labels[:0], features, labels, 3)
        assert clustering(frozen).values == {"kmeans_accuracy": accuracy, "nmi": nmi}
    mixed = cloud()
    found, _ = kmeans(torch.nn.functional.normalize(mixed.queries), 4, 10, "clustering")
    theirs = normalized_mutual_info_score(mixed.query_labels, found)
    assert clustering(mixed).values["nmi"] == pytest.approx(theirs)
    with refused("k-means"):
        kmeans(torch.ones(4, 2), 5, 1, "here")


def test_the_table_has_unit_vectors_with_their_classes_and_spreads_are_of_their_means(
    refused: Any,
) -> None:
    """In space alone: other dimensions are a sentence."""
    draws = torch.randn(600, 3, generator=torch.Generator().manual_seed(0))
    labels = [i % 4 for i in range(600)]
    given: Any = SimpleNamespace(
        embeddings=lambda split: draws, labels=lambda split: torch.tensor(labels)
    )
    found = sphere_points(given)
    assert list(found.table.columns) == ["image", "class", "x", "y", "z"]
    assert (len(found.table), found.n) == (500, 600)
    for row in found.table.itertuples(index=False):
        vector = draws[row.image].tolist()
        assert [row.x, row.y, row.z] == pytest.approx(
            [v / np.linalg.norm(vector) for v in vector], rel=1e-6
        )
        assert row[1] == labels[row.image]
    units = draws / draws.norm(dim=1, keepdim=True)
    own = [1 - math.hypot(*units[label::4].mean(dim=0).tolist()) for label in range(4)]
    both = {"spread": 1 - math.hypot(*units.mean(dim=0).tolist()), "class_spread": sum(own) / 4}
    assert found.values == pytest.approx(both)
    given.embeddings = lambda split: torch.ones(600, 4)
    with refused("probe sphere_points"):
        sphere_points(given)
