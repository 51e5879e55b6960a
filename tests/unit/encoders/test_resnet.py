"""ResNets and the plain network against torchvision's, torch's functions, published counts, and closed forms."""

from collections import OrderedDict

import pytest
import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torchvision.models.resnet import BasicBlock as TheirBlock

from hypersphere.encoders.convnet import convnet
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.training.build import initialise

from .test_encoders import count, randomise


def plain(width: int, stride: int) -> nn.Module:
    """For 32 px: torchvision's basic blocks with its own strided shortcuts."""
    layers: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(3, width, 3, stride, 1, bias=False),
        "bn1": nn.BatchNorm2d(width),
        "relu": nn.ReLU(),
        "layer1": TheirBlock(width, width),
    }
    for stage in (2, 3):
        half, full = width << (stage - 2), width << (stage - 1)
        shortcut = nn.Sequential(nn.Conv2d(half, full, 1, 2, bias=False), nn.BatchNorm2d(full))
        layers[f"layer{stage}"] = TheirBlock(half, full, 2, shortcut)
    layers |= {"pool": nn.AvgPool2d(8 >> (stride - 1)), "flatten": nn.Flatten()}
    return nn.Sequential(OrderedDict(layers))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [3, 8])
def test_a_small_resnet_is_a_network_of_torchvisions_blocks(width: int, stride: int) -> None:
    """Built apart: the same function under the same names, in the same order, and trained alike."""
    theirs, model = randomise(plain(width, stride)), resnet8(width=width, stride=stride).eval()
    assert list(model.state_dict()) == list(theirs.state_dict())
    model.load_state_dict(theirs.state_dict())
    x = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    evaluated = model(x)
    torch.testing.assert_close(evaluated, theirs(x))
    for one in (model, theirs):
        one.train()(x).square().mean().backward()
    for ours, other in zip(model.parameters(), theirs.parameters(), strict=True):
        assert other.grad is not None
        assert other.grad.abs().max() > 0
        torch.testing.assert_close(ours.grad, other.grad, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(dict(model.named_buffers()), dict(theirs.named_buffers()))
    assert not torch.allclose(model(x), evaluated)


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
        norm = [
            tensors[f"layer{i}.bn.{name}"]
            for name in ("running_mean", "running_var", "weight", "bias")
        ]
        x = F.relu(F.batch_norm(x, *norm))
    torch.testing.assert_close(model(images), x.mean(dim=(2, 3)))


@pytest.mark.parametrize(("stem", "side"), [("cifar", 3), ("max_pool", 3), ("imagenet", 7)])
@pytest.mark.parametrize(
    ("depth", "features", "published"), [(18, 512, 11_689_512), (50, 2048, 25_557_032)]
)
def test_resnet_size_and_features(
    depth: int, features: int, published: int, stem: str, side: int
) -> None:
    """Parameters as torchvision's documentation prints them, but for its 1000-way classifier and its stem of 7x7."""
    with torch.device("meta"):
        model = resnet(depth=depth, stem=stem)  # type: ignore[arg-type]
        assert model.eval()(torch.rand(2, 3, 32, 32)).shape == (2, features)
    assert count(model) == published - (features + 1) * 1000 - 3 * 64 * (7**2 - side**2)
    assert model.feature_dim == features


def test_the_imagenet_stem_is_torchvisions_network() -> None:
    """The same function under the same names, but for the classifier."""
    published = torchvision.models.resnet18()
    published.fc = nn.Identity()
    model = resnet(depth=18, stem="imagenet")
    model.load_state_dict(randomise(published).state_dict())
    x = torch.rand(2, 3, 40, 40)
    torch.testing.assert_close(model.eval()(x), published(x))
    published.maxpool = nn.Identity()
    assert not torch.allclose(model(x), published(x))


@pytest.mark.parametrize("stem", ["cifar", "max_pool"])
def test_small_stems_by_hand(stem: str) -> None:
    """conv(3x3, stride 1, padding 1), norm, ReLU, and max over 3x3 every second pixel if the stem keeps it."""
    model = resnet(depth=18, stem=stem).eval()  # type: ignore[arg-type]
    x = torch.rand(1, 3, 9, 9)
    expected = (
        torch.conv2d(x, model.get_parameter("conv1.weight"), padding=1).relu() / (1 + 1e-5) ** 0.5
    )
    if stem == "max_pool":
        padded = nn.functional.pad(expected, (1, 1, 1, 1), value=-torch.inf)
        expected = padded.unfold(2, 3, 2).unfold(3, 3, 2).amax(dim=(-1, -2))
    seen: list[torch.Tensor] = []
    model.get_submodule("layer1").register_forward_pre_hook(
        lambda module, inputs: seen.append(inputs[0].clone())
    )
    model(x)
    torch.testing.assert_close(seen[0], expected)


@pytest.mark.parametrize(("depth", "last", "blocks"), [(18, "bn2", 8), (50, "bn3", 16)])
def test_zero_init_residual(depth: int, last: str, blocks: int) -> None:
    for zero, value in ((True, 0.0), (False, 1.0)):
        model = resnet(depth=depth, stem="cifar", zero_init_residual=zero)  # type: ignore[arg-type]
        initialise(model, seed=0)  # which leaves these as they are
        scales = [p for name, p in model.named_parameters() if name.endswith(f".{last}.weight")]
        assert len(scales) == blocks
        assert all((scale == value).all() for scale in scales)
        assert (model.get_parameter("bn1.weight") == 1).all()
