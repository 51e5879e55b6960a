"""Linear probes and the two-layer one: against scikit-learn, PyTorch, and loops in numpy."""

import copy
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.recipe import Views
from hypersphere.errors import NotFiniteError
from hypersphere.probes.linear import linear, standardise
from hypersphere.probes.linear_augmented import linear_augmented
from hypersphere.probes.linear_sgd import linear_sgd
from hypersphere.probes.linear_training_mode import linear_training_mode
from hypersphere.probes.mlp import mlp

from .conftest import cloud, floats

Scores = Callable[..., Tensor]
pytestmark = pytest.mark.trained


def their_probabilities(data: Any, penalty: float = 1e-3) -> np.ndarray:
    scaler = StandardScaler().fit(data.bank.numpy())
    columns = 2 if data.classes() == 2 else 1
    model = LogisticRegression(C=columns / (penalty * len(data.bank)), tol=1e-10, max_iter=10_000)
    model.fit(scaler.transform(data.bank.numpy()), data.bank_labels.numpy())
    return model.predict_proba(scaler.transform(data.queries.numpy()))


@pytest.mark.parametrize(
    "shape", [*({"m": 2000, "classes": classes} for classes in (2, 3, 4)), {"n": 60, "d": 90}]
)
def test_it_is_scikit_learns_logistic_regression(scores: Scores, shape: dict[str, Any]) -> None:
    """C = 1 / (penalty · n), or twice that for two classes; bias free. Of few images the fit is in their row space."""
    data = cloud(**shape)
    np.testing.assert_allclose(
        scores(linear, data).softmax(dim=1).numpy(), their_probabilities(data), atol=1e-3
    )


@pytest.mark.parametrize(
    "function", [lambda x: x * 10 + 3, lambda x: x * 1e-12, lambda x: x * 1e-30, lambda x: x * 1e12]
)
def test_scale_and_place_do_not_matter(
    scores: Scores, function: Callable[[Tensor], Tensor]
) -> None:
    """An encoder with cut weights gives features of 1e-12, and a probe that says so much of them as of others."""
    data = cloud()
    assert torch.equal(
        scores(linear, data.mapped(function)).argmax(dim=1), scores(linear, data).argmax(dim=1)
    )
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
    both = data.mapped(
        lambda features: torch.cat([features, torch.full((len(features), 1), value)], dim=1)
    )
    assert all((part[:, -1] == 0).all() for part in standardise(both.bank, both.queries))
    torch.testing.assert_close(scores(linear, both), scores(linear, data))
    commonest = (data.query_labels == data.bank_labels.bincount().argmax()).double().mean().item()
    alike = data.mapped(lambda features: torch.full_like(features, value))
    assert linear(alike).values["linear_top1"] == pytest.approx(100 * commonest)


def test_each_digit_has_a_fit_of_its_own() -> None:
    """The second is known from the first feature alone. Expected: scikit-learn's classes, for each set of labels."""
    data = cloud()
    second = data.but(
        bank_labels=(data.bank[:, 0] > 0).long(), query_labels=(data.queries[:, 0] > 0).long()
    )
    by_name = {"digit_1": data, "digit_2": second}
    given: Any = SimpleNamespace(
        features=data.features,
        labels=lambda split, name: by_name[name].labels(split),
        classes=data.classes,
    )
    found = linear(given, digits=2)
    for name, own in by_name.items():
        right = their_probabilities(own).argmax(axis=1) == own.query_labels.numpy()
        assert found.values[f"linear_top1;label={name}"] == pytest.approx(
            100 * right.mean(), abs=0.41
        )
    assert len(found.values) == 4
    assert found.n == len(data.queries)


def descend(
    data: Any,
    weights: list[np.ndarray],
    gradients: Callable[[np.ndarray, np.ndarray], list[np.ndarray]],
    purpose: str,
    epochs: int,
    batch: int,
    momentum: float,
    rate: Callable[[float], float],
) -> None:
    """By hand, in place: v = momentum · v + g, w -= rate · v. Batches are keyed, and the last, smaller one counts."""
    x, y = data.bank.double().numpy(), np.eye(data.classes())[data.bank_labels.numpy()]
    velocity = [np.zeros_like(weight) for weight in weights]
    for epoch in range(epochs):
        steps = np.split(prng.permutation(len(x), 0, purpose, epoch), range(batch, len(x), batch))
        for step, index in enumerate(steps):
            for weight, speed, gradient in zip(
                weights, velocity, gradients(x[index], y[index]), strict=True
            ):
                speed *= momentum
                speed += gradient
                weight -= rate(epoch + step / len(steps)) * speed


