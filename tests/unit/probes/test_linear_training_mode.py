"""The linear probe with batch norm in training mode, against PyTorch's own modules and optimiser."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from hypersphere import prng
from hypersphere.probes import bias
from hypersphere.probes.linear_training_mode import linear_training_mode
from hypersphere.probes.result import NotFiniteError


class World:
    """Stands in for ``Frozen``: images of two noisy colours, and a network with batch norm."""

    device = torch.device("cpu")

    def __init__(self, n: int = 70) -> None:
        random = np.random.default_rng(0)
        self.own = {split: random.integers(0, 3, size) for split, size in (("train", n), ("test", 90))}
        colour = np.array([[90, 120, 120], [120, 90, 120], [120, 120, 90]])
        self.pixels = {
            split: np.clip(colour[y][:, None, None] + random.normal(0, 60, (len(y), 4, 4, 3)), 0, 255).astype(np.uint8)
            for split, y in self.own.items()
        }
        torch.manual_seed(0)
        self.network = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten())
        self.network.eval().requires_grad_(False)

    def copy(self) -> nn.Module:
        return copy.deepcopy(self.network)

    def images(self, split: str) -> np.ndarray:
        return self.pixels[split]

    def labels(self, split: str) -> torch.Tensor:
        return torch.from_numpy(self.own[split])

    def features(self, split: str) -> torch.Tensor:
        return self.network(images_of(self, split))

    def classes(self) -> int:
        return 3

    def conflicting(self, split: str) -> None:
        """Nothing is biased here."""


def images_of(world: World, split: str) -> torch.Tensor:
    return torch.from_numpy(world.pixels[split]).permute(0, 3, 1, 2).float() / 255


def theirs(world: World, epochs: int, rate: float, batch: int, momentum: float) -> list[tuple[float, torch.Tensor]]:
    """Each epoch's loss and its scores of the test images, by nn.Linear and torch.optim.SGD."""
    network, head = copy.deepcopy(world.network), nn.Linear(24, 3)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimiser = torch.optim.SGD(head.parameters(), lr=rate, momentum=momentum)
    x, y, found = images_of(world, "train"), world.labels("train"), []
    for epoch in range(epochs):
        network.train()
        order, total = prng.permutation(len(x), 0, "linear_training_mode", epoch), 0.0
        for start in range(0, len(x), batch):
            index = torch.from_numpy(order[start : start + batch])
            loss = F.cross_entropy(head(network(x[index])), y[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(index)
        with torch.no_grad():
            found.append((total, head(network.eval()(images_of(world, "test")))))
    return found


@pytest.mark.parametrize(("epochs", "rate", "batch"), [(2, 0.1, 32), (3, 0.02, 7), (1, 0.5, 256)])
def test_it_is_torchs_loop(monkeypatch: pytest.MonkeyPatch, epochs: int, rate: float, batch: int) -> None:
    world: Any = World()
    seen: list[torch.Tensor] = []
    module = __import__("hypersphere.probes.linear_training_mode", fromlist=["scored"])
    monkeypatch.setattr(
        module, "scored", lambda frozen, scores, m: seen.append(scores) or bias.scored(frozen, scores, m)
    )
    found = linear_training_mode(world, epochs=epochs, learning_rate=rate, batch=batch)
    _, expected = min(theirs(world, epochs, rate, batch, 0.9), key=lambda one: one[0])
    torch.testing.assert_close(seen[0], expected, atol=1e-4, rtol=1e-4)
    right = (expected.argmax(dim=1) == world.labels("test")).double().mean().item()
    assert found.values["linear_top1"] == pytest.approx(100 * right)
    assert found.values["linear_top5"] == 100.0
    assert found.n == 90


def test_the_epoch_of_lowest_training_loss_counts() -> None:
    """At a high rate the first epoch is the better one."""
    world: Any = World()
    epochs = theirs(world, 4, 30.0, 8, 0.9)
    best = min(range(4), key=lambda epoch: epochs[epoch][0])
    assert best < 3
    right = (epochs[best][1].argmax(dim=1) == world.labels("test")).double().mean().item()
    found = linear_training_mode(world, epochs=4, learning_rate=30.0, batch=8).values["linear_top1"]
    assert found == pytest.approx(100 * right, abs=2.5)


def test_the_network_itself_stays_as_it_is() -> None:
    world: Any = World()
    before = {name: value.clone() for name, value in world.network.state_dict().items()}
    first, second = (linear_training_mode(world).values for _ in range(2))
    assert first == second
    assert all(torch.equal(value, before[name]) for name, value in world.network.state_dict().items())
    assert not world.network.training


def test_a_last_batch_of_one_image_is_left_out() -> None:
    """Its features after batch norm would be the same for any image."""
    world: Any = World(n=65)
    assert linear_training_mode(world, batch=32).values.keys() == {"linear_top1", "linear_top5"}


def test_scores_that_are_not_finite_are_refused() -> None:
    world: Any = World()
    with pytest.raises(NotFiniteError):
        linear_training_mode(world, learning_rate=1e38, batch=8)
