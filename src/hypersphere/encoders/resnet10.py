"""Half of a ResNet-18, at any width."""

from torch import nn

from hypersphere.arguments import PositiveInt
from hypersphere.encoders.stages import basic_resnet


def resnet10(*, width: PositiveInt = 16, stride: PositiveInt = 1) -> nn.Module:
    """One basic block at each of four widths; ``feature_dim`` is 8 x width.

    The four stages are those of He et al. 2016, Table 1, with one block where ResNet-18 has two, and the 3x3 stem of
    their Sec. 4.2. At width 64 the stages are as wide as theirs.

    Args:
        width: channels of the first stage; the next three have twice, four and eight times as many.
        stride: of the stem; 2 divides the work by four.

    The module maps [n, 3, h, w] to [n, feature_dim].
    """
    return basic_resnet(4, width, stride)