def back(logits: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of a batch's mean cross-entropy by its logits: (softmax - one-hot) / n."""
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True) - y) / len(y)


@pytest.mark.parametrize(
    ("epochs", "rate", "batch", "changed"),
    [
        (2, 0.1, 256, {}),
        (3, 0.01, 64, {}),
        (1, 0.05, 7, {}),
        (4, 0.02, 64, {"schedule": "cosine", "momentum": 0.5}),
    ],
)
def test_sgd_is_a_loop_over_keyed_batches(
    scores: Scores, epochs: int, rate: float, batch: int, changed: dict[str, Any]
) -> None:
    """Softmax regression by hand: gradient (p - y) x."""
    data = cloud(dtype=torch.float32)
    weight, bias = np.zeros((8, 4)), np.zeros(4)

    def gradients(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        wrong = back(x @ weight + bias, y)
        return [x.T @ wrong, wrong.sum(axis=0)]

    def at(passed: float) -> float:
        return rate * (
            0.5 + 0.5 * math.cos(math.pi * passed / epochs) if "schedule" in changed else 1
        )

    descend(
        data,
        [weight, bias],
        gradients,
        "linear_sgd",
        epochs,
        batch,
        changed.get("momentum", 0.9),
        at,
    )
    expected = data.queries.double().numpy() @ weight + bias
    found = scores(linear_sgd, data, epochs=epochs, learning_rate=rate, batch=batch, **changed)
    np.testing.assert_allclose(
        found.numpy(), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max()
    )
    assert len(set(expected.argmax(axis=1))) == 4


def test_sgd_has_the_bits_of_autograd(scores: Scores) -> None:
    """At a high rate, a difference in the last place would grow into other predictions."""
    data, head = cloud(dtype=torch.float32), nn.Linear(8, 4)
    for parameter in head.parameters():
        nn.init.zeros_(parameter)
    optimiser = torch.optim.SGD(head.parameters(), lr=0.5, momentum=0.9)
    for epoch in range(3):
        for index in torch.from_numpy(prng.permutation(300, 0, "linear_sgd", epoch)).split(64):
            optimiser.zero_grad()
            F.cross_entropy(head(data.bank[index]), data.bank_labels[index]).backward()
            optimiser.step()
    assert torch.equal(
        scores(linear_sgd, data, epochs=3, learning_rate=0.5, batch=64), head(data.queries)
    )


def coloured(n: int, classes: int = 3) -> Any:
    """Images of three or more noisy colours, and a network with batch norm."""
    random = np.random.default_rng(0)
    own = {split: random.integers(0, classes, size) for split, size in (("train", n), ("test", 90))}
    colour = np.array(
        [
            [90, 120, 120],
            [120, 90, 120],
            [120, 120, 90],
            *random.integers(90, 121, (classes - 3, 3)),
        ]
    )
    pixels = {
        split: np.clip(
            colour[y][:, None, None] + random.normal(0, 60, (len(y), 4, 4, 3)), 0, 255
        ).astype(np.uint8)
        for split, y in own.items()
    }
    torch.manual_seed(0)
    network = (
        nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten())
        .eval()
        .requires_grad_(False)
    )
    return SimpleNamespace(
        device=torch.device("cpu"),
        copy=lambda: copy.deepcopy(network),
        images=pixels.__getitem__,
        labels={split: torch.from_numpy(y) for split, y in own.items()}.__getitem__,
        features=lambda split: network(floats(pixels[split])),
        classes=lambda: classes,
        attribute=lambda split, name: None,
    )


def by_torch(world: Any, epochs: int, rate: float) -> list[tuple[list[tuple[int, float]], Tensor]]:
    """Of each epoch the batches' sizes and losses, and its scores of the test images, by nn.Linear and torch.optim.SGD.

    Batches are keyed. The last counts, but one of a single image, whose features after batch norm are any image's.
    """
    network, head, found = world.copy(), nn.Linear(24, world.classes()), []
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimiser = torch.optim.SGD(head.parameters(), lr=rate, momentum=0.9)
    x, y = floats(world.images("train")), world.labels("train")
    for epoch in range(epochs):
        network.train()
        losses = []
        for index in torch.from_numpy(
            prng.permutation(len(x), 0, "linear_training_mode", epoch)
        ).split(256):
            if len(index) > 1:
                loss = F.cross_entropy(head(network(x[index])), y[index])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append((len(index), loss.item()))
        with torch.no_grad():
            found.append((losses, head(network.eval()(floats(world.images("test"))))))
    return found


