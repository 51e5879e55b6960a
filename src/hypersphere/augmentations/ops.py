"""Augmentation of a batch of images at once, each image with its own parameters.

Shapes: n images, h = w pixels, channels red, green, blue, values in [0, 1]. With equal parameters each function agrees
with the torchvision function that its docstring names. Parameters may be on the CPU when images are on a GPU.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from hypersphere.augmentations.draws import JITTERS, Draws
from hypersphere.config.recipe import Views
from hypersphere.transfer import send

Images = Float[Tensor, "n 3 h w"]
PerImage = Float[Tensor, "n"]

LUMA = (0.2989, 0.587, 0.114)
"""Weights of torchvision's ``rgb_to_grayscale``."""
CHUNK_BYTES = 3 * 2**19
"""The size of the images that a CPU augments together. Larger images, and their copies, would not fit its cache."""
HUE = JITTERS.index("hue")


def make_views(
    images: UInt8[Tensor, "n h w 3"], draws: Draws, branches: Sequence[Views]
) -> Float[Tensor, "v n 3 h w"]:
    """All views of a batch. ``draws`` has the random numbers of the same images, in the same order.

    The draws are on the CPU: they decide which operations run, and no GPU has to wait for them.
    """
    device = images.device
    n, size = images.shape[:2]
    v = len(branches)
    side = branches[0].side or size
    result = torch.empty(v * n, 3, side, side, device=device)
    rows_of_views = torch.arange(v * n).view(v, n)
    by_view = [part.transpose(0, 1) for part in draws]  # v, n, …
    by_row = [part.flatten(0, 1) for part in by_view]  # (v n), …
    of_rows = Draws(*by_row)
    for views in dict.fromkeys(branches):  # branches of equal settings are augmented together
        equal = [number for number, other in enumerate(branches) if other == views]
        rows = rows_of_views[equal].flatten()
        own = of_rows.take(rows)
        for chunk in _chunks(own, size, device):
            row = send(rows[chunk], device)
            raw = images.index_select(0, row % n)
            plain = to_float(raw)
            view = _view(plain, own.take(chunk), views)
            result.index_copy_(0, row, view)
    return result.unflatten(0, (v, n))


