"""kNN and linear probes against scikit-learn and against loops, on overlapping random classes."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from hypersphere import keyed
from hypersphere.probes import knn as knn_module
from hypersphere.probes.features import Features
from hypersphere.probes.knn import knn
from hypersphere.probes.linear import linear, standardise
from hypersphere.probes.linear_sgd import linear_sgd


def cloud(n: int = 300, m: int = 500, d: int = 8, classes: int = 4, dtype: torch.dtype = torch.float64) -> Features:
    """Overlapping Gaussian classes, off centre, columns of very different scale."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(classes, d))
    scales = np.geomspace(0.1, 10, d)

    def draw(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        labels = random.integers(0, classes, count)
        points = (centres[labels] + random.normal(size=(count, d)) + 0.5) * scales
        return torch.from_numpy(points).to(dtype), torch.from_numpy(labels)

    return Features(*draw(n), *draw(m), classes)


def agreement(a: torch.Tensor, b: np.ndarray) -> float:
    return float((a.numpy() == b).mean())


# kNN


@pytest.mark.parametrize(("k", "temperature"), [(1, 0.1), (5, 0.1), (20, 0.02), (200, 0.1), (300, 1.0)])
def test_knn_is_scikit_learns_with_these_weights(k: int, temperature: float) -> None:
    """Cosine distance is 1 - similarity, so the weight exp(similarity / t) is exp((1 - distance) / t)."""
    data = cloud()
    theirs = KNeighborsClassifier(
        n_neighbors=k, metric="cosine", algorithm="brute", weights=lambda d: np.exp((1 - d) / temperature)
    ).fit(data.bank.numpy(), data.bank_labels.numpy())
    expected = theirs.predict(data.queries.numpy())
    assert agreement(knn(data, k=k, temperature=temperature), expected) == 1
    assert 0.4 < (expected == data.query_labels.numpy()).mean() < 0.95  # a task with room, or agreement says little


def test_knn_weights_matter() -> None:
    """Control: without weights, or with another k, some queries change class."""
    data = cloud()
    ours = knn(data, k=20, temperature=0.1)
    uniform = KNeighborsClassifier(n_neighbors=20, metric="cosine").fit(data.bank.numpy(), data.bank_labels.numpy())
    assert agreement(ours, uniform.predict(data.queries.numpy())) < 0.99
    assert (knn(data, k=10) != ours).any()


def test_knn_takes_the_whole_bank_where_it_is_smaller() -> None:
    data = cloud(n=30)
    assert torch.equal(knn(data, k=200), knn(data, k=30))


def test_knn_does_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cloud()
    whole = knn(data, k=20)
    monkeypatch.setattr(knn_module, "BLOCK", 7)
    assert torch.equal(knn(data, k=20), whole)


def test_knn_ignores_norms() -> None:
    data = cloud()
    scaled = data._replace(bank=data.bank * 7, queries=data.queries / 7)
    assert torch.equal(knn(scaled, k=20), knn(data, k=20))


def test_equal_votes_go_to_the_lower_class() -> None:
    bank = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    data = Features(bank, torch.tensor([2, 1]), bank[:1], torch.tensor([0]), 3)
    assert knn(data, k=2).tolist() == [1]


def test_knn_by_hand() -> None:
    """One neighbour at cosine 1 against two at cosine 0: e^(1/t) beats 2 exactly if t < 1 / ln 2 = 1.4427."""
    bank = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    data = Features(bank, torch.tensor([0, 1, 1]), torch.tensor([[2.0, 0.0]]), torch.tensor([0]), 2)
    assert knn(data, k=3, temperature=1.44).tolist() == [0]
    assert knn(data, k=3, temperature=1.45).tolist() == [1]


def test_knn_votes_do_not_overflow() -> None:
    """In float32 exp(1 / 0.01) is infinite; in scikit-learn's float64 it is not."""
    data, temperature = cloud(dtype=torch.float32), 0.01
    theirs = KNeighborsClassifier(
        n_neighbors=20, metric="cosine", algorithm="brute", weights=lambda d: np.exp((1 - d) / temperature)
    ).fit(data.bank.double().numpy(), data.bank_labels.numpy())
    expected = theirs.predict(data.queries.double().numpy())
    assert agreement(knn(data, k=20, temperature=temperature), expected) >= 0.995


# L-BFGS


@pytest.mark.parametrize("penalty", [1e-3, 1e-1, 1e-5])
def test_linear_is_scikit_learns_logistic_regression(penalty: float) -> None:
    """C = 1 / (penalty · n), bias free; agreement up to queries on a boundary."""
    data = cloud(m=2000)
    scaler = StandardScaler().fit(data.bank.numpy())
    theirs = LogisticRegression(C=1 / (penalty * len(data.bank)), tol=1e-10, max_iter=10_000)
    theirs.fit(scaler.transform(data.bank.numpy()), data.bank_labels.numpy())
    probabilities = theirs.predict_proba(scaler.transform(data.queries.numpy()))
    ours = linear(data, penalty=penalty).numpy()
    top = np.sort(probabilities, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-3
    assert (ours == probabilities.argmax(axis=1))[clear].mean() >= 0.995
    assert clear.mean() > 0.95


def test_linear_depends_on_the_penalty() -> None:
    """Control for the agreement above."""
    data = cloud(m=2000)
    assert (linear(data, penalty=1e-3) != linear(data, penalty=1.0)).double().mean() > 0.01


def test_linear_has_equal_bits_on_rerun() -> None:
    data = cloud(dtype=torch.float32)
    torch.manual_seed(1)
    first = linear(data)
    torch.manual_seed(2)
    assert torch.equal(linear(data), first)


def test_linear_does_not_depend_on_scale_and_place() -> None:
    data = cloud()
    moved = data._replace(bank=data.bank * 10 + 3, queries=data.queries * 10 + 3)
    assert torch.equal(linear(moved), linear(data))


def test_standardise_is_scikit_learns() -> None:
    data = cloud()
    bank, queries = standardise(data)
    scaler = StandardScaler().fit(data.bank.numpy())
    np.testing.assert_allclose(bank.numpy(), scaler.transform(data.bank.numpy()), atol=1e-12)
    np.testing.assert_allclose(queries.numpy(), scaler.transform(data.queries.numpy()), atol=1e-12)


def test_a_constant_feature_is_harmless() -> None:
    data = cloud()
    constant = data._replace(
        bank=torch.cat([data.bank, torch.full((300, 1), 3.0)], dim=1),
        queries=torch.cat([data.queries, torch.full((500, 1), 3.0)], dim=1),
    )
    assert torch.equal(linear(constant), linear(data))


@pytest.mark.parametrize("probe", [linear, linear_sgd, knn])
def test_probes_work_on_inference_tensors(probe: Callable[[Features], torch.Tensor]) -> None:
    """Features are computed in inference mode."""
    data = cloud(dtype=torch.float32)
    with torch.inference_mode():
        frozen = data._replace(bank=data.bank.clone(), queries=data.queries.clone())
    assert frozen.bank.is_inference()
    assert torch.equal(probe(frozen), probe(data))


# SGD


@pytest.mark.parametrize(("epochs", "rate", "batch"), [(2, 0.1, 256), (3, 0.01, 64), (1, 0.05, 7)])
def test_linear_sgd_is_a_loop_over_keyed_batches(epochs: int, rate: float, batch: int) -> None:
    """Softmax regression by hand in numpy: gradient (p - y) x, v = 0.9 v + g, w -= rate · v; the last batch counts."""
    data = cloud(dtype=torch.float32)
    x, y = data.bank.double().numpy(), np.eye(data.classes)[data.bank_labels.numpy()]
    x = np.hstack([x, np.ones((len(x), 1))])
    weights = np.zeros((x.shape[1], data.classes))
    velocity = np.zeros_like(weights)
    for epoch in range(epochs):
        order = keyed.permutation(len(x), 0, "linear_sgd", epoch)
        for start in range(0, len(x), batch):
            index = order[start : start + batch]
            logits = x[index] @ weights
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            velocity = 0.9 * velocity + x[index].T @ (p - y[index]) / len(index)
            weights -= rate * velocity
    queries = np.hstack([data.queries.double().numpy(), np.ones((len(data.queries), 1))])
    expected = (queries @ weights).argmax(axis=1)
    assert agreement(linear_sgd(data, epochs=epochs, learning_rate=rate, batch=batch), expected) >= 0.995
    assert len(set(expected)) == 4


def test_linear_sgd_ignores_torchs_generator() -> None:
    data = cloud(dtype=torch.float32)
    torch.manual_seed(1)
    first = linear_sgd(data)
    torch.manual_seed(2)
    assert torch.equal(linear_sgd(data), first)
    assert (linear_sgd(data, epochs=1) != first).any()  # control
