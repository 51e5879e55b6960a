"""The supervised baseline's wiring: one view, a linear classifier, labels."""

import torch
from torch import nn

from hypersphere.methods.supervised import supervised
from hypersphere.objectives.cross_entropy import cross_entropy

from .shared import Flat, make_batch, make_parts, step


def test_three_steps_are_those_of_torchs_own_training() -> None:
    """An independent loop: Sequential, CrossEntropyLoss, SGD. Control: with other labels the weights are others."""
    method, others = (supervised(make_parts(cross_entropy, classes=3)) for _ in range(2))
    network = nn.Sequential(Flat(), nn.Linear(6, 3))
    network.load_state_dict(dict(zip(network.state_dict(), method.state_dict().values(), strict=True)))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    for seed in range(3):
        batch = make_batch(views=1, seed=seed)
        output, scores = method(batch), network(batch.views[0])
        loss = nn.CrossEntropyLoss()(scores, batch.labels)
        torch.testing.assert_close(output.loss, loss)
        torch.testing.assert_close(output.embeddings, scores.detach())
        step(method, batch)
        step(others, batch._replace(labels=batch.labels.flip(0)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    for ours, plain in zip(method.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(ours, plain, atol=1e-6, rtol=1e-5)
    weights = [part.get_parameter("classifier.weight") for part in (method, others)]
    assert (weights[0] - weights[1]).abs().max() > 1e-3
