"""Cross-validated logistic regression against scikit-learn's, fold by fold."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hypersphere.errors import HypersphereError
from hypersphere_text.probes.cross_validation import INNER, cross_validated, parts


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
def test_too_few_examples_are_a_sentence(n: int, folds: int) -> None:
    with pytest.raises(HypersphereError, match=f"{n} examples cannot be divided into {folds} folds"):
        cross_validated(torch.randn(n, 2), torch.zeros(n, dtype=torch.int64), folds=folds)


def test_every_example_is_in_one_part() -> None:
    found = parts(23, 10, "outer")
    assert sorted(np.concatenate(found).tolist()) == list(range(23))
    assert {len(part) for part in found} == {2, 3}