def _chunks(draws: Draws, size: int, device: torch.device) -> list[Int[Tensor, "m"]]:
    """The places of images that are augmented together: all images, or on a CPU a chunk at a time.

    All images of a chunk change their hue at the same turn. Images that turn grey, or are blurred, are neighbours.
    """
    every = torch.arange(len(draws.hue))
    image_bytes = 12 * size**2  # three channels of float32
    limit = max(1, CHUNK_BYTES // image_bytes)
    if device.type != "cpu" or len(every) <= limit:
        return [every]
    turns = draws.order.argsort(dim=1)  # n, jitter
    turns_hue = draws.hue != 0
    turn = turns[:, HUE].where(turns_hue, len(JITTERS))
    is_blurred = draws.sigma > 0
    kind = 4 * turn + 2 * is_blurred + draws.gray
    order = kind.argsort(stable=True)
    sizes = turn.bincount()
    chunks: list[Tensor] = []
    for group in order.split(sizes.tolist()):
        if len(group):
            count = math.ceil(len(group) / limit)
            chunks += group.chunk(count)
    return chunks


def to_float(images: UInt8[Tensor, "n h w 3"]) -> Images:
    """Convert bytes to [0, 1], channels first. An encoder normalises its input itself, if its run says so."""
    pixels = images.float() / 255  # n, h, w, 3
    return pixels.permute(0, 3, 1, 2)


def _view(images: Images, draws: Draws, views: Views) -> Images:
    """One view of each image, by its draws."""
    box, flip = draws.box, draws.flip
    if views.side is not None:
        images = resized_crop_and_flip(images, box, flip, views.side)
    elif views.crop_padding is None:
        images = crop_and_flip(images, box, flip)
    else:
        images = shift_and_flip(images, box, flip)
    if views.jitter_probability:
        images = jitter(images, draws)
    if views.grayscale:
        images = _only(draws.gray, images, _grayed)
    if views.blur:
        blurred = partial(blur, width=views.blur_kernel)
        is_blurred = draws.sigma > 0
        images = _only(is_blurred, images, blurred, draws.sigma)
    if views.solarize:
        images = _only(draws.solarize, images, solarize)
    return images


def _only(
    chosen: Bool[Tensor, "n"],
    images: Images,
    change: Callable[..., Images],
    *parameters: PerImage,
) -> Images:
    """Change the chosen images, and leave the others."""
    index = chosen.nonzero()[:, 0]
    if len(index) == len(images):
        return change(images, *parameters)
    if not len(index):
        return images
    place = send(index, images.device)
    some = images.index_select(0, place)
    of_some = [parameter[index] for parameter in parameters]
    changed = change(some, *of_some)
    return images.index_copy(0, place, changed)


def jitter(images: Images, draws: Draws) -> Images:
    """Change brightness, contrast, saturation and hue, in each image's order (``ColorJitter``)."""
    order = draws.order  # n, turn
    by_jitter = [getattr(draws, name) for name in JITTERS]
    parameters = torch.stack(by_jitter, dim=1)  # n, jitter
    factor = parameters.gather(1, order)  # n, turn
    # A factor of 1 changes nothing, nor does a shift of 0.
    is_factor = order != HUE
    neutral = is_factor.float()
    changes = factor != neutral
    jitters = torch.arange(len(JITTERS))
    is_due = order[..., None] == jitters
    takes = is_due & changes[..., None]  # n, turn, jitter
    _, takes_contrast, takes_saturation, takes_hue = takes.unbind(dim=2)
    # An image whose turn is hue, or nothing, gets a factor of 1 for the rest: in [0, 1] this changes no bit.
    keep = factor.where(is_factor, 1)
    rest = 1 - keep
    mean_weights = rest.where(takes_contrast, 0)  # n, turn
    luma_weights = rest.where(takes_saturation, 0)
    by_turn = takes.any(dim=0)  # turn, jitter
    for turn, taken in enumerate(by_turn.tolist()):
        *others, turns_hue = taken
        kept = keep[:, turn]
        if sum(others) > 1:
            # One formula for brightness, contrast and saturation, as images may take different ones in this turn.
            other = gray(images)
            level = _mean(other)
            mean_weight = _wide(mean_weights[:, turn], images)
            luma_weight = _wide(luma_weights[:, turn], images)
            other.mul_(luma_weight)
            other.add_(level * mean_weight)
            images = _blend(images, other, kept)
        elif any(others):
            only = others.index(True)
            change = (brightness, contrast, saturation)[only]
            images = change(images, kept)
        if turns_hue:
            is_turned = takes_hue[:, turn]
            shift = factor[:, turn]
            images = _only(is_turned, images, hue, shift)
    return images


def crop_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"]) -> Images:
    """Cut a box of whole pixels, resize it bilinearly to the full size, mirror it (``resized_crop``, ``hflip``).

    There is no antialiasing: it would change nothing, because a box is never larger than the image. Sampling stops at
    the box's border, as if the crop had been cut out first.
    """
    size = images.shape[-1]
    corner = box[:, :2, None]  # n, y and x, 1
    length = box[:, 2:, None]
    new = _middles(size, box.device)
    share = new / size
    place = share * length
    place.sub_(0.5)  # pixel 0 has its middle at 0.5
    place.relu_()
    place = torch.minimum(place, length - 1)
    place.add_(corner)
    return _resample(images, place, flip)


def resized_crop_and_flip(
    images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"], side: int
) -> Float[Tensor, "n 3 side side"]:
    """Cut a box of whole pixels, resize it bilinearly to another side, mirror it (``resized_crop``, ``hflip``).

    A box that shrinks is antialiased, as Pillow does: a new pixel is the mean of old ones with weights that fall
    linearly to 0 at one new pixel's distance, measured in old ones.
    """
    size = images.shape[-1]
    corner = box[:, :2, None, None]  # n, y and x, 1, 1
    length = box[:, 2:, None, None]
    stride = length / side  # old pixels to a new one
    pixels = _middles(size, box.device)
    old = pixels[:, None] - corner  # in the box
    new = _middles(side, box.device)
    new = new * stride  # in old pixels of the box
    reach = stride.clamp(min=1)
    distance = (old - new).abs()  # n, y and x, old, new
    distance.div_(reach)
    is_in_box = (old > 0) & (old < length)
    weights = (1 - distance).relu()
    weights.mul_(is_in_box)
    total = weights.sum(dim=2, keepdim=True)
    weights.div_(total)
    of_rows, of_columns = weights.unbind(1)
    mirrored = of_columns.flip(2)
    is_mirrored = flip[:, None, None]
    of_columns = torch.where(is_mirrored, mirrored, of_columns)
    device, dtype = images.device, images.dtype
    of_rows = send(of_rows, device, dtype)
    of_columns = send(of_columns, device, dtype)
    return _multiplied(images, of_rows, of_columns)


def shift_and_flip(images: Images, box: Float[Tensor, "n 4"], flip: Bool[Tensor, "n"]) -> Images:
    """Cut a box of the image's own size, black beyond its border, and mirror it (``pad``, ``crop``, ``hflip``)."""
    size = images.shape[-1]
    corner = box[:, :2, None]  # n, y and x, 1
    new = torch.arange(size, device=box.device)
    place = new + corner
    return _resample(images, place, flip)


def _middles(count: int, device: torch.device) -> Float[Tensor, "count"]:
    """The middle of each of ``count`` pixels in a row, in pixels from the border."""
    return torch.arange(count, device=device) + 0.5


def _resample(images: Images, place: Float[Tensor, "n 2 new"], flip: Bool[Tensor, "n"]) -> Images:
    """Interpolate bilinearly at ``place``, in old pixels: the y of each new row, and the x of each new column."""
    device, dtype = images.device, images.dtype
    size = images.shape[-1]
    y, x = place.unbind(1)
    mirrored = x.flip(1)
    x = torch.where(flip[:, None], mirrored, x)
    old = torch.arange(size, device=device, dtype=dtype)

    def weights(new: Float[Tensor, "n new"]) -> Float[Tensor, "n old new"]:
        there = send(new, device)
        distance = there[:, None] - old[:, None]
        distance.abs_()
        nearness = 1 - distance
        return nearness.relu_()

    of_rows = weights(y)
    of_columns = weights(x)
    return _multiplied(images, of_rows, of_columns)


def _multiplied(
    images: Images, of_rows: Float[Tensor, "n h side"], of_columns: Float[Tensor, "n w side"]
) -> Float[Tensor, "n 3 side side"]:
    """New images, by the weight of each old row in each new row, and of each old column in each new column.

    Each product takes its input transposed, so that no pixel moves in memory: h (w 3) -> (w 3) h = w (3 h) -> (3 h) w.
    """
    size, side = of_rows.shape[1:]
    pixels = images.permute(0, 2, 3, 1)  # n, h, w, 3
    lines = pixels.flatten(2)  # n, h, (w 3)
    rows = lines.mT.bmm(of_rows)  # n, (w 3), side
    rows = rows.view(-1, size, 3 * side)  # n, w, (3 side)
    columns = rows.mT.bmm(of_columns)  # n, (3 side), side
    return columns.view(-1, 3, side, side)


def gray(images: Images) -> Float[Tensor, "n 1 h w"]:
    """The luma of each pixel (``rgb_to_grayscale``)."""
    red, green, blue = images.split(1, dim=1)
    of_red, of_green, of_blue = LUMA
    luma = red * of_red
    luma.add_(green, alpha=of_green)
    luma.add_(blue, alpha=of_blue)
    return luma


def _mean(luma: Float[Tensor, "n 1 h w"]) -> Float[Tensor, "n 1 1 1"]:
    """The mean over all pixels of each image."""
    return luma.mean(dim=(1, 2, 3), keepdim=True)


def _grayed(images: Images) -> Images:
    """The luma of each pixel, in all three channels."""
    return gray(images).expand_as(images)


def _wide(parameter: PerImage, images: Images) -> Float[Tensor, "n 1 1 1"]:
    """The parameter of each image, in a shape that multiplies all of the image's pixels."""
    there = send(parameter, images.device)
    return there.view(-1, 1, 1, 1)


def _blend(images: Images, rest: Tensor, factor: PerImage) -> Images:
    """factor · images + rest."""
    weight = _wide(factor, images)
    blended = torch.addcmul(rest, images, weight)
    return blended.clamp_(0, 1)


def brightness(images: Images, factor: PerImage) -> Images:
    """Multiply by the factor (``adjust_brightness``)."""
    brighter = images * _wide(factor, images)
    return brighter.clamp_(0, 1)


def contrast(images: Images, factor: PerImage) -> Images:
    """Blend with the image's mean luma (``adjust_contrast``)."""
    mean = _mean(gray(images))
    weight = _wide(1 - factor, images)
    rest = mean * weight
    return _blend(images, rest, factor)


def saturation(images: Images, factor: PerImage) -> Images:
    """Blend with the luma (``adjust_saturation``)."""
    rest = gray(images)
    weight = _wide(1 - factor, images)
    rest.mul_(weight)
    return _blend(images, rest, factor)


def hue(images: Images, shift: PerImage) -> Images:
    """Turn the hue by ``shift`` turns at equal saturation and value (``adjust_hue``)."""
    red, green, blue = images.split(1, dim=1)
    value = images.amax(dim=1, keepdim=True)
    low = images.amin(dim=1, keepdim=True)
    chroma = value - low
    # Turns from red, positive towards green. HSV has a formula for each channel that can be the largest. All give this
    # distance. It is 0 for a grey pixel.
    hues = green + blue
    hues.sub_(red).add_(chroma).sub_(low)
    turn = chroma * 6
    turn.clamp_(min=1e-30)
    hues.div_(turn)
    hues.copysign_(green - blue)
    # HSV to RGB: a channel that is d sixths of a turn away from its own hue is low + chroma · clamp(2 - d, 0, 1).
    channels = torch.arange(3, device=images.device)
    own = channels / 3
    turned = _wide(shift, images) - own[:, None, None]
    away = hues + turned
    away.sub_(away.round())
    away.abs_()
    share = torch.rsub(away, 2, alpha=6)
    share.clamp_(0, 1)
    return torch.addcmul(low, chroma, share)


def blur(images: Images, sigma: PerImage, width: int) -> Images:
    """Convolve with a Gaussian in a window of ``width`` pixels, mirrored at the border (``gaussian_blur``).

    ``sigma`` is its standard deviation in pixels; 0 changes nothing.
    """
    device = images.device
    size = images.shape[-1]
    reach = width // 2
    offset = torch.arange(-reach, reach + 1, device=device)
    # Below 0.01 pixels float32 puts all weight at the centre: the clamp only avoids 0/0.
    deviation = send(sigma, device).clamp(min=0.01)
    distance = offset / deviation[:, None]  # n, window
    density = torch.exp(-0.5 * distance**2)
    total = density.sum(dim=1, keepdim=True)
    weight = density / total
    # A product with one matrix for rows and one for columns: each weight at the place of its pixel, mirrored.
    pixels = torch.arange(size, device=device)
    place = pixels + offset[:, None]  # window, new
    place.abs_()
    last = size - 1
    mirrored = 2 * last - place
    place = torch.minimum(place, mirrored)
    is_there = place[:, None] == pixels[:, None]  # window, old, new
    by_offset = is_there.flatten(1).to(weight)
    matrix = weight @ by_offset
    matrix = matrix.view(-1, size, size)  # n, old, new
    lines = images.flatten(1, 2)  # n, (3 h), w
    rows = lines.bmm(matrix)
    rows = rows.view_as(images)
    return matrix.mT[:, None] @ rows


def solarize(images: Images) -> Images:
    """Invert values of at least one half (``solarize`` at threshold 0.5)."""
    is_bright = images >= 0.5
    inverted = 1 - images
    return torch.where(is_bright, inverted, images)
