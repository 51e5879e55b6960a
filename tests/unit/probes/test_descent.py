"""SGD by closed-form gradients against autograd and torch.optim.SGD."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypersphere import keyed
from hypersphere.probes.descent import by_scores, fit


def test_the_gradient_by_the_scores_is_autograds() -> None:
    draws = torch.Generator().manual_seed(0)
    scores = (5 * torch.randn(7, 4, generator=draws, dtype=torch.float64)).requires_grad_()
    labels = torch.randint(4, (7,), generator=draws)
    F.cross_entropy(scores, labels).backward()
    torch.testing.assert_close(by_scores(scores.detach(), labels), scores.grad)
    assert not torch.allclose(by_scores(scores.detach(), labels.roll(1)), by_scores(scores.detach(), labels))  # control


def test_the_steps_are_those_of_torchs_sgd() -> None:
    """Its rate changes at each step, the last batch is smaller, and the order of images is keyed by the epoch."""
    draws = torch.Generator().manual_seed(0)
    bank, labels = torch.randn(23, 5, generator=draws), torch.randint(3, (23,), generator=draws)
    weight = torch.zeros(3, 5)

    def gradients(features: Tensor, classes: Tensor) -> list[Tensor]:
        return [by_scores(features @ weight.T, classes).T @ features]

    def rate(passed: float) -> float:
        return 0.5 / (1 + passed)

    fit([weight], gradients, bank, labels, purpose="test", epochs=3, batch=6, momentum=0.8, rate=rate)
    layer = nn.Linear(5, 3, bias=False)
    nn.init.zeros_(layer.weight)
    optimiser = torch.optim.SGD(layer.parameters(), lr=1, momentum=0.8)
    for epoch in range(3):
        for step, index in enumerate(torch.from_numpy(keyed.permutation(23, 0, "test", epoch)).split(6)):
            optimiser.param_groups[0]["lr"] = rate(epoch + step / 4)
            optimiser.zero_grad()
            F.cross_entropy(layer(bank[index]), labels[index]).backward()
            optimiser.step()
    torch.testing.assert_close(weight, layer.weight.detach())
    assert weight.abs().max() > 0.1
