"""ResNet-10: size by hand, function against torchvision's own ResNet with one block a stage."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torchvision.models import ResNet
from torchvision.models.resnet import BasicBlock

from hypersphere.encoders.resnet10 import resnet10


@pytest.mark.parametrize("width", [4, 16])
def test_resnet10_size(width: int) -> None:
    """By hand: stem; a block at the first width; three that double it, with 1x1 shortcuts; batch norms of 2c."""
    size = 27 * width + 2 * width + 2 * 9 * width**2 + 2 * 2 * width
    for half in (width, 2 * width, 4 * width):
        full = 2 * half
        size += 9 * half * full + 9 * full**2 + half * full + 3 * 2 * full
    model = resnet10(width=width)
    assert sum(parameter.numel() for parameter in model.parameters()) == size
    assert model.feature_dim == 8 * width
    assert model.eval()(torch.rand(2, 3, 16, 16)).shape == (2, 8 * width)


def test_resnet10_at_width_64_is_torchvisions(randomise: Callable[[nn.Module], nn.Module]) -> None:
    """torchvision's ResNet class with one basic block a stage, its stem swapped and its classifier removed."""
    published = ResNet(BasicBlock, [1, 1, 1, 1])
    published.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    published.maxpool = published.fc = nn.Identity()
    state = {name.replace(".0.", ".", 1): tensor for name, tensor in randomise(published).state_dict().items()}
    model = resnet10(width=64)
    model.load_state_dict(state)
    x = torch.rand(2, 3, 20, 20, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.eval()(x), published(x))
    published.relu = nn.Identity()
    assert not torch.allclose(model(x), published(x))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [3, 8])
def test_resnet10_is_a_network_of_torchvisions_blocks(
    width: int,
    stride: int,
    plain_resnet: Callable[[int, int, int], nn.Module],
    randomise: Callable[[nn.Module], nn.Module],
) -> None:
    plain, model = randomise(plain_resnet(4, width, stride)), resnet10(width=width, stride=stride)
    assert list(model.state_dict()) == list(plain.state_dict())
    model.load_state_dict(plain.state_dict())
    x = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.eval()(x), plain(x))


@pytest.mark.parametrize(("stride", "expected"), [(1, [32, 16, 8, 4]), (2, [16, 8, 4, 2])])
def test_resnet10_stride_is_the_stems(
    stride: int, expected: list[int], sides: Callable[[nn.Module, torch.Tensor], list[int]]
) -> None:
    assert sides(resnet10(width=4, stride=stride), torch.rand(2, 3, 32, 32)) == expected


def test_resnet10_counts_ten_weighted_layers() -> None:
    """One stem, two convolutions in each of four stages, and the classifier, which an encoder lacks."""
    convolutions = [m for m in resnet10(width=4).modules() if isinstance(m, nn.Conv2d) and m.kernel_size == (3, 3)]
    assert len(convolutions) + 1 == 10
