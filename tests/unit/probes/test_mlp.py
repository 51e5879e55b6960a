"""The two-layer probe against a loop in numpy, and its draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.probes import mlp as mlp_module
from hypersphere.probes.mlp import kept, mlp

Scores = Callable[..., Tensor]
pytestmark = pytest.mark.trained
SMALL: dict[str, Any] = {"hidden": 6, "epochs": 5, "batch": 64, "drop_every": 2, "learning_rate": 0.4}


def generator(purpose: str) -> torch.Generator:
    return torch.Generator().manual_seed(prng.torch_seed(0, "mlp", purpose))


def start(inputs: int, outputs: int, layer: str) -> tuple[np.ndarray, np.ndarray]:
    """Uniform within 1/sqrt(inputs), weights [inputs, outputs]."""
    drawn = [
        torch.rand(shape, generator=generator(f"{layer}.{part}")).double().numpy()
        for shape, part in (((outputs, inputs), "weight"), ((outputs,), "bias"))
    ]
    weight, bias = ((2 * part - 1) * inputs**-0.5 for part in drawn)
    return weight.T.copy(), bias


def by_loop(data: Any, hidden: int, epochs: int, batch: int, drop_every: int, learning_rate: float) -> np.ndarray:
    """Backpropagation by hand; dropout's draws in the order of the steps."""
    x, y = data.bank.double().numpy(), np.eye(data.classes())[data.bank_labels.numpy()]
    weights = [*start(x.shape[1], hidden, "first"), *start(hidden, data.classes(), "second")]
    velocity = [np.zeros_like(weight) for weight in weights]
    draws = generator("dropout")
    for epoch in range(epochs):
        rate = learning_rate * batch / 256 / 10 ** (epoch // drop_every)
        order = prng.permutation(len(x), 0, "mlp", epoch)
        for index in np.split(order, range(batch, len(x), batch)):
            inner = x[index] @ weights[0] + weights[1]
            mask = (inner > 0) * (torch.rand(inner.shape, generator=draws) >= 0.4).numpy() / 0.6
            logits = (inner * mask) @ weights[2] + weights[3]
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            back = (p / p.sum(axis=1, keepdims=True) - y[index]) / len(index)
            below = back @ weights[2].T * mask
            gradients = [x[index].T @ below, below.sum(axis=0), (inner * mask).T @ back, back.sum(axis=0)]
            for weight, speed, gradient in zip(weights, velocity, gradients, strict=True):
                speed *= 0.9
                speed += gradient
                weight -= rate * speed
    inner = data.queries.double().numpy() @ weights[0] + weights[1]
    found: np.ndarray = np.maximum(inner, 0) @ weights[2] + weights[3]
    return found


def test_it_is_backpropagation_by_hand(cloud: Any, scores: Scores) -> None:
    data = cloud(dtype=torch.float32).mapped(lambda features: features / 4)
    expected = by_loop(data, **SMALL)
    found = scores(mlp, data, **SMALL)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-3 * np.abs(expected).max())
    value = mlp(data, **SMALL)
    assert value.values.keys() == {"mlp_top1"}
    assert value.values["mlp_top1"] == pytest.approx(
        100 * (expected.argmax(axis=1) == data.query_labels.numpy()).mean(), abs=0.41
    )
    assert value.values["mlp_top1"] > 40  # chance is 25
    assert value.n == 500


def test_it_tells_apart_what_a_linear_probe_cannot(given: Any) -> None:
    """Exclusive or: four corners, opposite ones of a class."""
    random = np.random.default_rng(0)
    corners = random.choice([-1.0, 1.0], (400, 2))
    points = torch.from_numpy(corners + 0.1 * random.normal(size=(400, 2))).float()
    labels = torch.from_numpy((corners.prod(axis=1) > 0).astype(int))
    data = given(points[:300], labels[:300], points[300:], labels[300:], 2)
    assert mlp(data, hidden=32, epochs=60).values["mlp_top1"] == 100


def test_dropout_keeps_all_but_a_share() -> None:
    draws = generator("dropout")
    found = kept(torch.Size((200, 500)), 0.4, draws)
    assert found.double().mean().item() == pytest.approx(0.6, abs=0.01)
    assert not torch.equal(kept(torch.Size((200, 500)), 0.4, draws), found)
    assert kept(torch.Size((3, 5)), 0.0, draws).all()


def test_layers_start_as_torch_starts_them() -> None:
    """Uniform within 1/sqrt(64), each tensor by a key of its own."""
    (weight, bias), (other, _) = mlp_module._layer("first", 64, 300), mlp_module._layer("second", 64, 300)
    torchs = nn.Linear(64, 300)
    assert weight.std().item() == pytest.approx(torchs.weight.std().item(), rel=0.03)
    assert 0.124 < weight.abs().max().item() <= 0.125
    assert 0.11 < bias.abs().max().item() <= 0.125
    assert not torch.equal(weight, other)
