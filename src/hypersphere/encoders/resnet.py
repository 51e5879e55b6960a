"""torchvision's ResNets, with stems for small images."""

from typing import Literal

import torchvision
from torch import nn

BATCH_NORM = True


def resnet(
    *,
    depth: Literal[18, 50],
    stem: Literal["cifar", "max_pool", "imagenet"],
    zero_init_residual: bool = False,
) -> nn.Module:
    """A ResNet without its classifier; ``feature_dim`` is 512 or 2048.

    Args:
        stem: ``cifar``: a 3x3 convolution of stride 1 without max-pooling (SimCLR, App. B.9), for 32x32 images.
            ``max_pool``: the same convolution with max-pooling, which halves the sides, for 64x64 and 96x96 images (the
            margins paper does not state the stem, erratum M20). ``imagenet``: a 7x7 convolution of stride 2 and
            max-pooling (He et al. 2016, Table 1), which together divide the sides by four.
        zero_init_residual: the last batch norm of each residual branch starts at scale zero.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    build = {18: torchvision.models.resnet18, 50: torchvision.models.resnet50}[depth]
    model: nn.Module = build(weights=None, zero_init_residual=zero_init_residual)
    model.feature_dim = model.fc.in_features  # type: ignore[union-attr]
    model.fc = nn.Identity()
    size, stride = (7, 2) if stem == "imagenet" else (3, 1)
    model.conv1 = nn.Conv2d(3, 64, kernel_size=size, stride=stride, padding=size // 2, bias=False)
    if stem == "cifar":
        model.maxpool = nn.Identity()
    return model
