"""SGD probes against a loop in numpy."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere import prng
from hypersphere.probes.linear_sgd import linear_sgd
from hypersphere.probes.result import NotFiniteError

Scores = Callable[..., Tensor]
pytestmark = pytest.mark.trained


def by_loop(data: Any, epochs: int, rate: float, batch: int, momentum: float = 0.9, cosine: bool = False) -> np.ndarray:
    """Softmax regression by hand: gradient (p - y) x, v = momentum · v + g, w -= rate · v; the last batch counts."""
    x, y = data.bank.double().numpy(), np.eye(data.classes())[data.bank_labels.numpy()]
    x = np.hstack([x, np.ones((len(x), 1))])
    weights = np.zeros((x.shape[1], data.classes()))
    velocity = np.zeros_like(weights)
    step, steps = 0, epochs * math.ceil(len(x) / batch)
    for epoch in range(epochs):
        order = prng.permutation(len(x), 0, "linear_sgd", epoch)
        for start in range(0, len(x), batch):
            index = order[start : start + batch]
            logits = x[index] @ weights
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            velocity = momentum * velocity + x[index].T @ (p - y[index]) / len(index)
            weights -= rate * (0.5 + 0.5 * math.cos(math.pi * step / steps) if cosine else 1) * velocity
            step += 1
    queries = np.hstack([data.queries.double().numpy(), np.ones((len(data.queries), 1))])
    found: np.ndarray = queries @ weights
    return found


@pytest.mark.parametrize(("epochs", "rate", "batch"), [(2, 0.1, 256), (3, 0.01, 64), (1, 0.05, 7)])
def test_it_is_a_loop_over_keyed_batches(cloud: Any, scores: Scores, epochs: int, rate: float, batch: int) -> None:
    data = cloud(dtype=torch.float32)
    expected = by_loop(data, epochs, rate, batch)
    found = scores(linear_sgd, data, epochs=epochs, learning_rate=rate, batch=batch)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    assert len(set(expected.argmax(axis=1))) == 4


@pytest.mark.parametrize(("schedule", "momentum"), [("cosine", 0.9), ("constant", 0.0), ("cosine", 0.5)])
def test_schedule_and_momentum(
    cloud: Any, scores: Scores, schedule: Literal["constant", "cosine"], momentum: float
) -> None:
    data = cloud(dtype=torch.float32)
    parameters: dict[str, Any] = {"epochs": 4, "learning_rate": 0.02, "batch": 64}
    found = scores(linear_sgd, data, **parameters, schedule=schedule, momentum=momentum)
    expected = by_loop(data, 4, 0.02, 64, momentum, schedule == "cosine")
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    assert not torch.allclose(found, scores(linear_sgd, data, **parameters), rtol=1e-2)  # control


def test_a_rate_that_overflows_is_a_sentence_and_not_class_zero(cloud: Any) -> None:
    data = cloud(dtype=torch.float32).mapped(lambda features: features * 1e20)
    with pytest.raises(NotFiniteError, match="scores of 500 of 500"):
        linear_sgd(data, learning_rate=1e5)
