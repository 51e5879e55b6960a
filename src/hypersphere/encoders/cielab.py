"""sRGB (IEC 61966-2-1, white D65) to CIE 1976 L*a*b*.

Constants are plain numbers: no tensor has to be kept with a run or moved to its device.
"""

import torch
from jaxtyping import Float
from torch import Tensor

# Linear sRGB to XYZ, rows X, Y, Z. Each row sums to the white point D65, so that greys have a* = b* = 0.
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
# Smallest and largest L*, a* and b* of any sRGB colour, reached in black and white, green and magenta, blue and yellow.
RANGES = ((0.0, 100.0), (-86.183, 98.234), (-107.860, 94.478))
_KNEE = 0.04045
"""Where sRGB's curve turns from a line into a power."""
_DELTA = 6 / 29
"""Where the cube root of CIE's lightness gives way to its tangent, after the root."""


def to_lab(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """L* in [0, 100], a* and b* (CIE 1976) of sRGB images in [0, 1]; gradients are finite, in black too."""
    red, green, blue = _linear(images).unbind(1)
    x, y, z = (_root((r * red + g * green + b * blue) / (r + g + b)) for r, g, b in XYZ)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=1)


def to_unit_lab(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """The same, each channel's range over all sRGB colours mapped to [-1, 1].

    As Tian et al. 2020 do in their code (train_CMC.py), with ranges that are theirs to 0.003.
    """
    channels = zip(to_lab(images).unbind(1), RANGES, strict=True)
    return torch.stack([(channel - low) * (2 / (high - low)) - 1 for channel, (low, high) in channels], dim=1)


def _linear(values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Light, as a share of white's, of sRGB's encoded values."""
    power = ((values + 0.055) / 1.055) ** 2.4
    return torch.where(values > _KNEE, power, values / 12.92)


def _root(shares: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """CIE's cube root. It is clamped below, since ``where`` would turn an infinite slope at 0 into NaN."""
    root = shares.clamp(min=_DELTA**3) ** (1 / 3)
    return torch.where(shares > _DELTA**3, root, shares / (3 * _DELTA**2) + 4 / 29)
