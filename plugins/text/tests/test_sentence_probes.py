"""Probes of sentences: on tasks made up here, against scikit-learn and plain counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.probes.distances import distance
from hypersphere_text.probes.cross_validation import cross_validated, cross_validation, divided, of_pairs, represented
from hypersphere_text.probes.sentence_controls import sentence_controls
from hypersphere_text.probes.sentence_distances import sentence_distances

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
        tokens[split], truth[split] = np.where(pick, high, low).astype(np.int32), torch.from_numpy(labels)
    return Sentences(tokens, truth)


def test_a_task_without_test_set_is_cross_validated() -> None:
    given = task(1, {"train": 90})
    found = cross_validation(given, folds=3, iterations=20)
    features = given.encode(torch.from_numpy(given.images("train")))
    expected = cross_validated(features, given.labels("train"), folds=3, iterations=20)
    assert found.values == {"text_accuracy": expected}
    assert found.n == 90
    assert expected > 66


def test_an_official_test_set_is_scikit_learns() -> None:
    """With one penalty; which one is chosen is checked in test_cross_validation.py.

    Of two classes scikit-learn fits one vector of weights, and the probe two, opposite ones: half of each penalty.
    """
    given = task(2, {"train": 80, "test": 60})
    x, q = (represented(given, split) for split in ("train", "test"))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=2 / (0.1 * 80), max_iter=5000, tol=1e-9))
    model.fit(x.numpy(), given.labels("train").numpy())
    expected = 100 * model.score(q.numpy(), given.labels("test").numpy())
    one = divided(x, given.labels("train"), q, given.labels("test"), penalties=(0.1,))
    assert one == pytest.approx(expected)
    assert cross_validation(given, iterations=5).n == 60


def test_test_labels_decide_nothing_but_the_count() -> None:
    """The same predictions of two classes are wrong where they were right, once all test labels are turned."""
    given = task(1, {"train": 80, "test": 60})
    turned = Sentences(given.tokens, given.truth | {"test": 1 - given.truth["test"]})
    one, other = (cross_validation(of, iterations=20).values["text_accuracy"] for of in (given, turned))
    assert one + other == pytest.approx(100)


def test_pairs_are_differences_and_products() -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 4.0]])
    expected = torch.tensor([[2.0, 6.0, 3.0, -8.0]])
    assert torch.equal(of_pairs(torch.cat([u, v], dim=1), 2), expected)
    assert torch.equal(of_pairs(torch.cat([v, u], dim=1), 2), expected)  # the order of a pair says nothing
    assert torch.equal(of_pairs(u, 1), u)
    with pytest.raises(HypersphereError, match="has 3 sentences"):
        of_pairs(torch.zeros(1, 6), 3)


def test_controls_of_a_task_with_a_test_set() -> None:
    given = task(2, {"train": 80, "test": 60})
    found = sentence_controls(given, words=4, iterations=20)
    often = int(given.labels("train").bincount().argmax())
    share = 100 * (given.labels("test") == often).double().mean().item()
    assert found.values["majority_accuracy"] == pytest.approx(share)

    def bag(split: str) -> Tensor:
        """Whether each of words 2 … 5 occurs in a sentence; 0 is padding, 1 unknown, and others are too rare."""
        rows = [[[float(w in one) for w in range(2, 6)] for one in pair] for pair in given.images(split).tolist()]
        u, v = torch.tensor(rows).unbind(dim=1)
        return torch.cat([(u - v).abs(), u * v], dim=1)

    expected = divided(bag("train"), given.labels("train"), bag("test"), given.labels("test"), iterations=20)
    assert found.values["bag_of_words_accuracy"] == pytest.approx(expected)
    assert found.n == 60


def test_the_majority_is_counted_on_training_folds() -> None:
    """Of equally many, leaving one out makes the other class the more frequent: every guess is wrong."""
    tokens = np.full((10, 1, 3), 2, dtype=np.int32)
    given: Any = Sentences({"train": tokens}, {"train": torch.tensor([0, 1] * 5)})
    assert sentence_controls(given, words=3, folds=10, iterations=3).values["majority_accuracy"] == 0


def test_controls_do_not_look_at_the_encoder() -> None:
    class Silent(Sentences):
        def encode(self, tokens: Tensor) -> Tensor:
            raise AssertionError

    given = task(1, {"train": 60})
    assert sentence_controls(Silent(given.tokens, given.truth), folds=2, iterations=3).n == 60  # type: ignore[arg-type]


def test_distances_are_of_a_sentence_and_the_next_ones_encoder() -> None:
    given = task(2, {"test": 20})
    found = sentence_distances(given, pairs=50)
    both = given.embed(torch.from_numpy(given.images("test")))
    width = 2 * WORDS
    f, g = both[:, :WORDS], both[:, width + WORDS :]  # the first encoder's of the one, the second's of the other
    expected = distance(f, g).mean().item()
    assert found.values["distance;pairs=neighbours"] == pytest.approx(expected)
    assert set(found.values) == {"distance;pairs=neighbours", "distance;pairs=apart"}
    assert found.table is not None
    assert found.table.groupby("pairs").size().to_dict() == {"neighbours": 20, "apart": 20}


@pytest.mark.parametrize("shape", [(5, 1, 4), (1, 2, 4), (5, 8, 8, 3)])
def test_distances_need_pairs(shape: tuple[int, ...]) -> None:
    given: Any = Sentences({"test": np.zeros(shape, dtype=np.int32)}, {})
    with pytest.raises(HypersphereError, match="needs 2 pairs of sentences or more"):
        sentence_distances(given)
