"""ResNet-10: size by hand, function against torchvision's own ResNet with one block a stage."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet10 import resnet10


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
