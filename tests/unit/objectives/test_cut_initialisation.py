"""Cut-initialisation divides every parameter, or those of the last layer, and nothing else (norms paper, Listing 1)."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

from hypersphere.methods.base import Method
from hypersphere.methods.simclr import simclr
from hypersphere.methods.simsiam import simsiam
from hypersphere.objectives.cut_initialisation import cut_initialisation

from ...fixtures import Refused
from ..methods.shared import make_batch, make_parts


def test_every_parameter_is_divided_and_stays_a_trainable_leaf_and_no_buffer_is() -> None:
    """Listing 1 on a copy; batch norm's scale and shift, and the biases, are parameters too."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )
    nn.init.constant_(model[1].bias, 0.7)
    model(torch.rand(2, 3, 8, 8))  # so that the running statistics are not their initial ones
    listing = copy.deepcopy(model)
    for param in listing.parameters():
        param.data = param.data / 3
    kept = [*model.parameters()]
    cut_initialisation(model, c=3)
    assert all(one is other for one, other in zip(model.parameters(), kept, strict=True))
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in kept)
    torch.testing.assert_close(model.state_dict(), listing.state_dict(), rtol=0, atol=0)
    assert model[1].weight.tolist() == pytest.approx([1 / 3] * 4)


def method(name: str) -> Method:
    """Its encoder has a linear layer, so that "last" is tried against more than one part of the model."""
    parts = make_parts(lambda a, b, **given: torch.nn.functional.mse_loss(a, b))
    return (
        simclr(parts, hidden=6, dim=5)
        if name == "simclr"
        else simsiam(parts, hidden=6, dim=5, bottleneck=2)
    )


ENCODER = {
    "encoder.linear.weight",
    "encoder.linear.bias",
    "encoder.norm.weight",
    "encoder.norm.bias",
}


@pytest.mark.parametrize(
    ("name", "scope", "reached"),
    [
        ("simclr", "last_layer", {"projector.2.weight", "projector.2.bias"}),
        ("simsiam", "last_layer", {"predictor.3.weight", "predictor.3.bias"}),
        ("simsiam", "encoder", ENCODER),
        ("simsiam", "encoder_weights", {"encoder.linear.weight"}),
    ],
)
def test_what_each_scope_reaches(name: str, scope: Any, reached: set[str]) -> None:
    """Read off the parts by hand: SimCLR's projector ends in its third module, SimSiam's predictor in its fourth."""
    model = method(name)
    nn.init.constant_(model.encoder.norm.bias, 0.7)  # a zero would be divided unseen
    before = copy.deepcopy(model.state_dict())
    cut_initialisation(model, c=3, scope=scope)
    after = model.state_dict()
    assert {key for key in after if not torch.equal(after[key], before[key])} == reached
    for key in reached:
        assert torch.equal(after[key], before[key] / 3)


@pytest.mark.parametrize("name", ["simclr", "simsiam"])
def test_last_layer_shrinks_the_embedding_by_c(name: str) -> None:
    """Closed form: no batch norm follows the last layer. ``all``, the control, reaches further."""
    embeddings = {}
    for scope in (None, "last_layer", "all"):
        model = method(name)
        if scope is not None:
            cut_initialisation(model, c=3, scope=scope)
        embeddings[scope] = model(make_batch(8)).embeddings
    torch.testing.assert_close(embeddings["last_layer"], embeddings[None] / 3)
    assert (embeddings["all"] - embeddings["last_layer"]).abs().max() > 1e-3


@pytest.mark.parametrize("scope", ["last_layer", "encoder"])
def test_a_model_without_the_part_is_refused(refused: Refused, scope: Any) -> None:
    with refused("cut_initialisation"):
        cut_initialisation(nn.Sequential(nn.Conv2d(3, 4, 3)), c=3, scope=scope)
