"""Percentages against numpy loops, and the keys of values."""

import numpy as np
import pytest
import torch

from hypersphere.config import coordinates
from hypersphere.probes.result import NotFiniteError, accuracy, reading, top_k


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


def test_the_first_of_top_k_is_the_largest_score() -> None:
    random = np.random.default_rng(0)
    scores, truth = torch.from_numpy(random.normal(size=(300, 5))), torch.from_numpy(random.integers(0, 5, 300))
    assert top_k(scores, truth, 1) == accuracy(scores.argmax(dim=1), truth)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_no_numbers_are_a_sentence(bad: float) -> None:
    """Compared with NaN, no class is ahead of any other: every image would count as right."""
    scores = torch.tensor([[0.0, 1.0], [bad, 0.0], [1.0, 0.0]])
    with pytest.raises(NotFiniteError, match=r"scores of 1 of 3"):
        top_k(scores, torch.tensor([0, 0, 0]), 1)


def test_reading() -> None:
    assert reading("norm") == "norm"
    assert reading("norm", split="train") == "norm;split=train"
    assert reading("error", severity=3, corruption="fog") == reading("error", corruption="fog", severity=3.0)
    measure, _, rest = reading("error", severity=3, corruption="fog").partition(";")
    assert (measure, coordinates.parse(rest, "here")) == ("error", {"corruption": "fog", "severity": 3})
