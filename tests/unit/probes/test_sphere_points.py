"""Points on the sphere: their table, and spreads with a closed form."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.probes.sphere_points import sphere_points, spread


def world(embeddings: Tensor, labels: list[int]) -> Any:
    return SimpleNamespace(embeddings=lambda split: embeddings, labels=lambda split: torch.tensor(labels))


def test_the_table_has_unit_vectors_with_their_classes() -> None:
    draws = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    labels = [i % 4 for i in range(40)]
    found = sphere_points(world(draws, labels), images=15)
    assert found.table is not None
    assert list(found.table.columns) == ["image", "class", "x", "y", "z"]
    assert (len(found.table), found.n) == (15, 40)
    for row in found.table.itertuples(index=False):
        vector = draws[row.image].tolist()
        assert [row.x, row.y, row.z] == pytest.approx([v / np.linalg.norm(vector) for v in vector], rel=1e-6)
        assert row[1] == labels[row.image]


def test_spreads_by_hand() -> None:
    """Two classes at opposite poles: nothing in a class, everything between them."""
    poles = torch.tensor([[0.0, 0, 2], [0, 0, 5], [0, 0, -1], [0, 0, -1e-25]])
    found = sphere_points(world(poles, [0, 0, 1, 1]))
    assert found.values == {"spread": 1.0, "class_spread": 0.0}


def test_the_spread_of_a_cap() -> None:
    """The mean of a uniform cap down to height h is (1 + h) / 2 along its axis (Archimedes)."""
    n, h = 20_000, 0.4
    z = h + (1 - h) * (torch.arange(n, dtype=torch.float64) + 0.5) / n
    angle = torch.arange(n) * 2.399963229728653
    side = (1 - z**2).sqrt()
    points = torch.stack([side * angle.cos(), side * angle.sin(), z], dim=1)
    assert spread(points) == pytest.approx(1 - (1 + h) / 2, abs=1e-4)


def test_other_dimensions_are_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"needs a head of 3 outputs"):
        sphere_points(world(torch.ones(5, 4), [0] * 5))
