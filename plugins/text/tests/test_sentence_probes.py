"""Probes of sentences: on tasks made up here, against scikit-learn, fold by fold, and plain counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from hypersphere.probes.distances import distance
from hypersphere.probes.linear import fit_logistic, standardise
from hypersphere_text.probes.cross_validation import (
    INNER,
    cross_validated,
    cross_validation,
    divided,
    fits,
    of_pairs,
    parts,
    represented,
)
from hypersphere_text.probes.sentence_controls import sentence_controls
from hypersphere_text.probes.sentence_distances import sentence_distances


def cloud(n: int = 120, d: int = 6, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, n)
    return torch.from_numpy(random.normal(size=(classes, d))[labels] + random.normal(size=(n, d))), torch.from_numpy(
        labels
    )


def folds_of(n: int, folds: int, purpose: str) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.setdiff1d(np.arange(n), test), test) for test in parts(n, folds, purpose)]


def classifier(penalty: float, n: int) -> object:
    """scikit-learn's C is 1 / (penalty · images)."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=1 / (penalty * n), max_iter=2000, tol=1e-8))


def test_with_one_penalty_it_is_scikit_learns() -> None:
    features, labels = cloud()
    x, y, hits = features.numpy(), labels.numpy(), 0
    for train, test in folds_of(120, 10, "outer"):
        model = classifier(0.01, len(train)).fit(x[train], y[train])  # type: ignore[attr-defined]
        hits += int((model.predict(x[test]) == y[test]).sum())
    assert cross_validated(features, labels, penalties=(0.01,)) == pytest.approx(100 * hits / 120)


def test_the_penalty_is_chosen_on_training_folds_as_by_scikit_learns_search() -> None:
    features, labels = cloud(n=90)
    penalties, x, y, hits = (3.0, 0.1, 1e-3), features.numpy(), labels.numpy(), 0
    for train, test in folds_of(90, 5, "outer"):
        n = len(train)
        inner = [(a, b) for a, b in folds_of(n, INNER, "inner")]
        best, most = penalties[0], -1
        for penalty in penalties:
            right = 0
            for fit, held in inner:
                one = classifier(penalty, len(fit)).fit(x[train][fit], y[train][fit])  # type: ignore[attr-defined]
                right += int((one.predict(x[train][held]) == y[train][held]).sum())
            if right > most:
                best, most = penalty, right
        search = GridSearchCV(classifier(best, n), {}, cv=inner).fit(x[train], y[train])
        hits += int((search.predict(x[test]) == y[test]).sum())
    assert cross_validated(features, labels, folds=5, penalties=penalties) == pytest.approx(100 * hits / 90)


def test_labels_of_the_test_part_are_never_seen() -> None:
    """Of noise with as many features as examples, a probe that saw them would predict most."""
    draw = torch.Generator().manual_seed(0)
    features, labels = torch.randn(80, 60, generator=draw), torch.randint(0, 2, (80,), generator=draw)
    assert cross_validated(features, labels, penalties=(1e-3,)) < 70


def test_one_class_and_constant_features() -> None:
    assert cross_validated(torch.randn(20, 3), torch.zeros(20, dtype=torch.int64), folds=4) == 100
    labels = torch.tensor([0, 0, 1] * 10)
    assert cross_validated(torch.ones(30, 3), labels, folds=5, penalties=(0.1,)) == pytest.approx(200 / 3)


@pytest.mark.parametrize(("n", "folds"), [(30, 1), (5, 5), (3, 10)])
def test_too_few_examples_are_a_sentence(n: int, folds: int, refused: Any) -> None:
    with refused():
        cross_validated(torch.randn(n, 2), torch.zeros(n, dtype=torch.int64), folds=folds)


def test_every_example_is_in_one_part() -> None:
    found = parts(23, 10, "outer")
    assert sorted(np.concatenate(found).tolist()) == list(range(23))
    assert {len(part) for part in found} == {2, 3}


PENALTIES = (1e-1, 1e-2, 1e-4)


def correlated(n: int = 400, d: int = 30, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of which a few directions hold nearly all the spread; every class has examples everywhere."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(n, d))
    labels = (hidden[:, :classes] + random.normal(size=(n, classes))).argmax(axis=1)
    mixed = hidden * 0.8 ** np.arange(d) @ random.normal(size=(d, d))
    return standardise(torch.from_numpy(mixed), torch.from_numpy(mixed))[0], torch.from_numpy(labels)


def test_each_penaltys_weights_are_scikit_learns() -> None:
    bank, labels = correlated()
    found = list(fits(bank, labels, 3, PENALTIES, 500))
    assert [penalty for penalty, _, _ in found] == list(PENALTIES)
    for penalty, weights, bias in found:
        model = LogisticRegression(C=1 / (penalty * len(bank)), solver="newton-cg", tol=1e-10, max_iter=1000)
        model.fit(bank.numpy(), labels.numpy())
        # Adding one number to all classes' biases changes nothing.
        torch.testing.assert_close(weights, torch.from_numpy(model.coef_.T), atol=2e-3, rtol=1e-3)
        torch.testing.assert_close(bias - bias.mean(), torch.from_numpy(model.intercept_), atol=2e-3, rtol=1e-3)


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
    """With one penalty.

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


def test_pairs_are_differences_and_products(refused: Any) -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 4.0]])
    expected = torch.tensor([[2.0, 6.0, 3.0, -8.0]])
    assert torch.equal(of_pairs(torch.cat([u, v], dim=1), 2), expected)
    assert torch.equal(of_pairs(torch.cat([v, u], dim=1), 2), expected)  # the order of a pair says nothing
    assert torch.equal(of_pairs(u, 1), u)
    with refused():
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


@pytest.mark.parametrize("shape", [(5, 1, 4), (1, 2, 4), (5, 8, 8, 3)], ids=["alone", "one pair", "images"])
def test_distances_need_pairs(shape: tuple[int, ...], refused: Any) -> None:
    given: Any = Sentences({"test": np.zeros(shape, dtype=np.int32)}, {})
    with refused():
        sentence_distances(given)
