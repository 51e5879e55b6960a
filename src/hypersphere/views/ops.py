"""Augmentation of a batch of images at once, each image with its own parameters.

Shapes: n images, h = w pixels, channels red, green, blue, values in [0, 1]. With equal parameters each function agrees
with the torchvision function that its docstring names.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from hypersphere.declared.recipe import Views
from hypersphere.views.draws import JITTERS, Draws

Images = Float[Tensor, "n 3 h w"]
PerImage = Float[Tensor, "n"]
Step = Callable[[Images, PerImage], Images]

LUMA = (0.2989, 0.587, 0.114)
"""Weights of torchvision's ``rgb_to_grayscale``."""


def make_views(images: UInt8[Tensor, "n h w 3"], draws: Draws, branches: Sequence[Views]) -> Float[Tensor, "v n 3 h w"]:
    """All views of a batch; ``draws`` holds the same images in the same order, on the same device."""
    plain = to_float(images)
    draws_by_view = (Draws(*(part[:, v] for part in draws)) for v in range(len(branches)))
    return torch.stack([_view(plain, one, views) for one, views in zip(draws_by_view, branches, strict=True)])


def to_float(images: UInt8[Tensor, "n h w 3"]) -> Images:
    """Bytes to [0, 1], channels first; mean and standard deviation are left as they are."""
    return images.permute(0, 3, 1, 2).float() / 255


def _view(images: Images, draws: Draws, views: Views) -> Images:
    if views.crop_padding is None:
        images = crop_and_flip(images, draws.box, draws.flip)
    else:
        images = shift_and_flip(images, draws.box, draws.flip, views.crop_padding)
    if views.jitter_probability:
        images = jitter(images, draws, views)
    if views.grayscale:
        images = torch.where(draws.gray[:, None, None, None], gray(images).expand_as(images), images)
    if views.blur:
        images = blur(images, draws.sigma, views.blur_kernel)
    if views.solarize:
        images = torch.where(draws.solarize[:, None, None, None], solarize(images), images)
    return images


def jitter(images: Images, draws: Draws, views: Views) -> Images:
    """Brightness, contrast, saturation and hue, in the fixed order or in each image's own order (``ColorJitter``)."""
    # Skipping a step of strength zero saves time and changes nothing, except the rounding of hue (below 1e-6).
    steps = [
        function if getattr(views, name) else None
        for name, function in zip(JITTERS, (brightness, contrast, saturation, hue), strict=True)
    ]
    factors = torch.stack([getattr(draws, name) for name in JITTERS], dim=1)
    if views.jitter_order == "random":
        return _in_order(images, steps, factors, draws.order)
    for step, factor in zip(steps, factors.unbind(dim=1), strict=True):
        images = step(images, factor) if step else images
    return images


def _in_order(
    images: Images, steps: Sequence[Step | None], factors: Float[Tensor, "n k"], order: Int[Tensor, "n k"]
) -> Images:
    """Apply all k steps to each image in its own order: k turns, each over groups of images that take the same step."""
    place = torch.arange(len(steps), device=order.device)
    sizes = (order[..., None] == place).sum(dim=0).tolist()  # of all turns at once: the only wait for the device
    for turn, groups in zip(order.unbind(dim=1), sizes, strict=True):
        by_step = turn.argsort(stable=True)
        factor = factors[by_step, turn[by_step]]
        parts = zip(steps, images[by_step].split(groups), factor.split(groups), strict=True)
        images = torch.cat([step(part, value) if step else part for step, part, value in parts])[by_step.argsort()]
    return images


def crop_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"]) -> Images:
    """Cut a box of whole pixels, resize it bilinearly to the full size, mirror it (``resized_crop``, ``hflip``).

    There is no antialiasing: it would change nothing, because a box is never larger than the image. Sampling stops at
    the box's border, as if the crop had been cut out first.
    """
    size = images.shape[-1]
    step = (torch.arange(size, device=images.device, dtype=images.dtype) + 0.5) / size
    top, left, height, width = box[..., None].unbind(1)
    y = torch.minimum(torch.relu(step * height - 0.5), height - 1) + top
    x = torch.minimum(torch.relu(step * width - 0.5), width - 1) + left
    x = torch.where(flip[:, None], x.flip(1), x)
    pixels = torch.stack(torch.broadcast_tensors(x[:, None, :], y[:, :, None]), dim=-1)
    grid = (2 * pixels + 1) / size - 1
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)


