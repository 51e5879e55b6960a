"""Probes of sentences: on tasks made up here, against scikit-learn, fold by fold, and plain counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from hypersphere.probes.distances import distance
from hypersphere.probes.linear import fit_logistic, standardise
from hypersphere_text.probes.cross_validation import (
    INNER,
    accuracy,
    cross_validation,
    fits,
    of_pairs,
    parts,
)
from hypersphere_text.probes.sentence_controls import sentence_controls
from hypersphere_text.probes.sentence_distances import sentence_distances


def hits(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, penalty: float) -> int:
    """How many of ``test`` scikit-learn's classifier predicts; its C is 1 / (penalty · images)."""
    logistic = LogisticRegression(C=1 / (penalty * len(train)), max_iter=2000, tol=1e-8)
    model = make_pipeline(StandardScaler(), logistic).fit(x[train], y[train])
    return int((model.predict(x[test]) == y[test]).sum())


def test_the_penalty_is_chosen_on_training_folds_and_hits_are_scikit_learns() -> None:
    random, penalties = np.random.default_rng(0), (3.0, 0.1, 1e-3)
    y, found = random.integers(0, 3, 90), 0
    x = random.normal(size=(3, 6))[y] + random.normal(size=(90, 6))
    for test in parts(90, 5, "outer"):
        train = np.setdiff1d(np.arange(90), test)
        inner = [
            (np.setdiff1d(np.arange(len(train)), held), held)
            for held in parts(len(train), INNER, "inner")
        ]
        right = {
            penalty: sum(hits(x[train], y[train], *fold, penalty) for fold in inner)
            for penalty in penalties
        }
        found += hits(x, y, train, test, max(penalties, key=right.__getitem__))
    given = {"train": torch.from_numpy(x)}, {"train": torch.from_numpy(y)}
    assert accuracy(*given, folds=5, iterations=200, penalties=penalties) == pytest.approx(
        100 * found / 90
    )


def test_one_class_and_constant_features() -> None:
    one_class = {"train": torch.zeros(20, dtype=torch.int64)}
    assert accuracy({"train": torch.randn(20, 3)}, one_class, folds=4, iterations=200) == 100
    labels = {"train": torch.tensor([0, 0, 1] * 10)}
    found = accuracy(
        {"train": torch.ones(30, 3)}, labels, folds=5, iterations=200, penalties=(0.1,)
    )
    assert found == pytest.approx(200 / 3)


@pytest.mark.parametrize(("n", "folds"), [(30, 1), (5, 5), (3, 10)])
def test_too_few_examples_are_a_sentence(n: int, folds: int, refused: Any) -> None:
    with refused("cross-validation", "folds"):
        accuracy(
            {"train": torch.randn(n, 2)},
            {"train": torch.zeros(n).long()},
            folds=folds,
            iterations=9,
        )


def test_every_example_is_in_one_part() -> None:
    found = parts(23, 10, "outer")
    assert sorted(np.concatenate(found).tolist()) == list(range(23))
    assert {len(part) for part in found} == {2, 3}


PENALTIES = (1e-1, 1e-2, 1e-4)


