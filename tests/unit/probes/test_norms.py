"""Norms against a loop."""

import math
from typing import Any

import pytest
import torch

from hypersphere.probes.norms import norms


class Layers:
    """Stands in for ``Frozen``: three splits, two layers."""

    splits = ("easy", "test", "train")

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(0)
        sizes = {"easy": 3, "test": 5, "train": 7}
        self.vectors = {
            (split, layer): torch.randn(n, d, generator=draw)
            for split, n in sizes.items()
            for layer, d in (("embeddings", 4), ("backbone", 9))
        }

    def features(self, split: str, layer: str | None = None) -> torch.Tensor:
        return self.vectors[split, layer or "backbone"]


@pytest.mark.parametrize("layer", ["embeddings", "backbone"])
def test_it_is_a_loop(layer: Any) -> None:
    frozen: Any = Layers()
    found = norms(frozen, layer=layer)
    assert found.table is not None
    assert list(found.table.columns) == ["split", "image", "norm"]
    rows = iter(found.table.itertuples(index=False))
    for split in frozen.splits:
        own = []
        for image, vector in enumerate(frozen.vectors[split, layer].tolist()):
            row = next(rows)
            own.append(math.sqrt(math.fsum(x * x for x in vector)))
            assert (row.split, row.image) == (split, image)
            assert row.norm == pytest.approx(own[-1], rel=1e-14)
        assert found.values[f"norm;split={split}"] == pytest.approx(math.fsum(own) / len(own), rel=1e-14)
    assert next(rows, None) is None
    assert found.n == 5


def test_embeddings_unless_told_otherwise() -> None:
    frozen: Any = Layers()
    assert norms(frozen).values == norms(frozen, layer="embeddings").values != norms(frozen, layer="backbone").values


def test_zero_and_tiny_vectors_have_their_norms() -> None:
    """Squares of 1e-30 underflow in float32."""
    frozen: Any = Layers()
    frozen.vectors["train", "embeddings"] = torch.tensor([[0.0, 0.0], [3e-30, 4e-30]])
    found = norms(frozen)
    assert found.values["norm;split=train"] == pytest.approx(2.5e-30)
