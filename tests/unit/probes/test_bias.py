"""Accuracies of aligned and of conflicting images, against a loop."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.probes.bias import scored


@dataclass
class World:
    """Stands in for ``Frozen``."""

    truth: torch.Tensor
    bias: np.ndarray | None

    def labels(self, split: str) -> torch.Tensor:
        assert split == "test"
        return self.truth

    def conflicting(self, split: str) -> np.ndarray | None:
        return self.bias


def test_parts_are_those_of_a_loop() -> None:
    random = np.random.default_rng(0)
    truth, bias = torch.from_numpy(random.integers(0, 4, 50)), random.random(50) < 0.3
    scores = torch.from_numpy(random.normal(size=(50, 4)))
    frozen: Any = World(truth, bias)
    found = scored(frozen, scores, {"first": 1, "second": 2})
    for measure, k in (("first", 1), ("second", 2)):
        hits = [int(truth[i]) in np.argsort(-scores[i].numpy())[:k] for i in range(50)]
        assert found.values[measure] == pytest.approx(100 * np.mean(hits))
        for name, members in (("aligned", ~bias), ("conflicting", bias)):
            key = f"{measure};bias={name}"
            assert found.values[key] == pytest.approx(100 * np.mean(np.array(hits)[members]))
            assert found.counts[key] == members.sum()
    assert found.n == 50


def test_without_a_bias_there_is_one_accuracy() -> None:
    frozen: Any = World(torch.tensor([0, 1]), None)
    found = scored(frozen, torch.eye(2), {"first": 1})
    assert (found.values, dict(found.counts)) == ({"first": 100.0}, {})


@pytest.mark.parametrize(("bias", "absent"), [(False, "conflicting"), (True, "aligned")])
def test_a_part_without_images_has_no_accuracy(bias: bool, absent: str) -> None:
    frozen: Any = World(torch.tensor([0, 1]), np.array([bias, bias]))
    found = scored(frozen, torch.eye(2), {"first": 1})
    assert f"first;bias={absent}" not in found.values
    assert len(found.values) == 2
