"""Heads as the papers draw them."""

import os

import pytest
import torch
from torch import nn

from hypersphere.methods.heads import mlp, sizes

from .shared import Layer, described, layers

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.models.modules import heads


def test_mlp_without_batch_norm() -> None:
    head = mlp([6, 7, 4], batch_norm=False)
    assert described(head) == [("linear", 6, 7, True), ("ReLU",), ("linear", 7, 4, True)]


@pytest.mark.parametrize("last", [True, False])
def test_mlp_with_batch_norm(last: bool) -> None:
    head = mlp([6, 7, 7, 4], batch_norm=True, last_batch_norm=last)
    hidden: list[Layer] = [("batch norm", 7, True), ("ReLU",)]
    end: list[Layer] = [("linear", 7, 4, False), ("batch norm", 4, False)] if last else [("linear", 7, 4, True)]
    assert described(head) == [("linear", 6, 7, False), *hidden, ("linear", 7, 7, False), *hidden, *end]


def test_a_batch_norm_at_the_end_alone() -> None:
    head = mlp([6, 7, 4], batch_norm=False, last_batch_norm=True)
    assert described(head) == [
        ("linear", 6, 7, True),
        ("ReLU",),
        ("linear", 7, 4, False),
        ("batch norm", 4, False),
    ]


@pytest.mark.parametrize("normed", [True, False])
def test_mlp_without_bias(normed: bool) -> None:
    head = mlp([6, 7, 4], batch_norm=normed, bias=False)
    assert [layer for layer in described(head) if layer[0] == "linear"] == [
        ("linear", 6, 7, False),
        ("linear", 7, 4, False),
    ]
    assert [name for name in dict(head.named_parameters()) if name.startswith("0")] == ["0.weight"]


def test_the_activation_is_where_relu_was() -> None:
    head = mlp([6, 7, 7, 4], batch_norm=True, activation=nn.GELU)
    assert layers(head) == ["Linear", "BatchNorm1d", "GELU"] * 2 + ["Linear"]


def test_one_layer_has_no_activation() -> None:
    assert described(mlp(sizes(6, 7, 4, 1), batch_norm=True)) == [("linear", 6, 4, True)]


def test_sizes_are_inputs_hidden_and_outputs() -> None:
    """By hand; every count of layers gives one more width."""
    assert sizes(6, 7, 4, 1) == [6, 4]
    assert sizes(6, 7, 4, 2) == [6, 7, 4]
    assert sizes(6, 7, 4, 4) == [6, 7, 7, 7, 4]


def test_lightlys_heads_are_ours() -> None:
    """lightly's SimSiam, BYOL and SimCLR heads; those that it ends with a scaled batch norm are left out."""
    theirs = {
        "simsiam": heads.SimSiamProjectionHead(6, 7, 4),
        "predictor": heads.SimSiamPredictionHead(4, 3, 4),
        "byol": heads.BYOLProjectionHead(6, 7, 4),
        "simclr": heads.SimCLRProjectionHead(6, 7, 4, num_layers=3, batch_norm=False),
    }
    ours = {
        "simsiam": mlp(sizes(6, 7, 4, 3), batch_norm=True, last_batch_norm=True),
        "predictor": mlp([4, 3, 4], batch_norm=True),
        "byol": mlp([6, 7, 4], batch_norm=True),
        "simclr": mlp(sizes(6, 7, 4, 3), batch_norm=False),
    }
    for name, head in ours.items():
        assert described(head) == described(theirs[name].layers), name


def test_a_head_is_the_composition_of_its_layers() -> None:
    """By hand, two layers: W2·relu(W1·x + b1) + b2."""
    torch.manual_seed(0)
    head, x = mlp([6, 7, 4], batch_norm=False), torch.randn(5, 6)
    w1, b1, w2, b2 = (head.get_parameter(name) for name in ("0.weight", "0.bias", "2.weight", "2.bias"))
    expected = (x @ w1.T + b1).clamp(min=0) @ w2.T + b2
    torch.testing.assert_close(head(x), expected)
