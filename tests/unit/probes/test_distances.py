"""Distances of pairs against a loop, and at their ends."""

import math
from typing import Any

import pytest
import torch

from hypersphere.errors import HypersphereError
from hypersphere.probes.distances import distance, distances
from hypersphere.probes.view_pairs import view_pairs

from .views_world import STILL, World, colours


def test_distances_are_those_of_a_loop() -> None:
    frozen: Any = World(30, colours)
    found, pairs = distances(frozen, images=12), view_pairs(frozen, "test", 12)
    assert found.table is not None
    assert list(found.table.columns) == ["pairs", "image", "distance"]
    assert found.n == 12
    by_sort = {sort: rows for sort, rows in found.table.groupby("pairs")}
    for sort, partners in (("positive", None), ("negative", range(12))):
        rows = by_sort[sort]
        assert rows["image"].tolist() == pairs.images.tolist()
        assert found.values[f"distance;pairs={sort}"] == pytest.approx(rows["distance"].mean())
        for i, ours in enumerate(rows["distance"]):
            a = pairs.first[i].tolist()
            seen = [
                (1 - sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)) / 2
                for j, b in enumerate(pairs.second.tolist())
                if (j == i if partners is None else j != i)
            ]
            assert min(abs(ours - one) for one in seen) < 1e-6


def test_each_second_view_is_a_negative_once() -> None:
    """Every image is in as many negative pairs as any other."""
    ones = torch.eye(7)
    frozen: Any = World(7, lambda images: ones[: len(images)], STILL)
    found = distances(frozen)
    assert found.values == {"distance;pairs=positive": 0.0, "distance;pairs=negative": 0.5}


def test_equal_and_opposite_and_zero_vectors() -> None:
    a = torch.tensor([[2.0, 0.0], [1e-20, 0.0], [1.0, 1.0], [0.0, 0.0]])
    b = torch.tensor([[3.0, 0.0], [-5.0, 0.0], [-2.0, 2.0], [1.0, 0.0]])
    assert distance(a, b).tolist() == pytest.approx([0.0, 1.0, 0.5, 0.5], abs=1e-15)


def test_constant_embeddings_are_all_near() -> None:
    frozen: Any = World(9, lambda images: torch.ones(len(images), 4))
    assert set(distances(frozen).values.values()) == {0.0}


def test_one_image_has_no_negative() -> None:
    frozen: Any = World(1, colours)
    with pytest.raises(HypersphereError, match=r"images: needs at least 2 "):
        distances(frozen)
