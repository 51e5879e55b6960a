"""A ResNet small enough to learn in CPU seconds."""

from collections import OrderedDict

from pydantic import PositiveInt
from torch import nn
from torchvision.models.resnet import BasicBlock


def _block(channels_in: int, channels_out: int, stride: int) -> BasicBlock:
    if stride == 1 and channels_in == channels_out:
        return BasicBlock(channels_in, channels_out)
    # A 1x1 convolution with a stride, as two steps. In one, oneDNN 3.12 (torch 2.13) writes past its buffers in the
    # backward pass of fewer than eight input channels, channels last, on processors with AVX2 and no AVX-512.
    layers: list[tuple[str, nn.Module]] = [
        ("every", nn.AvgPool2d(kernel_size=1, stride=stride)),
        ("0", nn.Conv2d(channels_in, channels_out, kernel_size=1, bias=False)),
        ("1", nn.BatchNorm2d(channels_out)),
    ]
    return BasicBlock(channels_in, channels_out, stride, nn.Sequential(OrderedDict(layers)))


def resnet8(*, width: PositiveInt = 16, stride: PositiveInt = 1) -> nn.Module:
    """One basic block at each of three widths (He et al. 2016, Sec. 4.2, n = 1); ``feature_dim`` is 4 x width.

    Args:
        width: channels of the first stage; the next two have twice and four times as many.
        stride: of the stem; 2 quarters the work on 32x32 images.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    layers: list[tuple[str, nn.Module]] = [
        ("conv1", nn.Conv2d(3, width, kernel_size=3, stride=stride, padding=1, bias=False)),
        ("bn1", nn.BatchNorm2d(width)),
        ("relu", nn.ReLU(inplace=True)),
        ("layer1", _block(width, width, 1)),
        ("layer2", _block(width, 2 * width, 2)),
        ("layer3", _block(2 * width, 4 * width, 2)),
        ("pool", nn.AdaptiveAvgPool2d(1)),
        ("flatten", nn.Flatten()),
    ]
    model = nn.Sequential(OrderedDict(layers))
    model.feature_dim = 4 * width  # type: ignore[assignment]
    return model
