"""The supervised baseline's wiring: one view, a linear classifier, labels."""

from typing import Any

import torch
from torch import nn

from hypersphere.methods.base import Method
from hypersphere.methods.supervised import supervised
from hypersphere.objectives.cross_entropy import cross_entropy

from .shared import Flat, described, identity, make_batch, make_parts, step


def make(gradient: Any = identity, classes: int = 3) -> Method:
    return supervised(make_parts(cross_entropy, gradient, classes=classes))


def test_its_classifier_is_linear() -> None:
    assert described(nn.Sequential(make(classes=10).get_submodule("classifier"))) == [("linear", 6, 10, True)]


def test_it_is_the_cross_entropy_of_its_scores() -> None:
    """By hand: log of the sum of exponentials, less the score at the label."""
    method, batch = make(), make_batch(views=1)
    scores = method.get_submodule("classifier")(method.encoder(batch.views[0]))
    output = method(batch)
    losses = [(row.exp().sum().log() - row[y]) for row, y in zip(scores, batch.labels, strict=True)]
    torch.testing.assert_close(output.loss, torch.stack(losses).mean())
    torch.testing.assert_close(output.embeddings, scores.detach())
    assert not output.embeddings.requires_grad


def test_three_steps_are_those_of_torchs_own_training() -> None:
    """An independent loop: Sequential, CrossEntropyLoss, SGD. Control: with other labels the weights are others."""
    method, others = make(), make()
    network = nn.Sequential(Flat(), nn.Linear(6, 3))
    network.load_state_dict(dict(zip(network.state_dict(), method.state_dict().values(), strict=True)))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    for seed in range(3):
        batch = make_batch(views=1, seed=seed)
        step(method, batch)
        step(others, batch._replace(labels=batch.labels.flip(0)))
        optimiser.zero_grad()
        nn.CrossEntropyLoss()(network(batch.views[0]), batch.labels).backward()
        optimiser.step()
    for ours, plain in zip(method.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(ours, plain, atol=1e-6, rtol=1e-5)
    weights = [part.get_parameter("classifier.weight") for part in (method, others)]
    assert (weights[0] - weights[1]).abs().max() > 1e-3
