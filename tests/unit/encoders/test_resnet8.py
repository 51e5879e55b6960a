"""ResNet-8: size by hand, function against torchvision's blocks, names as they were published."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet8 import resnet8


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


def test_a_narrow_resnet8_trains_channels_last() -> None:
    """A torch release corrupted memory here on processors without AVX-512: the process died within a few steps."""
    model = resnet8(width=2).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for step in range(20):
        x = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(step))
        model(x.to(memory_format=torch.channels_last)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
