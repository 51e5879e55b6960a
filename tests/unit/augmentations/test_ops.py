"""Every operation against torchvision's at equal parameters, image by image."""

from collections.abc import Callable

import pytest
import torch
import torchvision.transforms.functional as F1
import torchvision.transforms.v2.functional as F2
from torch import Tensor
from torchvision.transforms import InterpolationMode

from hypersphere.augmentations import ops

N, SIZE = 12, 16


@pytest.fixture
def images(raw: Tensor) -> Tensor:
    return ops.to_float(raw[:N])


def test_to_float_is_torchvisions(raw: Tensor) -> None:
    expected = torch.stack([F1.to_tensor(image.numpy()) for image in raw])
    assert torch.equal(ops.to_float(raw), expected)


BOXES = [(0, 0, 16, 16), (3, 5, 7, 9), (15, 15, 1, 1), (0, 4, 16, 1), (8, 0, 8, 8), (2, 1, 13, 15)]


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("box", BOXES)
def test_crop_and_flip(images: Tensor, box: tuple[int, int, int, int], flip: bool) -> None:
    """Cut first, then resize: nothing outside the box may leak in."""
    ours = ops.crop_and_flip(images, torch.tensor([box] * N, dtype=torch.float32), torch.full((N,), flip))
    for functional in (F1, F2):
        kind = InterpolationMode.BILINEAR
        theirs = functional.resized_crop(images, *box, [SIZE, SIZE], interpolation=kind, antialias=False)
        theirs = functional.hflip(theirs) if flip else theirs
        torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=0)


PAIRS: list[tuple[Callable[..., Tensor], str, list[float]]] = [
    (ops.brightness, "adjust_brightness", [0.0, 0.3, 1.0, 1.8]),
    (ops.contrast, "adjust_contrast", [0.0, 0.3, 1.0, 1.8]),
    (ops.saturation, "adjust_saturation", [0.0, 0.3, 1.0, 1.8]),
    (ops.hue, "adjust_hue", [-0.5, -0.2, 0.0, 0.07, 0.1, 0.5]),
]


@pytest.mark.parametrize(("ours", "name", "factors"), PAIRS, ids=[name for _, name, _ in PAIRS])
def test_colour(images: Tensor, ours: Callable[..., Tensor], name: str, factors: list[float]) -> None:
    for factor in factors:
        result = ours(images, torch.full((N,), factor))
        for functional in (F1, F2):
            expected = torch.stack([getattr(functional, name)(image, factor) for image in images])
            torch.testing.assert_close(result, expected, atol=1e-5, rtol=0)


def test_gray(images: Tensor) -> None:
    torch.testing.assert_close(ops.gray(images), F1.rgb_to_grayscale(images), atol=1e-6, rtol=0)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(("down", "right"), [(0, 0), (-4, 4), (4, -4), (3, 1), (-1, -2)])
def test_shift_and_flip(images: Tensor, down: int, right: int, flip: bool) -> None:
    """Exact: pixels are moved, and none is mixed with another. The place of the control shows another picture."""
    box = torch.tensor([[down, right, SIZE, SIZE]] * N, dtype=torch.float32)
    ours = ops.shift_and_flip(images, box, torch.full((N,), flip))
    for functional in (F1, F2):
        theirs = functional.crop(functional.pad(images, [4]), down + 4, right + 4, SIZE, SIZE)
        assert torch.equal(ours, functional.hflip(theirs) if flip else theirs)
    other = ops.shift_and_flip(images, box + torch.tensor([0.0, 1, 0, 0]), torch.full((N,), flip))
    assert not torch.equal(ours, other)


def test_each_image_has_its_own_shift_and_flip(images: Tensor) -> None:
    corners = torch.randint(-3, 4, (N, 2), generator=torch.Generator().manual_seed(0))
    box = torch.cat([corners, torch.full((N, 2), SIZE)], dim=1).float()
    flip = torch.arange(N) % 2 == 0
    together = ops.shift_and_flip(images, box, flip)
    for i, (top, left) in enumerate((corners + 3).tolist()):
        one = F1.crop(F1.pad(images[i], [3]), top, left, SIZE, SIZE)
        assert torch.equal(together[i], F1.hflip(one) if flip[i] else one)


@pytest.mark.parametrize("width", [1, 3, 9, 23, 31])
def test_blur(images: Tensor, width: int) -> None:
    """Each image with its own deviation. Half of 31 pixels is all that 16 can mirror."""
    sigma = torch.linspace(0.1, 4.0, N)
    ours = ops.blur(images, sigma, width)
    for functional in (F1, F2):
        theirs = [functional.gaussian_blur(images[i], [width] * 2, [sigma[i].item()] * 2) for i in range(N)]
        torch.testing.assert_close(ours, torch.stack(theirs), atol=1e-5, rtol=0)
    assert ((ours - images).abs().amax() > 0.1) == (width > 1)


def test_a_blur_of_deviation_zero_leaves_the_image(images: Tensor) -> None:
    assert torch.equal(ops.blur(images, torch.zeros(N), 9), images)
    some = torch.arange(N) % 2
    assert torch.equal(ops.blur(images, some.float(), 9)[some == 0], images[some == 0])


def test_solarize(images: Tensor) -> None:
    images[5] = 0.5
    for functional in (F1, F2):
        assert torch.equal(ops.solarize(images), functional.solarize(images, 0.5))
