"""The share of pairs of views more than a right angle apart."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.probes import opposite_halves as module
from hypersphere.probes.opposite_halves import opposite_halves
from hypersphere.probes.view_pairs import ViewPairs

from .views_world import World, colours


class Training(World):
    """The same images as the training split."""

    def images(self, split: str) -> Any:
        assert split == "train"
        return self.pixels


def share(n: int, embed: Callable[[Tensor], Tensor], **given: int) -> float:
    frozen: Any = Training(n, embed)
    return opposite_halves(frozen, **given).values["opposite_halves"]


def test_it_counts_obtuse_angles(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: of 0, 89, 90, 91 and 180 degrees, two are above 90; lengths do not matter, and zero has no angle."""
    angles = torch.tensor([0.0, 89.0, 91.0, 180.0], dtype=torch.float64) * math.pi / 180
    second = torch.stack([angles.cos(), angles.sin()], dim=1) * torch.tensor([[1e-20], [3.0], [1e-9], [5.0]])
    second = torch.cat([second, torch.tensor([[0.0, 1.0], [0.0, 0.0]])])
    first = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(6, 2)
    monkeypatch.setattr(module, "view_pairs", lambda *_: ViewPairs(first, second, torch.arange(6).numpy()))
    found = opposite_halves(object())  # type: ignore[arg-type]
    assert found.values == {"opposite_halves": pytest.approx(100 * 2 / 6)}
    assert found.n == 6


def test_it_is_a_loop_over_the_runs_own_views() -> None:
    frozen: Any = Training(60, colours)
    from hypersphere.probes.view_pairs import view_pairs

    pairs = view_pairs(frozen, "train", 60)
    obtuse = sum(
        math.fsum(a * b for a, b in zip(u, v, strict=True)) < 0
        for u, v in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    )
    assert 0 < obtuse < 60
    assert share(60, colours) == pytest.approx(100 * obtuse / 60)
    assert share(60, colours) == share(60, colours)


def test_equal_and_constant_embeddings_are_on_one_half() -> None:
    assert share(10, lambda images: torch.ones(len(images), 3)) == 0.0
    assert share(10, lambda images: torch.zeros(len(images), 3)) == 0.0
