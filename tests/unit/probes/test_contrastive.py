"""The contrastive task against a loop, and at the ends of its entropy."""

import math
from typing import Any

import pytest
import torch

from hypersphere.errors import HypersphereError
from hypersphere.probes import contrastive as module
from hypersphere.probes.contrastive import contrastive
from hypersphere.probes.view_pairs import view_pairs

from .views_world import STILL, World, colours


@pytest.mark.parametrize("normalise", [True, False])
def test_it_is_a_loop(normalise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    frozen: Any = World(12, colours, temperature=0.3, normalise=normalise)
    pairs = view_pairs(frozen, "test", 8)
    z = torch.cat([pairs.first, pairs.second]).double().tolist()
    if normalise:
        z = [[x / math.hypot(*row) for x in row] for row in z]
    hits, entropies = [], []
    for i, anchor in enumerate(z):
        logits = {
            j: sum(x * y for x, y in zip(anchor, other, strict=True)) / 0.3 for j, other in enumerate(z) if j != i
        }
        hits.append(max(logits, key=logits.__getitem__) == (i + 8) % 16)
        total = sum(map(math.exp, logits.values()))
        entropies.append(-sum(math.exp(v) / total * math.log(math.exp(v) / total) for v in logits.values()))
    found = contrastive(frozen, candidates=16)
    assert found.values["contrastive_top1"] == pytest.approx(100 * sum(hits) / 16)
    assert found.values["entropy"] == pytest.approx(sum(entropies) / 16)
    assert found.n == 8


def test_constant_embeddings_tell_nothing() -> None:
    """A tie is a miss, and the distribution over 2n - 1 candidates is uniform."""
    frozen: Any = World(10, lambda images: torch.ones(len(images), 3))
    assert contrastive(frozen).values == {"entropy": pytest.approx(math.log(19)), "contrastive_top1": 0.0}


def test_orthogonal_images_are_told_apart() -> None:
    frozen: Any = World(6, lambda images: torch.eye(6)[: len(images)], STILL, temperature=1e-3)
    assert contrastive(frozen).values == {"entropy": pytest.approx(0.0), "contrastive_top1": 100.0}


def test_what_it_cannot_do_is_a_sentence() -> None:
    frozen: Any = World(6, colours)
    del frozen.run.objective.parameters["temperature"]
    with pytest.raises(HypersphereError, match=r"objective: nt_xent has no temperature$"):
        contrastive(frozen)
    alone: Any = World(1, colours)
    with pytest.raises(HypersphereError, match=r"needs at least 2 "):
        contrastive(alone)
