"""Shapes and sizes of the encoders, against published and closed-form counts."""

import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.resnet8 import resnet8

# Parameters as torchvision's documentation prints them, its 1000-way classifier, the 7x7 stem, and the 3x3 one.
PUBLISHED = {18: 11_689_512, 50: 25_557_032}
FEATURES = {18: 512, 50: 2048}
STEM = {"imagenet": 3 * 7 * 7 * 64, "cifar": 3 * 3 * 3 * 64}


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("stem", ["cifar", "imagenet"])
@pytest.mark.parametrize("depth", [18, 50])
def test_resnet_size_and_features(depth: int, stem: str) -> None:
    model = resnet(depth=depth, stem=stem)
    classifier = (FEATURES[depth] + 1) * 1000
    assert count(model) == PUBLISHED[depth] - classifier - STEM["imagenet"] + STEM[stem]
    assert model.feature_dim == FEATURES[depth]
    assert model.eval()(torch.rand(2, 3, 32, 32)).shape == (2, FEATURES[depth])


@pytest.mark.parametrize(("stem", "sides"), [("cifar", [32, 16, 8, 4]), ("imagenet", [8, 4, 2, 1])])
def test_resnet_stem_decides_the_resolution(stem: str, sides: list[int]) -> None:
    """32 px: the CIFAR stem keeps every pixel (SimCLR, App. B.9), the ImageNet one divides by four."""
    model = resnet(depth=18, stem=stem).eval()
    seen: list[int] = []
    for name in ("layer1", "layer2", "layer3", "layer4"):
        model.get_submodule(name).register_forward_hook(lambda module, inputs, output: seen.append(output.shape[-1]))
    model(torch.rand(1, 3, 32, 32))
    assert seen == sides


@pytest.mark.parametrize(("depth", "last", "blocks"), [(18, "bn2", 8), (50, "bn3", 16)])
def test_zero_init_residual(depth: int, last: str, blocks: int) -> None:
    for zero, value in ((True, 0.0), (False, 1.0)):
        model = resnet(depth=depth, stem="cifar", zero_init_residual=zero)
        scales = [
            p for name, p in model.named_parameters() if name.startswith("layer") and name.endswith(f"{last}.weight")
        ]
        assert len(scales) == blocks
        assert all((scale == value).all() for scale in scales)
        assert (model.get_parameter("bn1.weight") == 1).all()


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


@pytest.mark.parametrize(("stride", "side"), [(1, 8), (2, 4)])
def test_resnet8_stride_is_the_stems(stride: int, side: int) -> None:
    model = resnet8(width=4, stride=stride)
    shapes: list[int] = []
    model.get_submodule("layer3").register_forward_hook(lambda module, inputs, output: shapes.append(output.shape[-1]))
    model(torch.rand(2, 3, 32, 32))
    assert shapes == [side]


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
