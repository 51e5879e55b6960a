"""Two backbones over lightness and colour: what each sees, and what of it comes out where."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.encoders.convnet import convnet
from hypersphere.encoders.lab_streams import LabStreams, lab_streams, to_unit_lab
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.encoders.resnet10 import resnet10
from hypersphere.errors import HypersphereError

TINY: dict[str, Any] = {"backbone": "resnet8", "width": 2}


def make(**parameters: Any) -> LabStreams:
    model = lab_streams(**parameters)
    assert isinstance(model, LabStreams)
    return model


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("parameters", "whole", "stem"),
    [
        (TINY, lambda: resnet8(width=2), 9 * 2),
        ({"backbone": "resnet8"}, lambda: resnet8(width=16), 9 * 16),
        ({"backbone": "convnet", "width": 5}, lambda: convnet(width=5), 9 * 5),
        ({"backbone": "resnet10", "width": 3}, lambda: resnet10(width=3), 9 * 3),
        ({"backbone": "resnet18"}, lambda: resnet(depth=18, stem="cifar"), 9 * 64),
        ({"backbone": "resnet18", "stem": "max_pool"}, lambda: resnet(depth=18, stem="max_pool"), 9 * 64),
        ({"backbone": "resnet50", "stem": "imagenet"}, lambda: resnet(depth=50, stem="imagenet"), 49 * 64),
    ],
    ids=["tiny", "resnet8", "convnet", "resnet10", "resnet18", "max_pool", "resnet50"],
)
def test_lab_streams_are_two_backbones(parameters: dict[str, Any], whole: Any, stem: int) -> None:
    """Twice the backbone of three channels, less the weights of the channels missing: two of L's, one of ab's.

    ``stem`` counts the stem's weights for one channel.
    """
    with torch.device("meta"):
        model, one = make(**parameters), whole()
        assert model.eval()(torch.rand(2, 3, 16, 16)).shape == (2, 2 * one.feature_dim)
    assert count(model) == 2 * count(one) - 3 * stem
    assert (count(model.lightness), count(model.colour)) == (count(one) - 2 * stem, count(one) - stem)
    assert model.stream_dim == one.feature_dim
    assert model.feature_dim == 2 * one.feature_dim
    names = set(one.state_dict())
    for stream in (model.lightness, model.colour):
        assert set(stream.state_dict()) == names


def test_each_stream_sees_its_channels() -> None:
    """L* to the first, a* and b* to the second; features come out in that order, one after the other."""
    model = make(**TINY).eval()
    seen: list[Tensor] = []
    for stream in (model.lightness, model.colour):
        stream.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].clone()))
    images = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    of_lightness, of_colour = model.streams(images)
    lab = to_unit_lab(images)
    assert torch.equal(seen[0], lab[:, :1])
    assert torch.equal(seen[1], lab[:, 1:])
    assert torch.equal(of_lightness, model.lightness(lab[:, :1]))
    assert torch.equal(of_colour, model.colour(lab[:, 1:]))
    assert torch.equal(model(images), torch.cat([of_lightness, of_colour], dim=1))
    assert of_lightness.shape == of_colour.shape == (3, model.stream_dim)


def test_a_streams_loss_reaches_its_backbone_alone() -> None:
    for number, reached in enumerate(("lightness", "colour")):
        model = make(**TINY)
        model.streams(torch.rand(3, 3, 8, 8))[number].square().sum().backward()
        for name, parameter in model.named_parameters():
            assert (parameter.grad is not None) == name.startswith(reached), name


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"backbone": "resnet18", "width": 8},
            "lab_streams: width: resnet18's is fixed",
        ),
        (
            {"backbone": "resnet50", "width": 8},
            "lab_streams: width: resnet50's is fixed",
        ),
        (
            {"backbone": "resnet8", "stem": "max_pool"},
            "lab_streams: stem: resnet8 has none",
        ),
        (
            {"backbone": "convnet", "stem": "max_pool"},
            "lab_streams: stem: convnet has none",
        ),
        ({"backbone": "resnet10", "stem": "imagenet"}, "lab_streams: stem: resnet10 has none"),
    ],
)
def test_what_a_backbone_does_not_have_is_refused(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HypersphereError, match=sentence):
        lab_streams(**parameters)
