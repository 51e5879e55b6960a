"""A plain convolutional network, small enough for hundreds of runs in CPU minutes."""

from collections import OrderedDict

from torch import nn

from hypersphere.arguments import PositiveInt

BATCH_NORM = True


def convnet(*, width: PositiveInt = 16) -> nn.Module:
    """Three 3x3 convolutions, each with batch norm and ReLU, then the mean over places; ``feature_dim`` is 4 x width.

    It is the plain network of He et al. 2016, Sec. 4.2 (no shortcuts), with one layer at each of their three widths. A
    training step takes about a third of a ResNet-8's of the same width.

    Args:
        width: channels of the first layer; the next two have twice and four times as many, and halve the sides.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    network = nn.Sequential()
    channels = 3
    for number in (1, 2, 3):
        wider = width * 2 ** (number - 1)
        stride = 1 if number == 1 else 2
        layers = {
            "conv": nn.Conv2d(channels, wider, kernel_size=3, stride=stride, padding=1, bias=False),
            "bn": nn.BatchNorm2d(wider),
            "relu": nn.ReLU(inplace=True),
        }
        network.add_module(f"layer{number}", nn.Sequential(OrderedDict(layers)))
        channels = wider
    network.add_module("pool", nn.AdaptiveAvgPool2d(1))
    network.add_module("flatten", nn.Flatten())
    network.feature_dim = channels  # type: ignore[assignment]
    return network
