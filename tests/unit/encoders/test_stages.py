"""The basic block and small ResNets against torchvision's, and the plain network against torch's functions."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet

from hypersphere.encoders.convnet import convnet
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.encoders.resnet10 import resnet10
from hypersphere.encoders.stages import BasicBlock

from .conftest import randomise


@pytest.mark.parametrize(("channels_out", "stride"), [(4, 1), (8, 2)])
def test_the_block_is_torchvisions(channels_out: int, stride: int) -> None:
    """In training mode: output, gradients and running statistics."""

    def shortcut() -> nn.Module | None:
        return nn.Conv2d(4, channels_out, 1, stride) if stride > 1 else None

    torch.manual_seed(0)
    theirs = resnet.BasicBlock(4, channels_out, stride, shortcut())
    ours = BasicBlock(4, channels_out, stride, shortcut())
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(5, 4, 8, 8)
    for block in (ours, theirs):
        block(x).square().mean().backward()
    assert torch.equal(ours(x), theirs(x))
    for (name, one), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert one.grad is not None, name
        assert one.grad.abs().max() > 0, name
        assert torch.equal(one.grad, other.grad), name
    assert all(torch.equal(one, other) for one, other in zip(ours.buffers(), theirs.buffers(), strict=True))


def plain(stages: int, width: int, stride: int) -> nn.Module:
    """For 32 px: torchvision's basic blocks with its own strided shortcuts."""
    layers: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(3, width, 3, stride, 1, bias=False),
        "bn1": nn.BatchNorm2d(width),
        "relu": nn.ReLU(),
        "layer1": resnet.BasicBlock(width, width),
    }
    for stage in range(2, stages + 1):
        half, full = width << (stage - 2), width << (stage - 1)
        shortcut = nn.Sequential(nn.Conv2d(half, full, 1, 2, bias=False), nn.BatchNorm2d(full))
        layers[f"layer{stage}"] = resnet.BasicBlock(half, full, 2, shortcut)
    layers |= {"pool": nn.AvgPool2d(32 >> (stages - 1) >> (stride - 1)), "flatten": nn.Flatten()}
    model = nn.Sequential()
    for name, layer in layers.items():
        model.add_module(name, layer)
    return model


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize(("make", "stages"), [(resnet8, 3), (resnet10, 4)])
def test_a_small_resnet_is_a_network_of_torchvisions_blocks(
    make: Callable[..., nn.Module], stages: int, width: int, stride: int
) -> None:
    """Built apart: the same function under the same names, in the same order."""
    theirs, model = randomise(plain(stages, width, stride)), make(width=width, stride=stride)
    assert list(model.state_dict()) == list(theirs.state_dict())
    model.load_state_dict(theirs.state_dict())
    x = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.eval()(x), theirs(x))
    assert not torch.allclose(model.train()(x), theirs.eval()(x))


def test_a_narrow_resnet8_trains_channels_last() -> None:
    """A torch release corrupted memory here on processors without AVX-512: the process died within a few steps."""
    model = resnet8(width=2).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for step in range(20):
        x = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(step))
        model(x.to(memory_format=torch.channels_last)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_convnet_is_three_convolutions_with_batch_norm_and_relu() -> None:
    """The same function written with torch's functions; the first layer keeps the sides, the others halve them."""
    model = randomise(convnet(width=4))
    images = torch.rand(3, 3, 10, 10, generator=torch.Generator().manual_seed(1))
    tensors = model.state_dict()
    x = images
    for i, stride in ((1, 1), (2, 2), (3, 2)):
        x = F.conv2d(x, tensors[f"layer{i}.conv.weight"], stride=stride, padding=1)
        norm = [tensors[f"layer{i}.bn.{name}"] for name in ("running_mean", "running_var", "weight", "bias")]
        x = F.relu(F.batch_norm(x, *norm))
        assert x.shape[-1] == {1: 10, 2: 5, 3: 3}[i]
    torch.testing.assert_close(model(images), x.mean(dim=(2, 3)))
