"""Augmentation of a batch of images at once, each image with its own parameters.

Shapes: n images, h = w pixels, channels red, green, blue, values in [0, 1]. With equal parameters each function agrees
with the torchvision function that its docstring names. Parameters may be on the CPU when images are on a GPU.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from hypersphere.augmentations.draws import JITTERS, Draws
from hypersphere.config.recipe import Views

Images = Float[Tensor, "n 3 h w"]
PerImage = Float[Tensor, "n"]

LUMA = (0.2989, 0.587, 0.114)
"""Weights of torchvision's ``rgb_to_grayscale``."""
CHUNK_BYTES = 3 * 2**19
"""Size of the images that a CPU augments together: larger, and they and what is made of them fall out of its cache."""
HUE = JITTERS.index("hue")


def make_views(
    images: UInt8[Tensor, "n h w 3"], draws: Draws, branches: Sequence[Views]
) -> Float[Tensor, "v n 3 h w"]:
    """All views of a batch; ``draws`` holds the same images in the same order, on the CPU.

    Draws decide which operations run: there they make no GPU wait.
    """
    n, size = images.shape[:2]
    side = branches[0].side or size
    made = torch.empty(len(branches) * n, 3, side, side, device=images.device)
    for views in dict.fromkeys(branches):  # branches of equal settings are augmented together
        rows = torch.cat(
            [torch.arange(v * n, v * n + n) for v, one in enumerate(branches) if one == views]
        )
        of_rows = Draws(*(part.transpose(0, 1).flatten(0, 1)[rows] for part in draws))
        chunks, limit = [torch.arange(len(rows))], CHUNK_BYTES // (12 * size**2)
        if images.device.type == "cpu" and len(rows) > limit:
            # Those that take hue at the same place; of these, such that turn grey or are blurred become neighbours.
            place = torch.where(
                of_rows.hue == 0, len(JITTERS), of_rows.order.argsort(dim=1)[:, HUE]
            )
            order = (4 * place + 2 * (of_rows.sigma > 0) + of_rows.gray).argsort(stable=True)
            groups = [group for group in order.split(place.bincount().tolist()) if len(group)]
            chunks = [
                chunk for group in groups for chunk in group.chunk(-(-len(group) // max(1, limit)))
            ]
        for chunk in chunks:
            row = rows[chunk].to(images.device)
            made.index_copy_(
                0, row, _view(to_float(images.index_select(0, row % n)), of_rows.take(chunk), views)
            )
    return made.unflatten(0, (len(branches), n))


def to_float(images: UInt8[Tensor, "n h w 3"]) -> Images:
    """Bytes to [0, 1], channels first. An encoder normalises them itself, if its run says so."""
    return (images.float() / 255).permute(0, 3, 1, 2)


def _view(images: Images, draws: Draws, views: Views) -> Images:
    if views.side is not None:
        images = resized_crop_and_flip(images, draws.box, draws.flip, views.side)
    else:
        crop = crop_and_flip if views.crop_padding is None else shift_and_flip
        images = crop(images, draws.box, draws.flip)
    if views.jitter_probability:
        images = jitter(images, draws)
    if views.grayscale:
        images = _only(draws.gray, images, lambda some: gray(some).expand_as(some))
    if views.blur:
        images = _only(
            draws.sigma > 0,
            images,
            lambda some, sigma: blur(some, sigma, views.blur_kernel),
            draws.sigma,
        )
    if views.solarize:
        images = _only(draws.solarize, images, solarize)
    return images


def _only(
    chosen: Bool[Tensor, "n"], images: Images, change: Callable[..., Images], *parameters: PerImage
) -> Images:
    """Change the chosen images, and leave the others."""
    index = chosen.nonzero()[:, 0]
    if len(index) == len(images):
        return change(images, *parameters)
    if not len(index):
        return images
    place = index.to(images.device)
    return images.index_copy(
        0, place, change(images.index_select(0, place), *(part[index] for part in parameters))
    )


def jitter(images: Images, draws: Draws) -> Images:
    """Brightness, contrast, saturation and hue, in each image's order (``ColorJitter``)."""
    order = draws.order
    factor = torch.stack([getattr(draws, name) for name in JITTERS], dim=1).gather(1, order)
    # n, turn, jitter. A factor of 1 changes nothing, nor does a shift of 0.
    takes = (order[..., None] == torch.arange(len(JITTERS))) & (factor != (order != HUE))[..., None]
    # Images that take hue or nothing in a turn keep their colours: as all are in [0, 1], a factor of 1 changes no bit.
    keep = torch.where(order == HUE, 1, factor)
    mean, luma = torch.where(takes[..., 1:HUE], 1 - keep[..., None], 0).unbind(dim=2)
    for turn, (*others, turns_hue) in enumerate(takes.any(dim=0).tolist()):
        if sum(others) > 1:
            # All three in one formula, so that each image may take another of them.
            other = gray(images)
            level = other.mean(dim=(1, 2, 3), keepdim=True) * _wide(mean[:, turn], images)
            images = _blend(
                images, other.mul_(_wide(luma[:, turn], images)).add_(level), keep[:, turn]
            )
        elif any(others):
            images = (brightness, contrast, saturation)[others.index(True)](images, keep[:, turn])
        if turns_hue:
            images = _only(takes[:, turn, HUE], images, hue, factor[:, turn])
    return images


def crop_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"]) -> Images:
    """Cut a box of whole pixels, resize it bilinearly to the full size, mirror it (``resized_crop``, ``hflip``).

    There is no antialiasing: it would change nothing, because a box is never larger than the image. Sampling stops at
    the box's border, as if the crop had been cut out first.
    """
    size = images.shape[-1]
    step = (torch.arange(size, device=box.device) + 0.5) / size
    start, length = box[:, :2, None], box[:, 2:, None]
    return _resample(
        images, torch.minimum((step * length).sub_(0.5).relu_(), length - 1).add_(start), flip
    )


def resized_crop_and_flip(
    images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"], side: int
) -> Float[Tensor, "n 3 side side"]:
    """Cut a box of whole pixels, resize it bilinearly to another side, mirror it (``resized_crop``, ``hflip``).

    A box that shrinks is antialiased, as Pillow does: a new pixel is the mean of old ones with weights that fall
    linearly to 0 at one new pixel's distance, measured in old ones.
    """
    start, length = box[:, :2, None, None], box[:, 2:, None, None]  # [n, y and x, 1, 1]
    stride = length / side
    centre = (torch.arange(side, device=box.device) + 0.5) * stride  # in the box, of new pixels
    old = torch.arange(images.shape[-1], device=box.device)[:, None] + 0.5 - start
    near = (1 - (old - centre).abs() / stride.clamp(min=1)).relu()
    weights = near * ((old > 0) & (old < length))
    of_rows, of_columns = (weights / weights.sum(dim=2, keepdim=True)).unbind(1)
    of_columns = torch.where(flip[:, None, None], of_columns.flip(2), of_columns)
    return _multiplied(images, of_rows.to(images), of_columns.to(images))


def shift_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"]) -> Images:
    """Cut a box of the image's own size, black beyond its border, and mirror it (``pad``, ``crop``, ``hflip``)."""
    return _resample(
        images, torch.arange(images.shape[-1], device=box.device) + box[:, :2, None], flip
    )


def _resample(images: Images, place: Float[Tensor, "n 2 new"], flip: Bool[Tensor, "n"]) -> Images:
    """Interpolate bilinearly at ``place``, in old pixels: the y of each new row, and the x of each new column."""
    size = images.shape[-1]
    y, x = place.unbind(1)
    x = torch.where(flip[:, None], x.flip(1), x)
    old = torch.arange(size, device=images.device, dtype=images.dtype)[:, None]
    of_rows, of_columns = (
        torch.rsub((one.to(images.device)[:, None] - old).abs_(), 1).relu_() for one in (y, x)
    )
    return _multiplied(images, of_rows, of_columns)


def _multiplied(
    images: Images, of_rows: Float[Tensor, "n h side"], of_columns: Float[Tensor, "n w side"]
) -> Float[Tensor, "n 3 side side"]:
    """New images by the weights of each old row in each new one, and of columns.

    Each product takes its input transposed, so that no pixel moves in memory: h (w 3) -> (w 3) h = w (3 h) -> (3 h) w.
    """
    size, side = of_rows.shape[1:]
    rows = images.permute(0, 2, 3, 1).flatten(2).transpose(1, 2).bmm(of_rows)
    return rows.view(-1, size, 3 * side).transpose(1, 2).bmm(of_columns).view(-1, 3, side, side)


def gray(images: Images) -> Float[Tensor, "n 1 h w"]:
    """Luma (``rgb_to_grayscale``)."""
    red, green, blue = images.split(1, dim=1)
    return (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])


def _wide(parameter: PerImage, images: Images) -> Float[Tensor, "n 1 1 1"]:
    return parameter.to(images.device, non_blocking=True).view(-1, 1, 1, 1)


def _blend(images: Images, rest: Tensor, factor: PerImage) -> Images:
    """factor · images + rest."""
    return torch.addcmul(rest, images, _wide(factor, images)).clamp_(0, 1)


def brightness(images: Images, factor: PerImage) -> Images:
    """Multiply (``adjust_brightness``)."""
    return (images * _wide(factor, images)).clamp_(0, 1)


def contrast(images: Images, factor: PerImage) -> Images:
    """Blend with the image's mean luma (``adjust_contrast``)."""
    return _blend(
        images, gray(images).mean(dim=(1, 2, 3), keepdim=True) * _wide(1 - factor, images), factor
    )


def saturation(images: Images, factor: PerImage) -> Images:
    """Blend with the luma (``adjust_saturation``)."""
    return _blend(images, gray(images).mul_(_wide(1 - factor, images)), factor)


def hue(images: Images, shift: PerImage) -> Images:
    """Turn the hue by ``shift`` turns at equal saturation and value (``adjust_hue``)."""
    red, green, blue = images.split(1, dim=1)
    value, low = images.amax(dim=1, keepdim=True), images.amin(dim=1, keepdim=True)
    chroma = value - low
    # Turns from red, positive towards green. HSV has a formula for each case of which channel is largest; the distance
    # is this in all of them. It is 0 where there is no colour.
    hues = (green + blue).sub_(red).add_(chroma).sub_(low).div_((chroma * 6).clamp_(min=1e-30))
    hues = hues.copysign_(green - blue)
    # HSV to RGB: a channel that is d sixths of a turn away from its own hue is low + chroma · clamp(2 - d, 0, 1).
    own = torch.arange(3, device=images.device)[:, None, None] / 3
    away = hues + (_wide(shift, images) - own)
    away = away.sub_(away.round()).abs_()
    return torch.addcmul(low, chroma, torch.rsub(away, 2, alpha=6).clamp_(0, 1))


def blur(images: Images, sigma: PerImage, width: int) -> Images:
    """Convolve with a Gaussian in a window of ``width`` pixels, mirrored at the border (``gaussian_blur``).

    ``sigma`` is its standard deviation in pixels; 0 changes nothing.
    """
    reach, size = width // 2, images.shape[-1]
    offset = torch.arange(-reach, reach + 1, device=images.device)
    # Below 0.01 pixels float32 puts all weight at the centre: the clamp only avoids 0/0.
    weight = torch.exp(-0.5 * (offset / sigma.to(images.device)[:, None].clamp(min=0.01)) ** 2)
    weight = weight / weight.sum(dim=1, keepdim=True)
    # A product with one matrix for rows and one for columns: each weight at the place of its pixel, mirrored.
    pixels = torch.arange(size, device=images.device)
    place = (pixels + offset[:, None]).abs()
    place = torch.minimum(place, 2 * (size - 1) - place)
    is_there = place[:, None] == pixels[:, None]  # window, old, new
    matrix = (weight @ is_there.flatten(1).to(weight)).view(-1, size, size)
    rows = images.flatten(1, 2).bmm(matrix).view_as(images)
    return matrix.transpose(1, 2)[:, None] @ rows


def solarize(images: Images) -> Images:
    """Invert values of at least one half (``solarize`` at threshold 0.5)."""
    return torch.where(images >= 0.5, 1 - images, images)