def shift_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"], padding: int) -> Images:
    """Pad the image with black, cut out a box of its original size, mirror it (``pad``, ``crop``, ``hflip``)."""
    pixels = torch.arange(images.shape[-1], device=images.device)
    corner = box.long() + padding
    y, x = corner[:, :1] + pixels, corner[:, 1:2] + pixels
    x = torch.where(flip[:, None], x.flip(1), x)
    rows = torch.take_along_dim(F.pad(images, (padding,) * 4), y[:, None, :, None], dim=2)
    return torch.take_along_dim(rows, x[:, None, None, :], dim=3)


def gray(images: Images) -> Float[Tensor, "n 1 h w"]:
    """Luma (``rgb_to_grayscale``)."""
    red, green, blue = images.unbind(1)
    return (LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue)[:, None]


def _blend(images: Images, other: Tensor, factor: PerImage) -> Images:
    weight = factor[:, None, None, None]
    return (weight * images + (1 - weight) * other).clamp(0, 1)


def brightness(images: Images, factor: PerImage) -> Images:
    """Multiply (``adjust_brightness``)."""
    return (images * factor[:, None, None, None]).clamp(0, 1)


def contrast(images: Images, factor: PerImage) -> Images:
    """Blend with the image's mean luma (``adjust_contrast``)."""
    return _blend(images, gray(images).mean(dim=(1, 2, 3), keepdim=True), factor)


def saturation(images: Images, factor: PerImage) -> Images:
    """Blend with the luma (``adjust_saturation``)."""
    return _blend(images, gray(images), factor)


def hue(images: Images, shift: PerImage) -> Images:
    """Turn the hue by ``shift`` turns at equal saturation and value (``adjust_hue``)."""
    value, largest = images.max(dim=1)
    chroma = value - images.amin(dim=1)
    red, green, blue = images.unbind(1)
    divisor = torch.where(chroma == 0, 1, chroma)
    sixth = torch.where(
        largest == 0,
        (green - blue) / divisor,
        torch.where(largest == 1, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    turned = sixth + 6 * shift[:, None, None]
    # HSV to RGB, channel k (red 5, green 3, blue 1), with s = (k + hue) mod 6:
    # value - chroma · clamp(min(s, 4 - s), 0, 1)
    s = torch.stack([torch.remainder(k + turned, 6) for k in (5, 3, 1)], dim=1)
    return value[:, None] - chroma[:, None] * torch.minimum(s, 4 - s).clamp(0, 1)


def blur(images: Images, sigma: PerImage, width: int) -> Images:
    """Convolve with a Gaussian in a window of ``width`` pixels, mirrored at the border (``gaussian_blur``).

    ``sigma`` is its standard deviation in pixels; 0 changes nothing.
    """
    reach, size = width // 2, images.shape[-1]
    offset = torch.arange(-reach, reach + 1, device=images.device)
    # Below 0.01 pixels float32 puts all weight at the centre: the clamp only avoids 0/0.
    weight = torch.exp(-0.5 * (offset / sigma[:, None].clamp(min=0.01)) ** 2)
    weight = (weight / weight.sum(dim=1, keepdim=True))[..., None, None, None]
    images = F.pad(images, (reach,) * 4, mode="reflect")
    # Sums of shifted images instead of a convolution, which a GPU may round to 10 bits (TF32).
    for dim in (2, 3):
        total = torch.zeros_like(images.narrow(dim, 0, size))
        for i in range(width):
            total.addcmul_(images.narrow(dim, i, size), weight[:, i])
        images = total
    return images


def solarize(images: Images) -> Images:
    """Invert values of at least one half (``solarize`` at threshold 0.5)."""
    return torch.where(images >= 0.5, 1 - images, images)
