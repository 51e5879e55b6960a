"""Feature maps of an encoder's inner layers, and pictures of what they say of each place of an image."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from hypersphere.augmentations.ops import to_float
from hypersphere.errors import HypersphereError
from hypersphere.probes.result import NotFiniteError

PIXELS = 64
"""The least side of a picture: smaller images are enlarged by a whole factor."""


def last_maps(
    encoder: nn.Module, images: UInt8[np.ndarray, "n h w 3"], device: torch.device
) -> tuple[Float[Tensor, "n c i j"], Float[Tensor, "n d"]]:
    """The maps that the encoder averages at its end, and its output, a differentiable function of them."""
    pools = [module for module in encoder.modules() if isinstance(module, nn.AdaptiveAvgPool2d)]
    if len(pools) != 1:
        raise HypersphereError(
            "probe gradcam: encoder: needs one that ends in one average of feature maps, such as a ResNet"
        )
    seen: list[Tensor] = []

    def cut(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        seen.append(given[0].detach().requires_grad_())
        return (seen[0],)

    handle = pools[0].register_forward_pre_hook(cut)
    try:
        with torch.enable_grad():
            features = encoder(_floats(images, device))
    finally:
        handle.remove()
    return seen[0], features


@torch.no_grad()
def maps_after(
    encoder: nn.Module, stage: str, images: UInt8[np.ndarray, "n h w 3"], device: torch.device
) -> Float[Tensor, "n c i j"]:
    """The output of the encoder's part of that name, a map for each channel."""
    parts = dict(encoder.named_children())
    if stage not in parts:
        raise HypersphereError(
            f"probe local_features: stage: the encoder has no '{stage}'; it has {', '.join(parts) or 'no parts'}"
        )
    seen: list[Tensor] = []

    def keep(module: nn.Module, given: Any, output: Tensor) -> None:
        seen.append(output)

    handle = parts[stage].register_forward_hook(keep)
    try:
        encoder(_floats(images, device))
    finally:
        handle.remove()
    if seen[0].ndim != 4:
        raise HypersphereError(
            f"probe local_features: stage: the output of '{stage}' is no map of places; take one before it"
        )
    if not bool(seen[0].isfinite().all()):
        raise NotFiniteError(f"the maps of '{stage}' are NaN or infinite at some places")
    return seen[0]


def _floats(images: UInt8[np.ndarray, "n h w 3"], device: torch.device) -> Float[Tensor, "n 3 h w"]:
    return to_float(torch.from_numpy(np.array(images)).to(device))


def resized(maps: Float[Tensor, "n i j"], size: tuple[int, int], smooth: bool) -> Float[np.ndarray, "n h w"]:
    """Maps at another size, in between by bilinear interpolation, or by the nearest place."""
    grown = F.interpolate(maps[:, None].float(), size, mode="bilinear" if smooth else "nearest-exact")
    found: np.ndarray = grown[:, 0].cpu().numpy()
    return found


def enlarged(images: UInt8[np.ndarray, "n h w 3"]) -> UInt8[np.ndarray, "n H W 3"]:
    """Images whose sides are at least ``PIXELS``, each pixel repeated."""
    factor = -(-PIXELS // min(images.shape[1:3]))
    return np.asarray(images).repeat(factor, axis=1).repeat(factor, axis=2)


def tinted(
    images: UInt8[np.ndarray, "n h w 3"], colours: Float[np.ndarray, "n h w 3"], share: Float[np.ndarray, "n h w"]
) -> UInt8[np.ndarray, "n h w 3"]:
    """Grey images, mixed with colours (0 … 1) by a share for each place."""
    grey = np.asarray(images, float).mean(axis=-1, keepdims=True) / 255
    mixed = grey * (1 - share[..., None]) + colours * share[..., None]
    rounded: np.ndarray = np.rint(255 * mixed.clip(0, 1)).astype(np.uint8)
    return rounded
