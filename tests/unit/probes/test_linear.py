"""Linear probes and the two-layer one: against scikit-learn, PyTorch, and loops in numpy."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.errors import NotFiniteError
from hypersphere.probes.linear import linear, standardise
from hypersphere.probes.linear_sgd import linear_sgd
from hypersphere.probes.linear_training_mode import linear_training_mode
from hypersphere.probes.mlp import mlp

from .conftest import StandIn, cloud

Scores = Callable[..., Tensor]
pytestmark = pytest.mark.trained


def their_probabilities(data: Any, penalty: float) -> np.ndarray:
    scaler = StandardScaler().fit(data.bank.numpy())
    columns = 2 if data.classes() == 2 else 1
    model = LogisticRegression(C=columns / (penalty * len(data.bank)), tol=1e-10, max_iter=10_000)
    model.fit(scaler.transform(data.bank.numpy()), data.bank_labels.numpy())
    found: np.ndarray = model.predict_proba(scaler.transform(data.queries.numpy()))
    return found


@pytest.mark.parametrize(
    ("penalty", "shape"),
    [
        *[(penalty, {"m": 2000, "classes": classes}) for penalty in (1e-3, 1e-1, 1e-5) for classes in (2, 3, 4)],
        (1e-2, {"n": 60, "d": 90}),  # fewer images than dimensions, as of raw pixels: the fit is in the row space
    ],
)
def test_it_is_scikit_learns_logistic_regression(scores: Scores, penalty: float, shape: dict[str, Any]) -> None:
    """C = 1 / (penalty · n), or twice that for two classes; bias free."""
    data = cloud(**shape)
    expected = their_probabilities(data, penalty)
    found = scores(linear, data, penalty=penalty).softmax(dim=1).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(
    "function", [lambda x: x * 10 + 3, lambda x: x * 1e-12, lambda x: x * 1e-30, lambda x: x * 1e12]
)
def test_scale_and_place_do_not_matter(scores: Scores, function: Callable[[Tensor], Tensor]) -> None:
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
def test_a_constant_dimension_is_zero(scores: Scores, value: float) -> None:
    """And where all are constant, the commonest class is predicted."""
    data = cloud()
    both = data.mapped(lambda features: torch.cat([features, torch.full((len(features), 1), value)], dim=1))
    assert all((part[:, -1] == 0).all() for part in standardise(both.bank, both.queries))
    torch.testing.assert_close(scores(linear, both), scores(linear, data))
    commonest = (data.query_labels == data.bank_labels.bincount().argmax()).double().mean().item()
    alike = data.mapped(lambda features: torch.full_like(features, value))
    assert linear(alike).values["linear_top1"] == pytest.approx(100 * commonest)


def test_each_digit_has_a_fit_of_its_own() -> None:
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


def coloured(n: int, classes: int = 3) -> Any:
    """Images of noisy colours, and a network with batch norm."""
    random = np.random.default_rng(0)
    own = {split: random.integers(0, classes, size) for split, size in (("train", n), ("test", 90))}
    three = np.array([[90, 120, 120], [120, 90, 120], [120, 120, 90]])
    colour = three if classes == 3 else np.random.default_rng(1).integers(60, 180, (classes, 3))
    pixels = {
        split: np.clip(colour[y][:, None, None] + random.normal(0, 60, (len(y), 4, 4, 3)), 0, 255).astype(np.uint8)
        for split, y in own.items()
    }
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten()).eval().requires_grad_(False)
    return StandIn(
        device=torch.device("cpu"),
        copy=lambda: copy.deepcopy(network),
        images=pixels.__getitem__,
        labels={split: torch.from_numpy(y) for split, y in own.items()}.__getitem__,
        features=lambda split: network(floats(pixels[split])),
        classes=lambda: classes,
    )


def floats(pixels: np.ndarray) -> Tensor:
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255


def by_torch(
    x: Tensor,
    y: Tensor,
    network: nn.Module,
    tested: Tensor,
    purpose: str,
    epochs: int,
    learning_rate: float,
    batch: int,
    momentum: float = 0.9,
    schedule: str = "constant",
) -> list[tuple[float, Tensor]]:
    """Each epoch's loss, and its scores of the test images, by nn.Linear, autograd and torch.optim.SGD.

    Batches are keyed. The last counts, but one of a single image, whose features after batch norm are any image's.
    """
    head = nn.Linear(network(tested).shape[1], int(y.max()) + 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimiser, found = torch.optim.SGD(head.parameters(), momentum=momentum), []
    for epoch in range(epochs):
        network.train()
        steps, total = torch.from_numpy(prng.permutation(len(x), 0, purpose, epoch)).split(batch), 0.0
        for step, index in enumerate(steps):
            if len(index) == 1:
                continue
            done = (epoch + step / len(steps)) / epochs if schedule == "cosine" else 0
            optimiser.param_groups[0]["lr"] = learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            loss = F.cross_entropy(head(network(x[index])), y[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(index)
        with torch.no_grad():
            found.append((total, head(network.eval()(tested))))
    return found


def settings(epochs: int, learning_rate: float, batch: int, **others: Any) -> dict[str, Any]:
    return {"epochs": epochs, "learning_rate": learning_rate, "batch": batch, **others}


@pytest.mark.parametrize(
    "given",
    [
        settings(2, 0.1, 256),
        settings(1, 0.05, 7),
        settings(4, 0.02, 64, schedule="cosine"),
        settings(4, 0.02, 64, momentum=0.0),
        settings(4, 0.02, 64, schedule="cosine", momentum=0.5),
    ],
)
def test_sgd_is_torchs_loop_to_the_bit(scores: Scores, given: dict[str, Any]) -> None:
    """At a high rate, a difference in the last place would grow into other predictions."""
    data = cloud(dtype=torch.float32)
    *_, (_, expected) = by_torch(data.bank, data.bank_labels, nn.Identity(), data.queries, "linear_sgd", **given)
    assert torch.equal(scores(linear_sgd, data, **given), expected)
    assert len(expected.argmax(dim=1).unique()) == 4


@pytest.mark.parametrize(
    ("world", "given"),
    [
        (coloured(70), settings(2, 0.1, 32)),
        (coloured(70), settings(3, 0.02, 7)),
        (coloured(65), settings(1, 0.5, 32)),
        (coloured(70), settings(4, 0.5, 8)),
        # the first epoch would be the lowest if its last batch, of four images, counted as much as the others of eight
        (coloured(36, classes=7), settings(4, 3.0, 8)),
    ],
)
def test_in_training_mode_it_is_torchs_loop(scores: Scores, world: Any, given: dict[str, Any]) -> None:
    """To the epoch of lowest training loss, which of the last two is the second."""
    x, tested = (floats(world.images(split)) for split in ("train", "test"))
    epochs = by_torch(x, world.labels("train"), world.copy(), tested, "linear_training_mode", **given)
    _, expected = min(epochs, key=lambda one: one[0])
    torch.testing.assert_close(scores(linear_training_mode, world, **given), expected, atol=1e-4, rtol=1e-4)
    better = (expected > expected.gather(1, world.labels("test")[:, None])).sum(dim=1)
    right = {f"linear_top{k}": pytest.approx(100 * (better < k).double().mean().item()) for k in (1, 5)}
    assert linear_training_mode(world, **given).values == right


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


def backpropagation(
    data: Any, hidden: int, epochs: int, batch: int, drop_every: int, learning_rate: float
) -> np.ndarray:
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


def test_it_is_backpropagation_by_hand(scores: Scores) -> None:
    data = cloud(dtype=torch.float32).mapped(lambda features: features / 4)
    expected = backpropagation(data, **SMALL)
    found = scores(mlp, data, **SMALL)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-3 * np.abs(expected).max())
    right = 100 * (expected.argmax(axis=1) == data.query_labels.numpy()).mean()
    assert right > 40  # chance is 25
    assert mlp(data, **SMALL).values["mlp_top1"] == pytest.approx(right, abs=0.41)


def test_scores_that_overflow_are_a_sentence_and_not_class_zero(refused: Any) -> None:
    data, world = cloud(dtype=torch.float32).mapped(lambda features: features * 1e20), coloured(70)
    with refused(NotFiniteError):
        linear_sgd(data, learning_rate=1e5)
    with refused(NotFiniteError):
        linear_training_mode(world, learning_rate=1e38, batch=8)
