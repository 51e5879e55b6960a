"""sRGB (IEC 61966-2-1, white D65) to CIE 1976 L*a*b*.

Constants are plain numbers, so that no tensor has to be saved with a run or moved to its device.
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
"""Encoded value at which sRGB's curve changes from a line to a power."""
_DELTA = 6 / 29
"""Below ``_DELTA``³ CIE replaces the cube root by its tangent at that point."""


def to_lab(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """L* in [0, 100], a* and b* (CIE 1976) of sRGB images in [0, 1]; gradients are finite, in black too."""
    red, green, blue = _linear(images).unbind(1)
    x, y, z = (_root((r * red + g * green + b * blue) / (r + g + b)) for r, g, b in XYZ)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=1)


def to_unit_lab(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """L*, a* and b* of sRGB images in [0, 1], each channel's range over all sRGB colours mapped to [-1, 1].

    Tian et al. 2020 do the same in their code (train_CMC.py), with ranges that differ by less than 0.003.
    """
    channels = zip(to_lab(images).unbind(1), RANGES, strict=True)
    return torch.stack([(channel - low) * (2 / (high - low)) - 1 for channel, (low, high) in channels], dim=1)


def _linear(values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Linear light of sRGB's encoded values, as a share of white's."""
    power = ((values + 0.055) / 1.055) ** 2.4
    return torch.where(values > _KNEE, power, values / 12.92)


def _root(shares: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """CIE's cube root with its linear part. The clamp avoids an infinite slope at 0, which ``where`` turns into NaN."""
    root = shares.clamp(min=_DELTA**3) ** (1 / 3)
    return torch.where(shares > _DELTA**3, root, shares / (3 * _DELTA**2) + 4 / 29)
