"""Percentages against numpy loops, of all images and of parts; descent against PyTorch; keys of values."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.config import coordinates
from hypersphere.errors import NotFiniteError
from hypersphere.probes.descent import cross_entropy, fit
from hypersphere.probes.result import reading, scored, top_k


def by_loop(scores: np.ndarray, truth: np.ndarray, k: int) -> float:
    """Classes sorted by falling score, then by number; is the true one among the first k?"""
    hits = 0
    for row, label in zip(scores, truth, strict=True):
        hits += label in sorted(range(len(row)), key=lambda c: (-row[c], c))[:k]
    return 100 * hits / len(truth)


@pytest.mark.parametrize("k", [1, 2, 5, 7, 9])
@pytest.mark.parametrize("levels", [3, 10**6])
def test_top_k_is_a_loop(k: int, levels: int) -> None:
    """Three levels over seven classes: most rows have ties."""
    random = np.random.default_rng(k)
    scores, truth = random.integers(0, levels, (200, 7)).astype(float), random.integers(0, 7, 200)
    assert top_k(torch.from_numpy(scores), torch.from_numpy(truth), k) == pytest.approx(by_loop(scores, truth, k))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_no_numbers_are_a_sentence(bad: float, refused: Any) -> None:
    """Compared with NaN, no class is ahead of any other: every image would count as right."""
    scores = torch.tensor([[0.0, 1.0], [bad, 0.0], [1.0, 0.0]])
    with refused(NotFiniteError):
        top_k(scores, torch.tensor([0, 0, 0]), 1)


def test_reading() -> None:
    assert reading("norm") == "norm"
    assert reading("norm", split="train") == "norm;split=train"
    assert reading("error", severity=3, corruption="fog") == reading("error", corruption="fog", severity=3.0)
    measure, _, rest = reading("error", severity=3, corruption="fog").partition(";")
    assert (measure, coordinates.parse(rest, "here")) == ("error", {"corruption": "fog", "severity": 3})


def biased(truth: Tensor, bias: np.ndarray | None) -> Any:
    """Stands in for ``Frozen``."""
    return SimpleNamespace(labels={"test": truth}.__getitem__, attribute=lambda split, name: bias)


def test_parts_are_those_of_a_loop() -> None:
    random = np.random.default_rng(0)
    truth, bias = torch.from_numpy(random.integers(0, 4, 50)), random.random(50) < 0.3
    scores = torch.from_numpy(random.normal(size=(50, 4)))
    found = scored(biased(truth, bias), scores, {"first": 1, "second": 2})
    for measure, k in (("first", 1), ("second", 2)):
        hits = [int(truth[i]) in np.argsort(-scores[i].numpy())[:k] for i in range(50)]
        assert found.values[measure] == pytest.approx(100 * np.mean(hits))
        for name, members in (("aligned", ~bias), ("conflicting", bias)):
            key = f"{measure};bias={name}"
            assert found.values[key] == pytest.approx(100 * np.mean(np.array(hits)[members]))
            assert found.counts[key] == members.sum()
    assert found.n == 50


@pytest.mark.parametrize(
    ("bias", "measures"),
    [
        (None, {"first"}),
        (np.array([False, False]), {"first", "first;bias=aligned"}),
        (np.array([True, True]), {"first", "first;bias=conflicting"}),
    ],
    ids=["no bias", "aligned", "conflicting"],
)
def test_a_part_without_images_has_no_accuracy(bias: np.ndarray | None, measures: set[str]) -> None:
    found = scored(biased(torch.tensor([0, 1]), bias), torch.eye(2), {"first": 1})
    assert found.values == dict.fromkeys(measures, 100.0)
    assert set(found.counts) == measures - {"first"}


def test_the_gradient_by_the_scores_is_the_closed_form() -> None:
    """(softmax - one-hot) / n, in numpy."""
    draws = np.random.default_rng(0)
    scores, labels = 5 * draws.normal(size=(7, 4)), draws.integers(4, size=7)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    loss, gradient = cross_entropy(torch.from_numpy(scores), torch.from_numpy(labels))
    np.testing.assert_allclose(gradient.numpy(), (p - np.eye(4)[labels]) / 7, atol=1e-14)
    assert loss.item() == pytest.approx(-np.log(p[range(7), labels]).mean(), rel=1e-12)


def test_the_steps_are_those_of_torchs_sgd() -> None:
    """To the bit: the rate changes at each step, the last batch is smaller, an epoch keys the order of images."""
    draws = torch.Generator().manual_seed(0)
    bank, labels = torch.randn(23, 5, generator=draws), torch.randint(3, (23,), generator=draws)
    weight = torch.zeros(3, 5)

    def gradients(features: Tensor, classes: Tensor) -> list[Tensor]:
        return [cross_entropy(features @ weight.T, classes)[1].T @ features]

    def rate(passed: float) -> float:
        return 0.5 / (1 + passed)

    fit([weight], gradients, bank, labels, purpose="test", epochs=3, batch=6, momentum=0.8, rate=rate)
    layer = nn.Linear(5, 3, bias=False)
    nn.init.zeros_(layer.weight)
    optimiser = torch.optim.SGD(layer.parameters(), lr=1, momentum=0.8)
    for epoch in range(3):
        for step, index in enumerate(torch.from_numpy(prng.permutation(23, 0, "test", epoch)).split(6)):
            optimiser.param_groups[0]["lr"] = rate(epoch + step / 4)
            optimiser.zero_grad()
            F.cross_entropy(layer(bank[index]), labels[index]).backward()
            optimiser.step()
    assert torch.equal(weight, layer.weight.detach())
    assert weight.abs().max() > 0.1