@pytest.mark.parametrize(
    ("n", "classes", "epochs", "rate", "best"),
    [
        (257, 3, 2, 0.1, 1),
        (300, 3, 3, 2.0, 1),
        (300, 7, 4, 2.0, 2),  # another epoch's mean over batches is lower
    ],
)
def test_in_training_mode_it_is_torchs_loop(
    scores: Scores, n: int, classes: int, epochs: int, rate: float, best: int
) -> None:
    """To the epoch whose images have the lowest training loss, counted from 0."""
    world = coloured(n, classes)
    ran = by_torch(world, epochs, rate)
    sums = [sum(size * loss for size, loss in losses) for losses, _ in ran]
    assert sums.index(min(sums)) == best
    expected = ran[best][1]
    given = {"epochs": epochs, "learning_rate": rate}
    torch.testing.assert_close(
        scores(linear_training_mode, world, **given), expected, atol=1e-4, rtol=1e-4
    )
    hits = (
        (expected.argsort(dim=1, descending=True) == world.labels("test")[:, None])
        .double()
        .mean(dim=0)
    )
    shares = {f"linear_top{k}": pytest.approx(100 * hits[:k].sum().item()) for k in (1, 5)}
    assert linear_training_mode(world, **given).values == shares


def test_on_augmented_images_it_is_torchs_loop(scores: Scores) -> None:
    """A new view of each image in each epoch, by nn.Linear and torch.optim.Adam; batch norm's statistics drift."""
    views = Views(crop_scale=(0.5, 1.0), blur=0.0)
    world = coloured(257)
    world.run = SimpleNamespace(branches=(views, Views(flip=0)))
    network, head = world.copy().train(), nn.Linear(24, 3)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.01, weight_decay=0.1)
    y = world.labels("train")
    for epoch in range(3):
        (seen,) = make_views(
            torch.from_numpy(world.images("train")), draw([views], 257, 4, 0, epoch), [views]
        )
        for index in torch.from_numpy(prng.permutation(257, 0, "linear_augmented", epoch)).split(
            64
        ):
            if len(index) > 1:
                optimiser.zero_grad()
                F.cross_entropy(head(network(seen[index])), y[index]).backward()
                optimiser.step()
    expected = head(network.eval()(floats(world.images("test"))))
    given = {"epochs": 3, "batch": 64, "learning_rate": 0.01, "weight_decay": 0.1}
    torch.testing.assert_close(
        scores(linear_augmented, world, **given), expected, atol=1e-4, rtol=1e-4
    )


SMALL: dict[str, Any] = {"hidden": 6, "epochs": 12, "drop_every": 5, "learning_rate": 0.2}


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
    data: Any, hidden: int, epochs: int, drop_every: int, learning_rate: float
) -> np.ndarray:
    """Backpropagation by hand; dropout's draws in the order of the steps."""
    w1, b1, w2, b2 = weights = [
        *start(8, hidden, "first"),
        *start(hidden, data.classes(), "second"),
    ]
    draws = generator("dropout")

    def gradients(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        inner = x @ w1 + b1
        mask = (inner > 0) * (torch.rand(inner.shape, generator=draws) >= 0.4).numpy() / 0.6
        wrong = back((inner * mask) @ w2 + b2, y)
        below = wrong @ w2.T * mask
        return [x.T @ below, below.sum(axis=0), (inner * mask).T @ wrong, wrong.sum(axis=0)]

    def rate(passed: float) -> float:
        return learning_rate / 10 ** (passed // drop_every)

    descend(data, weights, gradients, "mlp", epochs, 256, 0.9, rate)
    return np.maximum(data.queries.double().numpy() @ w1 + b1, 0) @ w2 + b2


def test_it_is_backpropagation_by_hand(scores: Scores) -> None:
    data = cloud(dtype=torch.float32).mapped(lambda features: features / 4)
    expected = backpropagation(data, **SMALL)
    found = scores(mlp, data, **SMALL)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-3 * np.abs(expected).max())
    right = 100 * (expected.argmax(axis=1) == data.query_labels.numpy()).mean()
    assert right > 40  # chance is 25
    assert mlp(data, **SMALL).values["mlp_top1"] == pytest.approx(right, abs=0.41)


def test_scores_that_overflow_are_a_sentence_and_not_class_zero(refused: Any) -> None:
    data, world = cloud(dtype=torch.float32).mapped(lambda features: features * 1e20), coloured(600)
    with refused("the probe's scores of 500 of 500 test images", kind=NotFiniteError):
        linear_sgd(data, learning_rate=1e5)
    with refused("the probe's scores of 90 of 90 test images", kind=NotFiniteError):
        linear_training_mode(world, learning_rate=1e38)
