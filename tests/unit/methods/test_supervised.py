"""The supervised baseline's wiring: one view, a linear classifier, labels."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.methods.base import Batch, Method
from hypersphere.methods.supervised import supervised
from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.training.build import build_method

from .shared import Flat, described, gradients, identity, make_batch, make_parts, make_run, step


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


def test_it_is_given_one_view_and_fits_one_objective() -> None:
    assert registry.read_constant("methods", "supervised", "VIEWS", 2) == 1
    assert [name for name in registry.names("objectives") if registry.misfit("supervised", name) is None] == [
        "cross_entropy"
    ]
    with pytest.raises(ValueError, match="too many values"):
        make()(make_batch(views=2))


def test_the_gradient_transform_acts_on_scores_and_not_on_values() -> None:
    plain, scaled, batch = make(), make(lambda z: grad_scale(z, power=1)), make_batch(views=1)
    assert torch.equal(plain(batch).loss, scaled(batch).loss)
    bias = -1  # its gradient is the sum of the scores' gradients
    norms = torch.linalg.vector_norm(plain(batch).embeddings, dim=1, keepdim=True)
    p = plain(batch).embeddings.softmax(1) - torch.eye(3)[batch.labels]
    torch.testing.assert_close(gradients(scaled, scaled(batch).loss)[bias], (norms * p / 5).sum(0))
    assert (gradients(plain, plain(batch).loss)[bias] - (norms * p / 5).sum(0)).abs().max() > 1e-3


def test_zero_features_are_finite() -> None:
    class Zero(nn.Module):
        feature_dim = 6

        def forward(self, images: Tensor) -> Tensor:
            return images.new_zeros(len(images), 6)

    method = supervised(make_parts(cross_entropy, classes=3)._replace(encoder=Zero()))
    output = method(make_batch(views=1))
    output.loss.backward()
    assert output.loss.isfinite()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in method.parameters())


def test_a_run_builds_it_for_its_classes_from_keyed_draws_alone() -> None:
    run = make_run({"name": "supervised"}, {"name": "cross_entropy"})
    torch.manual_seed(1)
    method = build_method(run, images=8, classes=7)
    torch.manual_seed(2)
    again = build_method(run, images=8, classes=7)
    before = torch.get_rng_state()
    pixels = torch.rand(1, 8, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    batch = Batch(pixels, torch.arange(8), torch.arange(8) % 7)
    assert method(batch).embeddings.shape == (8, 7)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(method.parameters(), again.parameters(), strict=True))
