"""Two backbones, one for an image's lightness and one for its colour: the encoder of contrastive multiview coding.

sRGB (IEC 61966-2-1, white D65) becomes CIE 1976 L*a*b*. Its constants are plain numbers, so that no tensor has to be
saved with a run or moved to its device.
"""

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import PositiveInt
from hypersphere.encoders.convnet import convnet
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import HypersphereError

BATCH_NORM = True
SRGB = True
"""Its input must be colours, from 0 to 1."""

# Linear sRGB to XYZ, rows X, Y, Z. Each row sums to the white point D65, so that greys have a* = b* = 0.
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
# Smallest and largest L*, a* and b* of any sRGB colour, reached in black and white, green and magenta, blue and yellow.
RANGES = ((0.0, 100.0), (-86.183, 98.234), (-107.860, 94.478))
_KNEE = 0.04045
"""Encoded value at which sRGB's curve changes from a line to a power."""
_DELTA = 6 / 29
"""Below ``_DELTA``³ CIE replaces the cube root by its tangent at that point."""


class LabStreams(nn.Module):
    """Maps [n, 3, h, w] to [n, feature_dim]: features of L*, then features of a* and b*.

    The views of an image are its lightness and its colour (Tian et al. 2020). The conversion has no weights, and both
    streams see the same augmented image.
    """

    def __init__(self, lightness: nn.Module, colour: nn.Module) -> None:
        """Combine two backbones that map [n, 1, h, w] and [n, 2, h, w] to features of equal length."""
        super().__init__()
        self.lightness, self.colour = lightness, colour
        self.stream_dim = int(lightness.feature_dim)  # type: ignore[arg-type]
        self.feature_dim = 2 * self.stream_dim

    def forward(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 2d"]:
        """Features of L*, then of a* and b*, of sRGB images in [0, 1].

        The backbones see each channel's range over all sRGB colours mapped to [-1, 1]. Tian et al. 2020 do the same in
        their code (train_CMC.py), with ranges that differ by less than 0.003.
        """
        channels = []
        for channel, (low, high) in zip(to_lab(images).unbind(1), RANGES, strict=True):
            channels.append((channel - low) * (2 / (high - low)) - 1)
        lab = torch.stack(channels, dim=1)
        lightness = self.lightness(lab[:, :1])
        colour = self.colour(lab[:, 1:])
        return torch.cat([lightness, colour], dim=1)


def lab_streams(
    *,
    backbone: Literal["convnet", "resnet8", "resnet18", "resnet50"],
    width: PositiveInt = 16,
    stem: Literal["cifar", "max_pool", "imagenet"] = "cifar",
) -> nn.Module:
    """A backbone for L* and one for a*b*, with weights of their own. One has ``stream_dim`` features, both together
    ``feature_dim``.

    Args:
        width: channels of the first stage of convnet and resnet8.
        stem: of resnet18 and resnet50, as in ``resnet``.
    """
    if backbone in ("convnet", "resnet8") and stem != "cifar":
        raise HypersphereError(
            f"encoder: lab_streams: stem: {backbone} has none; resnet18 and resnet50 have one"
        )
    if backbone in ("resnet18", "resnet50") and width != 16:
        raise HypersphereError(
            f"encoder: lab_streams: width: {backbone}'s is fixed; convnet and resnet8 take one"
        )
    streams = []
    for channels in (1, 2):
        if backbone == "convnet":
            stream = convnet(width=width)
        elif backbone == "resnet8":
            stream = resnet8(width=width)
        else:
            stream = resnet(depth=18 if backbone == "resnet18" else 50, stem=stem)
        conv: Any = stream.get_submodule("layer1.conv" if backbone == "convnet" else "conv1")
        conv.in_channels = channels
        conv.weight = nn.Parameter(conv.weight.detach()[:, :channels].clone())
        streams.append(stream)
    return LabStreams(*streams)


def to_lab(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """L* in [0, 100], a* and b* (CIE 1976) of sRGB images in [0, 1]; gradients are finite, in black too."""
    power = ((images + 0.055) / 1.055) ** 2.4
    linear = torch.where(images > _KNEE, power, images / 12.92)  # light, as a share of white's
    red, green, blue = linear.unbind(1)
    x, y, z = (_root((r * red + g * green + b * blue) / (r + g + b)) for r, g, b in XYZ)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=1)


def _root(share: Float[Tensor, "n h w"]) -> Float[Tensor, "n h w"]:
    """CIE's cube root with its linear part. The clamp avoids an infinite slope at 0, which ``where`` turns into NaN."""
    knee = _DELTA**3
    root = share.clamp(min=knee) ** (1 / 3)
    line = share / (3 * _DELTA**2) + 4 / 29
    return torch.where(share > knee, root, line)
