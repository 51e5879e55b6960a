"""Every operation against torchvision's at equal parameters, image by image."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as F1
import torchvision.transforms.v2.functional as F2
from torch import Tensor
from torchvision.transforms import InterpolationMode

from hypersphere.recipe import Views
from hypersphere.views import ops
from hypersphere.views.draws import Draws, draw

N, SIZE = 12, 16


@pytest.fixture
def raw() -> Tensor:
    """Bytes, with a black, a white and a grey image among them (hue and saturation have corners there)."""
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (N, SIZE, SIZE, 3), dtype=np.uint8))
    images[0], images[1], images[2] = 0, 255, 77
    images[3, :, :, 1:] = 0  # pure red
    return images


@pytest.fixture
def images(raw: Tensor) -> Tensor:
    return ops.to_float(raw)


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


def test_antialiasing_would_change_nothing(images: Tensor) -> None:
    theirs = [F2.resized_crop(images, 3, 5, 7, 9, [SIZE, SIZE], antialias=a) for a in (True, False)]
    torch.testing.assert_close(theirs[0], theirs[1], atol=1e-6, rtol=0)


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


@pytest.mark.parametrize(("ours", "name", "factors"), PAIRS, ids=[name for _, name, _ in PAIRS])
def test_each_image_has_its_own_factor(
    images: Tensor, ours: Callable[..., Tensor], name: str, factors: list[float]
) -> None:
    factor = torch.linspace(-0.4, 0.4, N) if name == "adjust_hue" else torch.linspace(0.2, 1.8, N)
    together = ours(images, factor)
    for i in range(N):
        torch.testing.assert_close(together[i], getattr(F1, name)(images[i], factor[i].item()), atol=1e-5, rtol=0)


def test_gray(images: Tensor) -> None:
    torch.testing.assert_close(ops.gray(images), F1.rgb_to_grayscale(images), atol=1e-6, rtol=0)


def test_a_view_is_crop_flip_brightness_contrast_saturation_hue_gray_in_this_order(raw: Tensor, images: Tensor) -> None:
    views = Views(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2, grayscale=0.4)
    draws = draw([views] * 2, N, SIZE, seed=3, epoch=1)
    ours = ops.make_views(raw, draws, [views] * 2)
    assert ours.shape == (2, N, 3, SIZE, SIZE)
    for v in range(2):
        for i in range(N):
            top, left, height, width = draws.box[i, v].int().tolist()
            one = F1.resized_crop(images[i], top, left, height, width, [SIZE, SIZE], antialias=False)
            one = F1.hflip(one) if draws.flip[i, v] else one
            one = F1.adjust_brightness(one, draws.brightness[i, v].item())
            one = F1.adjust_contrast(one, draws.contrast[i, v].item())
            one = F1.adjust_saturation(one, draws.saturation[i, v].item())
            one = F1.adjust_hue(one, draws.hue[i, v].item())
            one = F1.rgb_to_grayscale(one, 3) if draws.gray[i, v] else one
            torch.testing.assert_close(ours[v, i], one, atol=1e-4, rtol=0)


OFF = {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0, "grayscale": 0.0}


@pytest.mark.parametrize("name", ["brightness", "contrast", "saturation", "grayscale"])
def test_skipping_an_operation_of_strength_zero_changes_no_byte(raw: Tensor, name: str) -> None:
    """A strength too small to move a float32 factor from 1 makes the operation run, at its identity."""
    skipped = Views(**OFF)
    draws = draw([skipped] * 2, N, SIZE, seed=0, epoch=0)
    forced = skipped.model_copy(update={name: 1e-30})
    assert torch.equal(ops.make_views(raw, draws, [skipped] * 2), ops.make_views(raw, draws, [forced] * 2))


def test_a_hue_shift_of_zero_changes_no_colour_by_a_visible_step(raw: Tensor) -> None:
    skipped = Views(**OFF)
    draws = draw([skipped] * 2, N, SIZE, seed=0, epoch=0)
    forced = skipped.model_copy(update={"hue": 1e-30})
    difference = ops.make_views(raw, draws, [skipped] * 2) - ops.make_views(raw, draws, [forced] * 2)
    assert difference.abs().max() < 1e-6


def test_jitter_probability_zero_and_no_crop_leave_the_image(raw: Tensor, images: Tensor) -> None:
    views = Views(crop_scale=(1.0, 1.0), flip=0.0, jitter_probability=0.0, grayscale=0.0, hue=0.0)
    draws = draw([views] * 2, N, SIZE, seed=0, epoch=0)
    whole = draws._replace(box=torch.tensor([0.0, 0.0, SIZE, SIZE]).expand(N, 2, 4))
    for view in ops.make_views(raw, whole, [views] * 2):
        torch.testing.assert_close(view, images, atol=1e-5, rtol=0)


def test_an_image_gets_the_same_views_in_any_batch(raw: Tensor) -> None:
    """A crop uses this image's box alone; contrast uses this image's mean alone."""
    views = Views()
    draws = draw([views] * 2, N, SIZE, seed=0, epoch=0)
    whole = ops.make_views(raw, draws, [views] * 2)
    index = torch.tensor([7, 2, 11])
    assert torch.equal(ops.make_views(raw[index], draws.take(index), [views] * 2), whole[:, index])


def test_two_views_of_an_image_differ(raw: Tensor) -> None:
    views = Views()
    first, second = ops.make_views(raw, draw([views] * 2, N, SIZE, seed=0, epoch=0), [views] * 2)
    different = (first - second).abs().amax(dim=(1, 2, 3)) > 1e-3
    assert different[2:].all()


def test_hue_keeps_value_and_chroma(images: Tensor) -> None:
    """By definition of HSV: largest channel and spread do not turn."""
    turned = ops.hue(images, torch.full((N,), 0.3))
    torch.testing.assert_close(turned.amax(1), images.amax(1), atol=1e-6, rtol=0)
    torch.testing.assert_close(turned.amin(1), images.amin(1), atol=1e-6, rtol=0)


def test_hue_of_a_third_of_a_turn_rotates_the_channels(images: Tensor) -> None:
    """By hand: red becomes green, green blue, blue red."""
    third = ops.hue(images, torch.full((N,), 1 / 3))
    torch.testing.assert_close(third, images[:, [2, 0, 1]], atol=1e-5, rtol=0)


def test_draws_have_one_entry_per_image_and_view() -> None:
    draws = draw([Views()] * 2, 5, SIZE, seed=0, epoch=0)
    assert isinstance(draws, Draws)
    assert {part.shape[:2] for part in draws} == {(5, 2)}
