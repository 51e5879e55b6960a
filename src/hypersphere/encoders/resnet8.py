"""A ResNet small enough to learn in CPU seconds."""

from collections import OrderedDict

from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import PositiveInt

BATCH_NORM = True


def resnet8(*, width: PositiveInt = 16, stride: PositiveInt = 1) -> nn.Module:
    """A 3x3 stem, then one basic block at each of three widths (He et al. 2016, Sec. 4.2, n = 1).

    Args:
        width: channels of the stem and of the first stage; each other stage halves the sides and doubles the channels.
        stride: of the stem; 2 divides the work by four.

    The module maps [n, 3, h, w] to [n, feature_dim], ``feature_dim`` = 4 x width.
    """
    layers: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(3, width, kernel_size=3, stride=stride, padding=1, bias=False),
        "bn1": nn.BatchNorm2d(width),
        "relu": nn.ReLU(inplace=True),
        "layer1": BasicBlock(width, width, 1),
        "layer2": BasicBlock(width, 2 * width, 2),
        "layer3": BasicBlock(2 * width, 4 * width, 2),
        "pool": nn.AdaptiveAvgPool2d(1),
        "flatten": nn.Flatten(),
    }
    model = nn.Sequential(OrderedDict(layers))
    model.feature_dim = 4 * width  # type: ignore[assignment]
    return model


class BasicBlock(nn.Module):
    """relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)), with 3x3 convolutions (He et al. 2016, Fig. 2).

    The function, names and order of tensors are those of torchvision's block. It stands here because the import of
    torchvision takes longer than many a small run. ``downsample`` is the shortcut; None for the identity.
    """

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(
            channels_in, channels_out, kernel_size=3, stride=stride, padding=1, bias=False
        )
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels_out, channels_out, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels_in != channels_out:
            # A 1x1 convolution with a stride, in two steps. As one step, oneDNN 3.12 (torch 2.13) writes past its
            # buffers in the backward pass of fewer than eight input channels, channels last, on processors with AVX2
            # but without AVX-512.
            layers: dict[str, nn.Module] = {
                "every": nn.AvgPool2d(kernel_size=1, stride=stride),
                "0": nn.Conv2d(channels_in, channels_out, kernel_size=1, bias=False),
                "1": nn.BatchNorm2d(channels_out),
            }
            self.downsample = nn.Sequential(OrderedDict(layers))

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n k i j"]:
        """The block's output."""
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += shortcut
        out: Tensor = self.relu(y)
        return out
