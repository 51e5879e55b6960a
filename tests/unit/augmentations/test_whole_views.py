"""Whole views, image by image, against torchvision's functions in the order that ``recipe.Views`` lists."""

from collections.abc import Callable
from itertools import permutations

import pytest
import torch
import torchvision.transforms.functional as F1
from torch import Tensor

from hypersphere.augmentations import ops
from hypersphere.augmentations.draws import Draws, draw
from hypersphere.config.recipe import Views

N, SIZE = 24, 16
STRONG = Views(
    brightness=0.8,
    contrast=0.8,
    saturation=0.8,
    hue=0.2,
    jitter_coins="shared",
    jitter_order="random",
    grayscale=0.3,
    blur=0.5,
    blur_kernel=5,
    solarize=0.4,
)
WEAK = Views(crop_padding=4, brightness=0, contrast=0, saturation=0, hue=0, grayscale=0)


@pytest.fixture
def images(raw: Tensor) -> Tensor:
    return ops.to_float(raw)


JITTERS: dict[str, Callable[..., Tensor]] = {
    "brightness": F1.adjust_brightness,
    "contrast": F1.adjust_contrast,
    "saturation": F1.adjust_saturation,
    "hue": F1.adjust_hue,
}


def by_torchvision(image: Tensor, draws: Draws, views: Views) -> Tensor:
    """One view of one image; ``draws`` are its own."""
    top, left, height, width = draws.box.int().tolist()
    if views.crop_padding is None:
        image = F1.resized_crop(image, top, left, height, width, [SIZE, SIZE], antialias=False)
    else:
        p = views.crop_padding
        image = F1.crop(F1.pad(image, [p]), top + p, left + p, SIZE, SIZE)
    image = F1.hflip(image) if draws.flip else image
    for k in draws.order.tolist():
        name = list(JITTERS)[k]
        image = JITTERS[name](image, getattr(draws, name).item())
    image = F1.rgb_to_grayscale(image, 3) if draws.gray else image
    if draws.sigma:
        image = F1.gaussian_blur(image, [views.blur_kernel] * 2, [draws.sigma.item()] * 2)
    return F1.solarize(image, 0.5) if draws.solarize else image


def expected(images: Tensor, draws: Draws, branches: list[Views]) -> Tensor:
    """All views of all images."""
    n = len(images)
    views = [
        torch.stack([by_torchvision(images[i], Draws(*(part[i, v] for part in draws)), one) for i in range(n)])
        for v, one in enumerate(branches)
    ]
    return torch.stack(views)


