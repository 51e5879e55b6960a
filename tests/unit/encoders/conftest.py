"""What the encoders' tests share."""

import torch
from torch import nn


def randomise(model: nn.Module) -> nn.Module:
    """Draw every tensor of a model, batch norm's too, and put the model into evaluation mode."""
    generator = torch.Generator().manual_seed(0)
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            drawn = torch.randn(tensor.shape, generator=generator)
            tensor.copy_(drawn.abs() + 0.5 if "running_var" in name else drawn * 0.2)
    return model.eval()


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
