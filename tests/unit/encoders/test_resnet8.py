"""ResNet-8: size by hand, function against torchvision's blocks, names as they were published."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet8 import resnet8

BLOCK = [f"{layer}.weight" for layer in ("conv1", "bn1", "conv2", "bn2")]


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("width", [4, 16, 32])
def test_resnet8_size(width: int) -> None:
    """By hand: stem; a block of two 3x3s; two blocks that double the width, with 1x1 shortcuts; batch norms of 2c."""
    w = width
    stem = 27 * w + 2 * w
    first = 2 * 9 * w * w + 2 * 2 * w
    second = 9 * w * 2 * w + 9 * (2 * w) ** 2 + w * 2 * w + 3 * 2 * 2 * w
    third = 9 * 2 * w * 4 * w + 9 * (4 * w) ** 2 + 2 * w * 4 * w + 3 * 2 * 4 * w
    model = resnet8(width=width)
    assert count(model) == stem + first + second + third
    assert model.feature_dim == 4 * width
    assert model.eval()(torch.rand(2, 3, 12, 12)).shape == (2, 4 * width)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [3, 8])
def test_resnet8_is_a_network_of_torchvisions_blocks(
    width: int,
    stride: int,
    plain_resnet: Callable[[int, int, int], nn.Module],
    randomise: Callable[[nn.Module], nn.Module],
) -> None:
    """One with strided shortcuts, built apart: the same function under the same names, in the same order."""
    plain, model = randomise(plain_resnet(3, width, stride)), resnet8(width=width, stride=stride)
    assert list(model.state_dict()) == list(plain.state_dict())
    model.load_state_dict(plain.state_dict())
    x = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.eval()(x), plain(x))
    assert not torch.allclose(model.train()(x), plain.eval()(x))


def test_resnet8_tensors_keep_their_names() -> None:
    """Snapshots and draws of initial weights are kept under them."""
    expected = ["conv1.weight", "bn1.weight", *(f"layer1.{name}" for name in BLOCK)]
    for stage in (2, 3):
        expected += [f"layer{stage}.{name}" for name in (*BLOCK, "downsample.0.weight", "downsample.1.weight")]
    named = resnet8(width=2).named_parameters()
    assert [name for name, _ in named if not name.endswith("bias")] == expected


@pytest.mark.parametrize(("stride", "expected"), [(1, [32, 16, 8]), (2, [16, 8, 4])])
def test_resnet8_stride_is_the_stems(
    stride: int, expected: list[int], sides: Callable[[nn.Module, torch.Tensor], list[int]]
) -> None:
    assert sides(resnet8(width=4, stride=stride), torch.rand(2, 3, 32, 32)) == expected


def test_resnet8_counts_eight_weighted_layers() -> None:
    """He et al. 2016, Sec. 4.2: 6n + 2 with n = 1; the last is the classifier, which an encoder lacks."""
    convolutions = [m for m in resnet8(width=4).modules() if isinstance(m, nn.Conv2d) and m.kernel_size == (3, 3)]
    assert len(convolutions) + 1 == 8


def test_resnet8_shortcut_is_a_strided_convolution() -> None:
    """Subsampling and then a 1x1 convolution is torch's own 1x1 convolution with that stride, under the same name."""
    model = resnet8(width=8)
    assert "layer2.downsample.0.weight" in model.state_dict()
    shortcut = model.layer2.downsample  # type: ignore[union-attr]
    x = torch.randn(2, 8, 7, 6, generator=torch.Generator().manual_seed(0))
    once = torch.nn.functional.conv2d(x, shortcut[1].weight, stride=2)  # type: ignore[index,union-attr]
    torch.testing.assert_close(shortcut[1](shortcut[0](x)), once)  # type: ignore[index,operator]


def test_a_narrow_resnet8_trains_channels_last() -> None:
    """A torch release corrupted memory here on processors without AVX-512: the process died within a few steps."""
    model = resnet8(width=2).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for step in range(20):
        x = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(step))
        model(x.to(memory_format=torch.channels_last)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
