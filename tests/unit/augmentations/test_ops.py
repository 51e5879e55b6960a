"""Every operation, and whole views in the order that ``recipe.Views`` lists, against torchvision's, image by image."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as F
from torch import Tensor

from hypersphere.augmentations import ops
from hypersphere.augmentations.draws import Draws, draw
from hypersphere.config.recipe import Views

N, SIZE = 24, 16
RAW = torch.from_numpy(
    np.random.default_rng(0).integers(0, 256, (N, SIZE, SIZE, 3), dtype=np.uint8)
)
RAW[0], RAW[1], RAW[2] = 0, 255, 77
RAW[3, :, :, 1:] = 0  # pure red; hue and saturation have corners at these four
IMAGES = ops.to_float(RAW)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    "box",
    [(0, 0, 16, 16), (3, 5, 7, 9), (15, 15, 1, 1), (0, 4, 16, 1), (8, 0, 8, 8), (2, 1, 13, 15)],
)
def test_crop_and_flip(box: tuple[int, int, int, int], flip: bool) -> None:
    """Cut first, then resize: nothing outside the box may leak in."""
    ours = ops.crop_and_flip(
        IMAGES, torch.tensor([box] * N, dtype=torch.float32), torch.full((N,), flip)
    )
    theirs = F.resized_crop(IMAGES, *box, [SIZE, SIZE], antialias=False)
    torch.testing.assert_close(ours, F.hflip(theirs) if flip else theirs, atol=2e-5, rtol=0)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("side", [1, 5, 16, 20])
@pytest.mark.parametrize(
    "box", [(0, 0, 16, 16), (3, 5, 7, 9), (15, 15, 1, 1), (0, 4, 16, 1), (2, 1, 13, 15)]
)
def test_resized_crop_and_flip(box: tuple[int, int, int, int], side: int, flip: bool) -> None:
    """Cut first, then resize to another side: antialiased where a box shrinks, which changes something."""
    ours = ops.resized_crop_and_flip(
        IMAGES, torch.tensor([box] * N).float(), torch.full((N,), flip), side
    )
    plain, theirs = (
        F.resized_crop(IMAGES, *box, [side] * 2, antialias=smooth) for smooth in (False, True)
    )
    torch.testing.assert_close(ours, F.hflip(theirs) if flip else theirs, atol=2e-5, rtol=0)
    assert ((plain - theirs).abs().amax() > 0.01) == (max(box[2:]) > side)


def test_views_of_another_side_than_the_images() -> None:
    """All that comes after the crop sees the crop; images of the side itself are as without it, to rounding."""
    both = [STRONG.model_copy(update={"side": side}) for side in (5, SIZE)]
    seen = [ops.make_views(RAW, draw([one] * 2, N, SIZE, 0, 0), [one] * 2) for one in both]
    assert [one.shape for one in seen] == [(2, N, 3, 5, 5), (2, N, 3, SIZE, SIZE)]
    usual = ops.make_views(RAW, draw([STRONG] * 2, N, SIZE, 0, 0), [STRONG] * 2)
    torch.testing.assert_close(seen[1], usual, atol=1e-4, rtol=0)


JITTERS = ("brightness", "contrast", "saturation", "hue")
"""In their fixed order."""


@pytest.mark.parametrize("name", JITTERS)
def test_colour(name: str) -> None:
    for factor in (-0.5, -0.2, 0.0, 0.07, 0.1, 0.5) if name == "hue" else (0.0, 0.3, 1.0, 1.8):
        result = getattr(ops, name)(IMAGES, torch.full((N,), factor))
        expected = torch.stack([getattr(F, f"adjust_{name}")(image, factor) for image in IMAGES])
        torch.testing.assert_close(result, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("width", [1, 3, 9, 23, 31])
def test_blur(width: int) -> None:
    """Each image with its own deviation. Half of 31 pixels is all that 16 can mirror."""
    sigma = torch.linspace(0.1, 4.0, N)
    ours = ops.blur(IMAGES, sigma, width)
    theirs = [F.gaussian_blur(IMAGES[i], [width] * 2, [sigma[i].item()] * 2) for i in range(N)]
    torch.testing.assert_close(ours, torch.stack(theirs), atol=1e-5, rtol=0)
    assert ((ours - IMAGES).abs().amax() > 0.1) == (width > 1)
    some = torch.arange(N) % 2  # of deviation 0: they stay
    assert torch.equal(ops.blur(IMAGES, some.float(), width)[some == 0], IMAGES[some == 0])


LOUD = {"brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2}
STRONG = Views(
    **LOUD,
    jitter_coins="shared",
    jitter_order="random",
    grayscale=0.3,
    blur=0.5,
    blur_kernel=5,
    solarize=0.4,
)
WEAK = Views(crop_padding=4, **dict.fromkeys(LOUD, 0), grayscale=0)


def by_torchvision(image: Tensor, draws: Draws, views: Views) -> Tensor:
    """One view of one image; ``draws`` are its own."""
    top, left, height, width = draws.box.int().tolist()
    if views.crop_padding is None:
        image = F.resized_crop(image, top, left, height, width, [SIZE, SIZE], antialias=False)
    else:
        p = views.crop_padding
        image = F.crop(F.pad(image, [p]), top + p, left + p, SIZE, SIZE)
    image = F.hflip(image) if draws.flip else image
    for k in draws.order.tolist():
        image = getattr(F, f"adjust_{JITTERS[k]}")(image, getattr(draws, JITTERS[k]).item())
    image = F.rgb_to_grayscale(image, 3) if draws.gray else image
    if draws.sigma:
        image = F.gaussian_blur(image, [views.blur_kernel] * 2, [draws.sigma.item()] * 2)
    return F.solarize(image, 0.5) if draws.solarize else image


BRANCHES = {
    "default": [Views(**LOUD, grayscale=0.4)] * 2,
    "strong": [STRONG] * 2,
    "weak and strong": [WEAK, STRONG],
    "strong and weak": [STRONG, WEAK],
    "alone": [STRONG],
    "all on a shift": [STRONG.model_copy(update={"crop_padding": 3})] * 2,
    "fixed order": [STRONG.model_copy(update={"jitter_order": "fixed"}), WEAK],
    "two jitters, any order": [STRONG.model_copy(update={"hue": 0.0, "brightness": 0.0})] * 2,
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_view_is_crop_flip_jitter_gray_blur_solarize_in_this_order(name: str) -> None:
    """Each branch as it says; drawn otherwise, it would be told apart."""
    branches = BRANCHES[name]
    draws, other = (draw(branches, N, SIZE, seed=seed, epoch=1) for seed in (3, 4))
    ours = ops.make_views(RAW, draws, branches)
    assert ours.shape == (len(branches), N, 3, SIZE, SIZE)
    apart = torch.zeros(N)
    for v, views in enumerate(branches):
        for i, image in enumerate(IMAGES):
            own = [Draws(*(part[i, v] for part in of)) for of in (draws, other)]
            expected, unlike = (by_torchvision(image, one, views) for one in own)
            torch.testing.assert_close(ours[v, i], expected, atol=1e-4, rtol=0)
            apart[i] = max(apart[i], (ours[v, i] - unlike).abs().max())
    assert (apart[3:] > 0.1).all()


@pytest.mark.parametrize("branches", [[STRONG] * 2, [Views()] * 2, [WEAK, STRONG]])
@pytest.mark.parametrize("images_in_chunk", [0, 1, 5, 30])
def test_chunks_change_no_byte(
    branches: list[Views], images_in_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the control that there are several chunks: each image is converted once, in as many calls as chunks."""
    draws = draw(branches, N, SIZE, seed=0, epoch=0)
    whole = ops.make_views(RAW, draws, branches)
    to_float = Mock(wraps=ops.to_float)
    monkeypatch.setattr(ops, "to_float", to_float)
    monkeypatch.setattr(ops, "CHUNK_BYTES", images_in_chunk * 3 * SIZE**2 * 4)
    assert torch.equal(ops.make_views(RAW, draws, branches), whole)
    calls = [len(call.args[0]) for call in to_float.call_args_list]
    assert sum(calls) == 2 * N
    assert max(calls) <= max(1, images_in_chunk)
    assert len(calls) > len(set(branches)) or images_in_chunk > N


def test_to_float_is_torchvisions() -> None:
    expected = torch.stack([F.to_tensor(image.numpy()) for image in RAW])
    assert torch.equal(ops.to_float(RAW), expected)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(("down", "right"), [(0, 0), (-4, 4), (4, -4), (3, 1), (-1, -2)])
def test_shift_and_flip(down: int, right: int, flip: bool) -> None:
    """Exact: pixels are moved, and none is mixed with another. The place of the control shows another picture."""
    box = torch.tensor([[down, right, SIZE, SIZE]] * N, dtype=torch.float32)
    ours = ops.shift_and_flip(IMAGES, box, torch.full((N,), flip))
    theirs = F.crop(F.pad(IMAGES, [4]), down + 4, right + 4, SIZE, SIZE)
    assert torch.equal(ours, F.hflip(theirs) if flip else theirs)
    other = ops.shift_and_flip(IMAGES, box + torch.tensor([0.0, 1, 0, 0]), torch.full((N,), flip))
    assert not torch.equal(ours, other)


def test_solarize() -> None:
    images = IMAGES.clone()
    images[5] = 0.5
    assert torch.equal(ops.solarize(images), F.solarize(images, 0.5))
