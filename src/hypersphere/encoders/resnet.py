"""torchvision's ResNets, with a stem for small images."""

from typing import Literal

import torchvision
from torch import nn


def resnet(
    *, depth: Literal[18, 50], stem: Literal["cifar", "imagenet"], zero_init_residual: bool = False
) -> nn.Module:
    """A ResNet without its classifier; ``feature_dim`` is 512 or 2048.

    Args:
        depth: 18 or 50.
        stem: ``cifar`` is a 3x3 convolution of stride 1 without max-pooling (SimCLR, App. B.9), for 32x32 images.
        zero_init_residual: whether each residual branch's last batch norm starts at scale zero.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    build = {18: torchvision.models.resnet18, 50: torchvision.models.resnet50}[depth]
    model: nn.Module = build(weights=None, zero_init_residual=zero_init_residual)
    model.feature_dim = model.fc.in_features  # type: ignore[union-attr]
    model.fc = nn.Identity()
    if stem == "cifar":
        model.conv1 = nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
        model.maxpool = nn.Identity()
    return model
