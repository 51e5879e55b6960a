"""What the encoders' tests share."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torchvision.models.resnet import BasicBlock


@pytest.fixture(autouse=True)
def _as_commands_compute(deterministic: None) -> None:
    """Every test here: on one thread, with deterministic algorithms alone."""


def _plain(stages: int, width: int, stride: int) -> nn.Module:
    layers: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(3, width, 3, stride, 1, bias=False),
        "bn1": nn.BatchNorm2d(width),
        "relu": nn.ReLU(),
        "layer1": BasicBlock(width, width),
    }
    for stage in range(2, stages + 1):
        half, full = width << (stage - 2), width << (stage - 1)
        shortcut = nn.Sequential(nn.Conv2d(half, full, 1, 2, bias=False), nn.BatchNorm2d(full))
        layers[f"layer{stage}"] = BasicBlock(half, full, 2, shortcut)
    layers |= {"pool": nn.AvgPool2d(32 >> (stages - 1) >> (stride - 1)), "flatten": nn.Flatten()}
    model = nn.Sequential()
    for name, layer in layers.items():
        model.add_module(name, layer)
    return model


@pytest.fixture
def plain_resnet() -> Callable[[int, int, int], nn.Module]:
    """``plain_resnet(stages, width, stride)`` for 32 px: torchvision's basic blocks with its own strided shortcuts."""
    return _plain


def _randomise(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            drawn = torch.randn(tensor.shape, generator=generator)
            tensor.copy_(drawn.abs() + 0.5 if "running_var" in name else drawn * 0.2)
    return model.eval()


@pytest.fixture
def randomise() -> Callable[[nn.Module], nn.Module]:
    """Every tensor of a model drawn, batch norm's too, and the model put into evaluation mode."""
    return _randomise


def _sides(model: nn.Module, image: torch.Tensor) -> list[int]:
    seen: list[int] = []
    for name, layer in model.named_children():
        if name.startswith("layer"):
            layer.register_forward_hook(lambda module, inputs, output: seen.append(output.shape[-1]))
    model(image)
    return seen


@pytest.fixture
def sides() -> Callable[[nn.Module, torch.Tensor], list[int]]:
    """Sides in pixels of what each stage of a ResNet puts out for an image."""
    return _sides