BRANCHES = {
    "default": [Views(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2, grayscale=0.4)] * 2,
    "strong": [STRONG] * 2,
    "weak and strong": [WEAK, STRONG],
    "strong and weak": [STRONG, WEAK],
    "alone": [STRONG],
    "all on a shift": [STRONG.model_copy(update={"crop_padding": 3})] * 2,
    "fixed order": [STRONG.model_copy(update={"jitter_order": "fixed"}), WEAK],
    "two jitters, any order": [STRONG.model_copy(update={"hue": 0.0, "brightness": 0.0})] * 2,
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_view_is_crop_flip_jitter_gray_blur_solarize_in_this_order(raw: Tensor, images: Tensor, name: str) -> None:
    """Each branch as it says; drawn otherwise, it would be told apart."""
    branches = BRANCHES[name]
    draws = draw(branches, N, SIZE, seed=3, epoch=1)
    ours = ops.make_views(raw, draws, branches)
    assert ours.shape == (len(branches), N, 3, SIZE, SIZE)
    torch.testing.assert_close(ours, expected(images, draws, branches), atol=1e-4, rtol=0)
    other = expected(images, draw(branches, N, SIZE, seed=4, epoch=1), branches)
    assert ((ours - other).abs().amax(dim=(0, 2, 3, 4)) > 0.1)[3:].all()


def test_the_order_of_transforms_can_be_seen(raw: Tensor, images: Tensor) -> None:
    """The control of the test above: jitters in the reverse order, on the same draws, miss its bound a hundredfold."""
    draws = draw([STRONG], N, SIZE, seed=3, epoch=1)
    ours = ops.make_views(raw, draws, [STRONG])
    reverse = expected(images, draws._replace(order=draws.order.flip(-1)), [STRONG])
    assert (ours - reverse).abs().max() > 1e-2


def test_every_order_of_jitters_is_those_jitters_one_after_another(images: Tensor) -> None:
    """Image by image: ours to the byte, torchvision's to 1e-5. All images in one order leave other groups empty."""
    branch = STRONG.model_copy(update={"jitter_probability": 1.0})
    draws = Draws(*(part[:, 0] for part in draw([branch], N, SIZE, seed=0, epoch=0)))
    each = torch.tensor(list(permutations(range(4))))
    for order in (each, each[[7] * N]):
        together = ops.jitter(images, draws._replace(order=order), branch)
        for i in range(N):
            one = by_hand = images[i : i + 1]
            for k in order[i].tolist():
                name = list(JITTERS)[k]
                factor = getattr(draws, name)[i : i + 1]
                one, by_hand = getattr(ops, name)(one, factor), JITTERS[name](by_hand, factor.item())
            assert torch.equal(together[i : i + 1], one)
            torch.testing.assert_close(one, by_hand, atol=1e-5, rtol=0)


def test_what_is_off_is_not_computed(raw: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same branch with any one of them on, and drawn with it, is stopped by it."""
    off = WEAK.model_copy(update={"jitter_probability": 0.5, "jitter_order": "random"})
    on: dict[str, dict[str, object]] = {name: {name: 0.4} for name in (*JITTERS, "blur", "solarize")}
    on |= {"gray": {"grayscale": 0.4}, "crop_and_flip": {"crop_padding": None}}
    draws = draw([off], N, SIZE, seed=0, epoch=0)

    def refuse(*given: object) -> Tensor:
        raise AssertionError("called")

    for name in on:
        monkeypatch.setattr(ops, name, refuse)
    for branch in (off, off.model_copy(update={"hue": 0.4, "jitter_probability": 0.0})):
        assert ops.make_views(raw, draws, [branch]).shape == (1, N, 3, SIZE, SIZE)
    for change in on.values():
        branch = off.model_copy(update=change)
        of_branch = draw([branch], N, SIZE, seed=0, epoch=0)
        with pytest.raises(AssertionError, match="called"):
            ops.make_views(raw, of_branch, [branch])


def test_jitter_probability_zero_and_no_crop_leave_the_image(raw: Tensor, images: Tensor) -> None:
    views = Views(crop_scale=(1.0, 1.0), flip=0.0, jitter_probability=0.0, grayscale=0.0, hue=0.0)
    draws = draw([views] * 2, N, SIZE, seed=0, epoch=0)
    whole = draws._replace(box=torch.tensor([0.0, 0.0, SIZE, SIZE]).expand(N, 2, 4))
    for view in ops.make_views(raw, whole, [views] * 2):
        torch.testing.assert_close(view, images, atol=1e-5, rtol=0)


@pytest.mark.parametrize("views", [Views(), STRONG])
def test_an_image_gets_the_same_views_in_any_batch(raw: Tensor, views: Views) -> None:
    """A crop uses this image's box alone; contrast uses this image's mean alone."""
    draws = draw([views] * 2, N, SIZE, seed=0, epoch=0)
    whole = ops.make_views(raw, draws, [views] * 2)
    index = torch.tensor([7, 2, 11])
    assert torch.equal(ops.make_views(raw[index], draws.take(index), [views] * 2), whole[:, index])


@pytest.mark.parametrize("branches", [[STRONG] * 2, [Views()] * 2, [WEAK, STRONG]])
@pytest.mark.parametrize("images_in_chunk", [0, 1, 5, 30])
def test_chunks_change_no_byte(
    raw: Tensor, branches: list[Views], images_in_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the control that there are several chunks: each image is converted once, in as many calls as chunks."""
    draws = draw(branches, N, SIZE, seed=0, epoch=0)
    whole = ops.make_views(raw, draws, branches)
    calls: list[int] = []

    def to_float(images: Tensor) -> Tensor:
        calls.append(len(images))
        return convert(images)

    convert = ops.to_float
    monkeypatch.setattr(ops, "to_float", to_float)
    monkeypatch.setattr(ops, "CHUNK_BYTES", images_in_chunk * 3 * SIZE**2 * 4)
    assert torch.equal(ops.make_views(raw, draws, branches), whole)
    assert sum(calls) == 2 * N
    assert max(calls) <= max(1, images_in_chunk)
    assert len(calls) > len(set(branches)) or images_in_chunk > N
