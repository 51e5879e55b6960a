"""Alignment and uniformity against loops over pairs, and at their bounds."""

import math
from typing import Any

import pytest
import torch

from hypersphere.errors import HypersphereError
from hypersphere.probes.alignment_uniformity import alignment_uniformity
from hypersphere.probes.view_pairs import view_pairs

from .views_world import STILL, World, colours


def test_both_are_loops_over_pairs() -> None:
    frozen: Any = World(14, colours)
    found, pairs = alignment_uniformity(frozen, images=9, power=3, t=1.5), view_pairs(frozen, "test", 9)
    a, b = ([[x / math.hypot(*row) for x in row] for row in side.tolist()] for side in (pairs.first, pairs.second))
    assert found.values["alignment"] == pytest.approx(sum(math.dist(u, v) ** 3 for u, v in zip(a, b, strict=True)) / 9)
    logs = []
    for side in (a, b):
        potentials = [math.exp(-1.5 * math.dist(u, v) ** 2) for i, u in enumerate(side) for v in side[:i]]
        logs.append(math.log(sum(potentials) / len(potentials)))
    assert found.values["uniformity"] == pytest.approx(sum(logs) / 2)
    assert found.n == 9


@pytest.mark.parametrize("length", [1.0, 1e-15, 1e15])
def test_constant_embeddings_are_aligned_and_not_uniform(length: float) -> None:
    frozen: Any = World(6, lambda images: torch.full((len(images), 3), length))
    assert alignment_uniformity(frozen).values == {"alignment": 0.0, "uniformity": pytest.approx(0.0)}


def test_orthogonal_embeddings() -> None:
    """Every two of them have a squared distance of 2."""
    frozen: Any = World(5, lambda images: torch.eye(5)[: len(images)], STILL)
    assert alignment_uniformity(frozen).values == {"alignment": 0.0, "uniformity": pytest.approx(-4.0)}


def test_one_image_has_no_other() -> None:
    frozen: Any = World(1, colours)
    with pytest.raises(HypersphereError, match=r"needs at least 2 "):
        alignment_uniformity(frozen)
