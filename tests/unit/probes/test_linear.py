"""Linear probes and the two-layer one: against scikit-learn and PyTorch."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
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


def their_probabilities(data: Any, penalty: float = 1e-3) -> np.ndarray:
    scaler = StandardScaler().fit(data.bank.numpy())
    columns = 2 if data.classes() == 2 else 1
    model = LogisticRegression(C=columns / (penalty * len(data.bank)), tol=1e-10, max_iter=10_000)
    model.fit(scaler.transform(data.bank.numpy()), data.bank_labels.numpy())
    found: np.ndarray = model.predict_proba(scaler.transform(data.queries.numpy()))
    return found


@pytest.mark.parametrize("shape", [*({"m": 2000, "classes": classes} for classes in (2, 3, 4)), {"n": 60, "d": 90}])
def test_it_is_scikit_learns_logistic_regression(scores: Scores, shape: dict[str, Any]) -> None:
    """C = 1 / (penalty · n), or twice that for two classes; bias free. Of few images the fit is in their row space."""
    data = cloud(**shape)
    np.testing.assert_allclose(scores(linear, data).softmax(dim=1).numpy(), their_probabilities(data), atol=1e-3)


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
        right = their_probabilities(given).argmax(axis=1) == given.query_labels.numpy()
        assert found.values[f"linear_top1;label={name}"] == pytest.approx(100 * right.mean(), abs=0.41)
    assert len(found.values) == 4
    assert found.n == len(data.queries)


def by_torch(
    model: Callable[[Tensor], Tensor],
    parameters: Iterable[nn.Parameter],
    x: Tensor,
    y: Tensor,
    purpose: str,
    epochs: int,
    batch: int,
    momentum: float,
    rate: Callable[[float], float],
) -> Iterator[list[tuple[int, float]]]:
    """Train by torch's own gradients and SGD: after each epoch its batches' sizes and losses.

    Batches are keyed. The last, smaller one counts, but one of a single image, whose features after batch norm are any
    image's.
    """
    optimiser = torch.optim.SGD([*parameters], lr=0.0, momentum=momentum)
    for epoch in range(epochs):
        losses = []
        steps = torch.from_numpy(prng.permutation(len(x), 0, purpose, epoch)).split(batch)
        for step, index in enumerate(steps):
            if len(index) > 1:
                loss = F.cross_entropy(model(x[index]), y[index])
                optimiser.zero_grad()
                loss.backward()
                optimiser.param_groups[0]["lr"] = rate(epoch + step / len(steps))
                optimiser.step()
                losses.append((len(index), loss.item()))
        yield losses


@pytest.mark.parametrize(
    ("epochs", "rate", "batch", "changed"),
    [
        (2, 0.1, 256, {}),
        (3, 0.5, 64, {}),
        (1, 0.05, 7, {}),
        (4, 0.02, 64, {"schedule": "cosine", "momentum": 0.5}),
    ],
)
def test_sgd_has_the_bits_of_autograd(
    scores: Scores, epochs: int, rate: float, batch: int, changed: dict[str, Any]
) -> None:
    """At a high rate, a difference in the last place would grow into other predictions."""
    data, head = cloud(dtype=torch.float32), nn.Linear(8, 4)
    for parameter in head.parameters():
        nn.init.zeros_(parameter)

    def at(passed: float) -> float:
        return rate * (0.5 * (1 + math.cos(math.pi * passed / epochs)) if "schedule" in changed else 1)

    given = data.bank, data.bank_labels, "linear_sgd", epochs, batch, changed.get("momentum", 0.9), at
    assert len([*by_torch(head, head.parameters(), *given)]) == epochs
    found = scores(linear_sgd, data, epochs=epochs, learning_rate=rate, batch=batch, **changed)
    assert torch.equal(found, head(data.queries))
    assert len(found.argmax(dim=1).unique()) == 4


def coloured(n: int, classes: int = 3) -> Any:
    """Images of three or more noisy colours, and a network with batch norm."""
    random = np.random.default_rng(0)
    own = {split: random.integers(0, classes, size) for split, size in (("train", n), ("test", 90))}
    colour = np.array([[90, 120, 120], [120, 90, 120], [120, 120, 90], *random.integers(90, 121, (classes - 3, 3))])
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
    world, head, sums, tested = coloured(n, classes), nn.Linear(24, classes), [], []
    network, x = world.copy().train(), floats(world.images("train"))
    for parameter in head.parameters():
        nn.init.zeros_(parameter)
    steps = world.labels("train"), "linear_training_mode", epochs, 256, 0.9, lambda passed: rate
    for losses in by_torch(nn.Sequential(network, head), head.parameters(), x, *steps):
        sums.append(sum(size * loss for size, loss in losses))
        with torch.no_grad():
            tested.append(head(network.eval()(floats(world.images("test")))))
        network.train()
    assert sums.index(min(sums)) == best
    expected = tested[best]
    given = {"epochs": epochs, "learning_rate": rate}
    torch.testing.assert_close(scores(linear_training_mode, world, **given), expected, atol=1e-4, rtol=1e-4)
    hits = (expected.argsort(dim=1, descending=True) == world.labels("test")[:, None]).double().mean(dim=0)
    shares = {f"linear_top{k}": pytest.approx(100 * hits[:k].sum().item()) for k in (1, 5)}
    assert linear_training_mode(world, **given).values == shares


def test_the_two_layers_are_trained_as_by_autograd(scores: Scores) -> None:
    """From weights uniform within 1/sqrt(inputs); dropout's draws are in the order of the steps."""

    def generator(purpose: str) -> torch.Generator:
        return torch.Generator().manual_seed(prng.torch_seed(0, "mlp", purpose))

    data = cloud(dtype=torch.float32).mapped(lambda features: features / 4)
    layers = {"first": nn.Linear(8, 6), "second": nn.Linear(6, 4)}
    for name, parameter in nn.ModuleDict(layers).named_parameters():
        drawn = torch.rand(parameter.shape, generator=generator(name))
        parameter.data = (2 * drawn - 1) * layers[name.partition(".")[0]].in_features ** -0.5
    draws = generator("dropout")

    def dropped(x: Tensor) -> Tensor:
        inner = layers["first"](x).relu()
        kept: Tensor = layers["second"](inner * (torch.rand(inner.shape, generator=draws) >= 0.4) / 0.6)
        return kept

    parameters = nn.ModuleDict(layers).parameters()
    given = data.bank, data.bank_labels, "mlp", 12, 256, 0.9, lambda passed: 0.2 / 10 ** (passed // 5)
    assert len([*by_torch(dropped, parameters, *given)]) == 12
    expected = layers["second"](layers["first"](data.queries).relu()).detach()
    small: dict[str, Any] = {"hidden": 6, "epochs": 12, "drop_every": 5, "learning_rate": 0.2}
    torch.testing.assert_close(scores(mlp, data, **small), expected, atol=1e-3 * float(expected.abs().max()), rtol=1e-7)
    right = 100 * (expected.argmax(dim=1) == data.query_labels).double().mean().item()
    assert right > 40  # chance is 25
    assert mlp(data, **small).values["mlp_top1"] == pytest.approx(right, abs=0.41)


def test_scores_that_overflow_are_a_sentence_and_not_class_zero(refused: Any) -> None:
    data, world = cloud(dtype=torch.float32).mapped(lambda features: features * 1e20), coloured(600)
    with refused(NotFiniteError):
        linear_sgd(data, learning_rate=1e5)
    with refused(NotFiniteError):
        linear_training_mode(world, learning_rate=1e38)
