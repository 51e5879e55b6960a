"""kNN against scikit-learn and loops; whatever order the bank is stored in."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere.probes import knn as knn_module
from hypersphere.probes.knn import directions, knn, vote, votes

from .conftest import Given, cloud, neighbours

Scores = Callable[..., Tensor]


@pytest.mark.parametrize(
    ("k", "temperature"), [(1, 0.1), (5, 0.1), (20, 0.01), (200, 0.1), (300, 1.0)]
)
def test_it_is_scikit_learns_with_these_weights(
    scores: Scores, monkeypatch: pytest.MonkeyPatch, k: int, temperature: float
) -> None:
    """Whatever the block."""
    data = cloud()
    ours = scores(knn, data, k=k, temperature=temperature)
    monkeypatch.setattr(knn_module, "BLOCK", 5000)
    assert torch.equal(scores(knn, data, k=k, temperature=temperature), ours)
    expected = neighbours(data.bank, data.bank_labels, k, temperature).predict_proba(
        data.queries.numpy()
    )
    np.testing.assert_allclose((ours / ours.sum(dim=1, keepdim=True)).numpy(), expected, atol=1e-4)
    right = expected.argmax(axis=1) == data.query_labels.numpy()
    assert 0.4 < right.mean() < 0.95  # a task with room, or agreement says little


def test_more_neighbours_than_the_bank_has_images_are_a_sentence(
    scores: Scores, refused: Any
) -> None:
    data = cloud(n=30)
    scores(knn, data, k=30)  # the control
    with refused("knn", "k"):
        scores(knn, data, k=31)
    with refused("knn", "k"):  # each of these images has no vote on itself
        vote(data.bank, data.bank, data.bank_labels, 4, 30, 0.1, leave_out=True)


@pytest.mark.parametrize("factor", [7.0, 1e-12, 1e-30])
def test_norms_do_not_matter(factor: float) -> None:
    """Not even those of a cut encoder, whose squares underflow in float32."""
    data = cloud(dtype=torch.float32)
    scaled = data.but(bank=data.bank * factor, queries=data.queries / 7)
    assert knn(scaled, k=20).values == knn(data, k=20).values


def test_a_zero_vector_is_like_nothing(scores: Scores) -> None:
    """Its cosines are 0: all of the bank ties, and each class has the share of its images."""
    bank = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    data = Given(bank, torch.tensor([0, 1, 1, 1]), torch.zeros(1, 2), torch.tensor([1]), 2)
    assert scores(knn, data, k=2).tolist() == [[0.5, 1.5]]
    assert directions(torch.zeros(1, 2)).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("k", [1, 7, 100, 150])
def test_the_order_of_the_bank_decides_nothing(
    scores: Scores, monkeypatch: pytest.MonkeyPatch, k: int, dtype: torch.dtype
) -> None:
    """Every image is there up to four times, under labels that differ: bits of votes are equal in any order."""
    data = cloud(n=77, m=60, d=5, dtype=dtype)
    random = np.random.default_rng(0)
    again = torch.from_numpy(random.integers(0, 60, 150))
    data = data.but(bank=data.bank[again], bank_labels=torch.from_numpy(random.integers(0, 4, 150)))
    expected = scores(knn, data, k=k)
    for seed in range(10):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(150))
        stored = data.but(bank=data.bank[order], bank_labels=data.bank_labels[order])
        assert torch.equal(scores(knn, stored, k=k), expected)
    # control
    assert not torch.equal(
        scores(knn, data.but(bank_labels=data.bank_labels.roll(1)), k=k), expected
    )


def test_collapsed_features_give_the_classes_shares(scores: Scores) -> None:
    """All images are alike: the 200 places are divided as the classes are, however the product rounds."""
    labels = torch.arange(999) % 10 // 4  # 400, 400 and 199 images
    same = torch.tensor([[0.3, -1.7, 0.9, 5.1, 0.123]])
    data = Given(same.expand(999, 5), labels, same.expand(50, 5), labels[:50], 3)
    shares = 200 * np.bincount(labels.numpy()) / 999
    np.testing.assert_allclose(scores(knn, data).numpy(), np.tile(shares, (50, 1)), rtol=1e-12)


def test_ties_against_a_loop() -> None:
    """Small whole cosines, so that most places tie; the rule written as two nested loops."""
    random = np.random.default_rng(3)
    cosines, labels, k, temperature = (
        random.integers(0, 4, (40, 25)) / 4,
        random.integers(0, 3, 25),
        6,
        0.5,
    )
    expected = np.zeros((40, 3))
    for i, row in enumerate(cosines):
        least = sorted(row, reverse=True)[k - 1]
        ahead, level = (row > least).sum(), (row == least).sum()
        for cosine, label in zip(row, labels, strict=True):
            places = 1 if cosine > least else (k - ahead) / level if cosine == least else 0
            expected[i, label] += places * np.exp((cosine - row.max()) / temperature)
    found = votes(torch.from_numpy(cosines).float(), torch.from_numpy(labels), 3, k, temperature)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_images_after_the_last_whole_batch_can_be_left_out(scores: Scores, refused: Any) -> None:
    """The reading of the norms paper's authors: as if bank and test set ended there."""
    data = cloud()
    ours = scores(knn, data, k=20, drop_last=64)
    shorter = Given(
        data.bank[:256], data.bank_labels[:256], data.queries[:448], data.query_labels[:448], 4
    )
    assert torch.equal(ours, scores(knn, shorter, k=20))
    assert (
        knn(data, k=20, drop_last=64).values == knn(shorter, k=20).values != knn(data, k=20).values
    )
    with refused("knn", "drop_last"):
        knn(data, k=20, drop_last=301)


def test_a_query_that_is_in_the_bank_can_be_left_out_of_its_vote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """scikit-learn with each image taken out of the bank in turn; blocks change nothing."""
    data = cloud(n=60)
    found = vote(data.bank, data.bank, data.bank_labels, 4, 7, 0.1, leave_out=True)
    for i in range(60):
        rest = torch.arange(60) != i
        model = neighbours(data.bank[rest], data.bank_labels[rest], 7, 0.1)
        expected = model.predict_proba(data.bank[i : i + 1].numpy())[0]
        np.testing.assert_allclose(
            (found[i] / found[i].sum()).numpy()[model.classes_], expected, atol=1e-4
        )
    monkeypatch.setattr(knn_module, "BLOCK", 400)
    assert torch.equal(
        vote(data.bank, data.bank, data.bank_labels, 4, 7, 0.1, leave_out=True), found
    )
