"""A plain convolutional network, small enough for hundreds of runs in CPU minutes."""

from collections import OrderedDict

from torch import nn

from hypersphere.arguments import PositiveInt

STAGES = 3


def convnet(*, width: PositiveInt = 16) -> nn.Module:
    """Three 3x3 convolutions, each with batch norm and ReLU, then the mean over places; ``feature_dim`` is 4 x width.

    It is the plain network of He et al. 2016, Sec. 4.2 (no shortcuts), with one layer at each of their three widths. A
    training step takes about a third of a ResNet-8's of the same width.

    Args:
        width: channels of the first layer; the next two have twice and four times as many, and halve the sides.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    return plain_network(width)


def plain_network(width: int, channels: int = 3) -> nn.Module:
    """``convnet`` for images of ``channels`` channels: maps [n, channels, h, w] to [n, feature_dim]."""
    widths = [channels, *(width * 2**i for i in range(STAGES))]
    layers: list[tuple[str, nn.Module]] = [
        (f"layer{i + 1}", _layer(widths[i], widths[i + 1], 1 if i == 0 else 2)) for i in range(STAGES)
    ]
    model = nn.Sequential(OrderedDict([*layers, ("pool", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten())]))
    model.feature_dim = widths[-1]
    return model


def _layer(channels_in: int, channels_out: int, stride: int) -> nn.Module:
    layers: list[tuple[str, nn.Module]] = [
        ("conv", nn.Conv2d(channels_in, channels_out, kernel_size=3, stride=stride, padding=1, bias=False)),
        ("bn", nn.BatchNorm2d(channels_out)),
        ("relu", nn.ReLU(inplace=True)),
    ]
    return nn.Sequential(OrderedDict(layers))