def correlated(n: int = 400, d: int = 30, classes: int = 3) -> tuple[Tensor, Tensor]:
    """Features of which a few directions hold nearly all the spread; every class has examples everywhere."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(n, d))
    labels = (hidden[:, :classes] + random.normal(size=(n, classes))).argmax(axis=1)
    mixed = hidden * 0.8 ** np.arange(d) @ random.normal(size=(d, d))
    return standardise(torch.from_numpy(mixed), torch.from_numpy(mixed))[0], torch.from_numpy(
        labels
    )


def test_each_penaltys_weights_are_scikit_learns() -> None:
    bank, labels = correlated()
    found = list(fits(bank, labels, 3, PENALTIES, 500))
    assert [penalty for penalty, _, _ in found] == list(PENALTIES)
    for penalty, weights, bias in found:
        model = LogisticRegression(
            C=1 / (penalty * len(bank)), solver="newton-cg", tol=1e-10, max_iter=1000
        )
        model.fit(bank.numpy(), labels.numpy())
        # Adding one number to all classes' biases changes nothing.
        torch.testing.assert_close(weights, torch.from_numpy(model.coef_.T), atol=2e-3, rtol=1e-3)
        torch.testing.assert_close(
            bias - bias.mean(), torch.from_numpy(model.intercept_), atol=2e-3, rtol=1e-3
        )


@pytest.mark.parametrize("penalty", PENALTIES)
def test_few_steps_come_closer_than_without_the_curvature(penalty: float) -> None:
    bank, labels = correlated()
    ((_, best, _),) = fits(bank, labels, 3, [penalty], 500)
    ((_, ours, _),) = fits(bank, labels, 3, [penalty], 10)
    plain, _ = fit_logistic(bank, labels, 3, penalty, 10)
    assert (ours - best).norm() < 0.2 * (plain - best).norm()


WORDS = 12


@dataclass(frozen=True)
class Sentences:
    """Stands in for ``Frozen``: tokens and labels by split, and an encoder that counts words twice over."""

    tokens: dict[str, np.ndarray]
    truth: dict[str, Tensor]

    device = torch.device("cpu")

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(self.tokens)

    def images(self, split: str) -> np.ndarray:
        return self.tokens[split]

    def labels(self, split: str) -> Tensor:
        return self.truth[split]

    def encode(self, tokens: Tensor) -> Tensor:
        counts = torch.nn.functional.one_hot(tokens.long(), WORDS).sum(dim=2).float()
        return torch.cat([counts, -2 * counts], dim=2).flatten(1)

    embed = encode


def task(sentences: int, sizes: dict[str, int], seed: int = 0) -> Any:
    """Words at random; those of class 1 are drawn from the later half of the words more often."""
    random = np.random.default_rng(seed)
    tokens, truth = {}, {}
    for split, n in sizes.items():
        labels = random.integers(0, 3, n) // 2  # two thirds are of class 0
        low = random.integers(0, WORDS, (n, sentences, 6))
        high = random.integers(WORDS // 2, WORDS, (n, sentences, 6))
        pick = random.random((n, sentences, 6)) < 0.8 * labels[:, None, None]
        tokens[split], truth[split] = (
            np.where(pick, high, low).astype(np.int32),
            torch.from_numpy(labels),
        )
    return Sentences(tokens, truth)


def test_a_task_without_test_set_is_cross_validated() -> None:
    given = task(1, {"train": 90})
    found = cross_validation(given, folds=3, iterations=20)
    features = {"train": given.encode(torch.from_numpy(given.images("train")))}
    expected = accuracy(features, {"train": given.labels("train")}, folds=3, iterations=20)
    assert found.values == {"text_accuracy": expected}
    assert found.n == 90
    assert expected > 66


def test_an_official_test_set_is_scikit_learns() -> None:
    """With one penalty.

    Of two classes scikit-learn fits one vector of weights, and the probe two, opposite ones: half of each penalty.
    """
    given = task(2, {"train": 80, "test": 60})
    features = {
        one: of_pairs(given.encode(torch.from_numpy(given.images(one))), 2) for one in given.splits
    }
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=2 / (0.1 * 80), max_iter=5000, tol=1e-9)
    )
    model.fit(features["train"].numpy(), given.labels("train").numpy())
    expected = 100 * model.score(features["test"].numpy(), given.labels("test").numpy())
    one = accuracy(features, given.truth, folds=10, iterations=200, penalties=(0.1,))
    assert one == pytest.approx(expected)
    assert cross_validation(given, iterations=5).n == 60


def test_pairs_are_differences_and_products(refused: Any) -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 4.0]])
    expected = torch.tensor([[2.0, 6.0, 3.0, -8.0]])
    assert torch.equal(of_pairs(torch.cat([u, v], dim=1), 2), expected)
    # the order of a pair says nothing
    assert torch.equal(of_pairs(torch.cat([v, u], dim=1), 2), expected)
    assert torch.equal(of_pairs(u, 1), u)
    with refused("cross-validation"):
        of_pairs(torch.zeros(1, 6), 3)


def test_controls_of_a_task_with_a_test_set() -> None:
    given = task(2, {"train": 80, "test": 60})
    found = sentence_controls(given, words=4, iterations=20)
    often = int(given.labels("train").bincount().argmax())
    share = 100 * (given.labels("test") == often).double().mean().item()
    assert found.values["majority_accuracy"] == pytest.approx(share)

    def bag(split: str) -> Tensor:
        """Whether each of words 2 … 5 occurs in a sentence; 0 is padding, 1 unknown, and others are too rare."""
        rows = [
            [[float(w in one) for w in range(2, 6)] for one in pair]
            for pair in given.images(split).tolist()
        ]
        u, v = torch.tensor(rows).unbind(dim=1)
        return torch.cat([(u - v).abs(), u * v], dim=1)

    bags = {split: bag(split) for split in given.splits}
    expected = accuracy(bags, given.truth, folds=10, iterations=20)
    assert found.values["bag_of_words_accuracy"] == pytest.approx(expected)
    assert found.n == 60


def test_the_majority_is_counted_on_training_folds() -> None:
    """Of equally many, leaving one out makes the other class the more frequent: every guess is wrong."""
    tokens = np.full((10, 1, 3), 2, dtype=np.int32)
    given: Any = Sentences({"train": tokens}, {"train": torch.tensor([0, 1] * 5)})
    assert (
        sentence_controls(given, words=3, folds=10, iterations=3).values["majority_accuracy"] == 0
    )


def test_distances_are_of_a_sentence_and_the_next_ones_encoder() -> None:
    given = task(2, {"test": 20})
    found = sentence_distances(given, pairs=50)
    both = given.embed(torch.from_numpy(given.images("test")))
    width = 2 * WORDS
    # the first encoder's of the one, the second's of the other
    f, g = both[:, :WORDS], both[:, width + WORDS :]
    expected = distance(f, g).mean().item()
    assert found.values["distance;pairs=neighbours"] == pytest.approx(expected)
    assert set(found.values) == {"distance;pairs=neighbours", "distance;pairs=apart"}
    assert found.table is not None
    assert found.table.groupby("pairs").size().to_dict() == {"neighbours": 20, "apart": 20}


@pytest.mark.parametrize(
    "shape", [(5, 1, 4), (1, 2, 4), (5, 8, 8, 3)], ids=["alone", "one pair", "images"]
)
def test_distances_need_pairs(shape: tuple[int, ...], refused: Any) -> None:
    given: Any = Sentences({"test": np.zeros(shape, dtype=np.int32)}, {})
    with refused("probe sentence_distances"):
        sentence_distances(given)
