"""The linear probe against scikit-learn, on features of any scale."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from hypersphere.probes.linear import linear, standardise

Scores = Callable[..., Tensor]
pytestmark = pytest.mark.trained


def their_probabilities(data: Any, penalty: float) -> np.ndarray:
    scaler = StandardScaler().fit(data.bank.numpy())
    columns = 2 if data.classes() == 2 else 1
    model = LogisticRegression(C=columns / (penalty * len(data.bank)), tol=1e-10, max_iter=10_000)
    model.fit(scaler.transform(data.bank.numpy()), data.bank_labels.numpy())
    found: np.ndarray = model.predict_proba(scaler.transform(data.queries.numpy()))
    return found


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("penalty", [1e-3, 1e-1, 1e-5])
def test_it_is_scikit_learns_logistic_regression(cloud: Any, scores: Scores, penalty: float, classes: int) -> None:
    """C = 1 / (penalty · n), or twice that for two classes; bias free."""
    data = cloud(m=2000, classes=classes)
    expected = their_probabilities(data, penalty)
    found = scores(linear, data, penalty=penalty).softmax(dim=1).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_fewer_images_than_dimensions(cloud: Any, scores: Scores) -> None:
    """Raw pixels, for example: the fit in the row space is scikit-learn's in the whole space."""
    data = cloud(n=60, m=500, d=90)
    assert len(data.bank) < data.bank.shape[1]
    found = scores(linear, data, penalty=1e-2).softmax(dim=1).numpy()
    np.testing.assert_allclose(found, their_probabilities(data, 1e-2), atol=1e-3)


def test_top_five(cloud: Any) -> None:
    """scikit-learn's probabilities, sorted."""
    data = cloud(n=600, classes=12)
    first = np.argsort(-their_probabilities(data, 1e-3), axis=1)[:, :5]
    hits = 100 * (first == data.query_labels.numpy()[:, None]).any(axis=1).mean()
    found = linear(data)
    assert found.values["linear_top5"] == pytest.approx(hits, abs=0.21)  # one image of 500 on a boundary
    assert found.values["linear_top1"] + 5 < hits < 99.5
    assert found.n == 500


@pytest.mark.parametrize(
    "function", [lambda x: x * 10 + 3, lambda x: x * 1e-12, lambda x: x * 1e-30, lambda x: x * 1e12]
)
def test_scale_and_place_do_not_matter(cloud: Any, scores: Scores, function: Callable[[Tensor], Tensor]) -> None:
    """An encoder with cut weights gives features of 1e-12, and a probe that says so much of them as of others."""
    data = cloud()
    assert torch.equal(scores(linear, data.mapped(function)).argmax(dim=1), scores(linear, data).argmax(dim=1))
    assert linear(data).values["linear_top1"] > 60


def test_a_dimension_far_below_the_others_is_not_blown_up() -> None:
    """The floor is a millionth of the largest standard deviation, here 2: 2e-9 / 2e-6 = 1e-3."""
    bank = torch.tensor([[1.0, 1e-9], [5.0, -3e-9]], dtype=torch.float64)
    found, _ = standardise(bank, bank)
    np.testing.assert_allclose(found.numpy(), [[-1, 1e-3], [1, -1e-3]], rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e-12, -7e8])
def test_a_constant_dimension_is_zero(cloud: Any, scores: Scores, value: float) -> None:
    data = cloud()

    def beside(features: Tensor) -> Tensor:
        return torch.cat([features, torch.full((len(features), 1), value)], dim=1)

    both = data.mapped(beside)
    assert all((part[:, -1] == 0).all() for part in standardise(both.bank, both.queries))
    torch.testing.assert_close(scores(linear, both), scores(linear, data))


@pytest.mark.parametrize("value", [0.0, 0.1, 1e-12])
def test_features_that_are_all_constant_predict_the_commonest_class(cloud: Any, value: float) -> None:
    data = cloud().mapped(lambda features: torch.full_like(features, value))
    commonest = data.bank_labels.bincount().argmax()
    expected = 100 * (data.query_labels == commonest).double().mean().item()
    assert linear(data).values["linear_top1"] == pytest.approx(expected)
    assert all((part == 0).all() for part in standardise(data.bank, data.queries))


def test_each_digit_has_a_fit_of_its_own(cloud: Any) -> None:
    """The second is known from the first feature alone. Expected: scikit-learn's classes, for each set of labels."""
    data = cloud()
    second = data.but(bank_labels=(data.bank[:, 0] > 0).long(), query_labels=(data.queries[:, 0] > 0).long())
    by_name = {"digit_1": data, "digit_2": second}

    class Two(type(data)):  # type: ignore[misc]
        def labels(self, split: str, name: str = "class") -> Tensor:
            return by_name[name].labels(split)

    found = linear(Two(data.bank, data.bank_labels, data.queries, data.query_labels, data.number), digits=2)
    for name, given in by_name.items():
        right = their_probabilities(given, 1e-3).argmax(axis=1) == given.query_labels.numpy()
        assert found.values[f"linear_top1;label={name}"] == pytest.approx(100 * right.mean(), abs=0.41)
    assert len(found.values) == 4
    assert found.n == len(data.queries)
