"""Feature maps of an encoder's inner layers, and pictures of what they say of each place of an image."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from hypersphere.augmentations.ops import to_float

PIXELS = 64
"""The least side of a picture: smaller images are enlarged by a whole factor."""


def seen_by(
    part: nn.Module, encoder: nn.Module, images: UInt8[np.ndarray, "n h w 3"], device: torch.device
) -> tuple[Tensor, Tensor, Float[Tensor, "n d"]]:
    """What a part of an encoder is given and gives, and the encoder's output, differentiable by both."""
    seen: list[Tensor] = []
    handle = part.register_forward_hook(
        lambda module, given, output: seen.extend((given[0], output))
    )
    pixels = to_float(torch.from_numpy(np.array(images)).to(device))
    try:
        with torch.enable_grad():
            features = encoder(pixels.requires_grad_())
    finally:
        handle.remove()
    return seen[0], seen[1], features


def resized(
    maps: Float[Tensor, "n i j"], size: tuple[int, int], smooth: bool
) -> Float[np.ndarray, "n h w"]:
    """Maps at another size, in between by bilinear interpolation, or by the nearest place."""
    mode = "bilinear" if smooth else "nearest-exact"
    grown = F.interpolate(maps[:, None].float(), size, mode=mode)
    return np.asarray(grown[:, 0].cpu().numpy())


def enlarged(images: UInt8[np.ndarray, "n h w 3"]) -> UInt8[np.ndarray, "n H W 3"]:
    """Images whose sides are at least ``PIXELS``, each pixel repeated."""
    factor = -(-PIXELS // min(images.shape[1:3]))
    return np.asarray(images).repeat(factor, axis=1).repeat(factor, axis=2)


def tinted(
    images: UInt8[np.ndarray, "n h w 3"],
    colours: Float[np.ndarray, "n h w 3"],
    share: Float[np.ndarray, "n h w"],
) -> UInt8[np.ndarray, "n h w 3"]:
    """Grey images, mixed with colours (0 … 1) by a share for each place."""
    grey = np.asarray(images, float).mean(axis=-1, keepdims=True) / 255
    mixed = grey * (1 - share[..., None]) + colours * share[..., None]
    rounded: np.ndarray = np.rint(255 * mixed.clip(0, 1)).astype(np.uint8)
    return rounded
