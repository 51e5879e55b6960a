"""A ResNet small enough to learn in CPU seconds."""

from torch import nn

from hypersphere.arguments import PositiveInt
from hypersphere.encoders.stages import basic_resnet


def resnet8(*, width: PositiveInt = 16, stride: PositiveInt = 1) -> nn.Module:
    """One basic block at each of three widths (He et al. 2016, Sec. 4.2, n = 1); ``feature_dim`` is 4 x width.

    Args:
        width: channels of the first stage; the next two have twice and four times as many.
        stride: of the stem; 2 divides the work by four.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    return basic_resnet(width, stride)
