"""The basic block against torchvision's: the same names, bits and gradients, without the import of torchvision."""

import pytest
import torch
from torch import nn
from torchvision.models import resnet

from hypersphere.encoders.stages import BasicBlock


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
