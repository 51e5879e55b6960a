"""SGD by given gradients against autograd and torch.optim.SGD."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.probes.descent import cross_entropy, fit


def test_the_gradient_by_the_scores_is_the_closed_form() -> None:
    """(softmax - one-hot) / n, in numpy."""
    draws = np.random.default_rng(0)
    scores, labels = 5 * draws.normal(size=(7, 4)), draws.integers(4, size=7)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    loss, gradient = cross_entropy(torch.from_numpy(scores), torch.from_numpy(labels))
    np.testing.assert_allclose(gradient.numpy(), (p - np.eye(4)[labels]) / 7, atol=1e-14)
    assert loss.item() == pytest.approx(-np.log(p[range(7), labels]).mean(), rel=1e-12)


def test_the_steps_are_those_of_torchs_sgd() -> None:
    """To the bit: the rate changes at each step, the last batch is smaller, an epoch keys the order of images."""
    draws = torch.Generator().manual_seed(0)
    bank, labels = torch.randn(23, 5, generator=draws), torch.randint(3, (23,), generator=draws)
    weight = torch.zeros(3, 5)

    def gradients(features: Tensor, classes: Tensor) -> list[Tensor]:
        return [cross_entropy(features @ weight.T, classes)[1].T @ features]

    def rate(passed: float) -> float:
        return 0.5 / (1 + passed)

    fit([weight], gradients, bank, labels, purpose="test", epochs=3, batch=6, momentum=0.8, rate=rate)
    layer = nn.Linear(5, 3, bias=False)
    nn.init.zeros_(layer.weight)
    optimiser = torch.optim.SGD(layer.parameters(), lr=1, momentum=0.8)
    for epoch in range(3):
        for step, index in enumerate(torch.from_numpy(prng.permutation(23, 0, "test", epoch)).split(6)):
            optimiser.param_groups[0]["lr"] = rate(epoch + step / 4)
            optimiser.zero_grad()
            F.cross_entropy(layer(bank[index]), labels[index]).backward()
            optimiser.step()
    assert torch.equal(weight, layer.weight.detach())
    assert weight.abs().max() > 0.1
