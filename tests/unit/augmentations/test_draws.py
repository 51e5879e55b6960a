"""What is random about a view: torchvision's distributions, drawn by settings, seed, epoch and the image's number."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from torchvision.transforms import RandomResizedCrop

from hypersphere import prng
from hypersphere.augmentations.draws import Draws, draw
from hypersphere.config.recipe import Views

N, SIZE = 2000, 32
ALL = Views(jitter_order="random", blur=0.5, solarize=0.2)
"""With every transform on."""


@pytest.mark.parametrize("scale", [(0.2, 1.0), (0.08, 0.3), (1.0, 1.0)])
def test_boxes_are_distributed_as_torchvisions(scale: tuple[float, float]) -> None:
    """Two-sample Kolmogorov-Smirnov against RandomResizedCrop.get_params, on heights, widths, areas and corners."""
    box = draw([Views(crop_scale=scale)] * 2, N, SIZE, seed=0, epoch=0).box.reshape(-1, 4).numpy()
    torch.manual_seed(0)
    image = torch.zeros(3, SIZE, SIZE)
    theirs = np.array([RandomResizedCrop.get_params(image, list(scale), [3 / 4, 4 / 3]) for _ in range(N)])
    for ours, reference in zip(box.T, theirs.T, strict=True):
        assert scipy.stats.ks_2samp(ours, reference).pvalue > 0.01
    assert scipy.stats.ks_2samp(box[:, 2] * box[:, 3], theirs[:, 2] * theirs[:, 3]).pvalue > 0.01


@pytest.mark.parametrize("size", [8, 12, 33])
def test_boxes_stay_inside_images_of_any_size(size: int) -> None:
    top, left, height, width = draw([Views(crop_scale=(0.01, 1.0))] * 2, 500, size, 0, 0).box.unbind(-1)
    assert max((top + height).max(), (left + width).max()) <= size
    assert min(top.min(), left.min()) >= 0
    assert min(height.min(), width.min()) >= 1


def test_purposes_are_uncorrelated() -> None:
    views = ALL.model_copy(update={"jitter_probability": 1.0, "blur": 1.0})
    draws = draw([views] * 2, N, SIZE, 0, 0)
    columns = [*draws.box.unbind(-1), *draws.order.unbind(-1), *(part for part in draws if part.ndim == 2)]
    matrix = np.corrcoef([column.double().flatten().numpy() for column in columns])
    # a box's corner and sides depend on each other, and so do the places of an order; nothing else does
    matrix[:4, :4] = matrix[4:8, 4:8] = 0
    np.fill_diagonal(matrix, 0)
    assert len(matrix) == 16
    assert np.abs(matrix).max() < 4 / (2 * N) ** 0.5


def test_a_blur_wider_than_the_mirrored_image_is_refused(refused: Any) -> None:
    """Padding by reflection needs half a window below the image's size: 7 pixels for 15, 8 for 17."""
    wide = Views(blur=0.1, blur_kernel=17)
    for branches in ([wide], [Views(), wide]):
        with refused():
            draw(branches, 5, 8, 0, 0)
    assert draw([Views(blur=0.1, blur_kernel=15)], 5, 8, 0, 0).sigma.shape == (5, 1)
    assert (draw([Views()], 5, 1, 0, 0).sigma == 0).all()


JITTERS = {"brightness", "contrast", "saturation", "hue"}


def same(a: Draws, b: Draws) -> set[str]:
    """The parts that are equal to the byte."""
    return {name for name, x, y in zip(a._fields, a, b, strict=True) if torch.equal(x, y)}


CHANGES: dict[str, tuple[object, set[str]]] = {
    "crop_scale": ((0.5, 0.9), {"box"}),
    "crop_padding": (4, {"box"}),
    "flip": (0.1, {"flip"}),
    "brightness": (0.7, {"brightness"}),
    "contrast": (0.7, {"contrast"}),
    "saturation": (0.7, {"saturation"}),
    "hue": (0.3, {"hue"}),
    "jitter_probability": (0.5, JITTERS),
    "jitter_coins": ("shared", JITTERS),
    "jitter_order": ("fixed", {"order"}),
    "grayscale": (0.7, {"gray"}),
    "blur": (0.8, {"sigma"}),
    "blur_kernel": (5, set()),
    "blur_sigma": ((0.5, 1.0), {"sigma"}),
    "solarize": (0.7, {"solarize"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changing_one_transform_changes_no_byte_of_another(name: str) -> None:
    value, parts = CHANGES[name]
    changed = ALL.model_copy(update={name: value})
    a, b = draw([ALL] * 2, 200, SIZE, 0, 0), draw([changed] * 2, 200, SIZE, 0, 0)
    assert same(a, b) == set(Draws._fields) - parts
    assert set(CHANGES) == set(Views.model_fields)


EVERY = [
    Views(),
    ALL,
    Views(crop_padding=3, jitter_coins="shared", jitter_order="random", flip=0.3),
    Views(crop_scale=(0.05, 1.0), brightness=1.5, hue=0, jitter_probability=0.3, blur=0.7, blur_sigma=(0.5, 0.5)),
    Views(crop_scale=(1.0, 1.0), jitter_coins="shared", jitter_probability=1, solarize=1.0, grayscale=0.9),
]


def box_by_hand(views: Views, tries: np.ndarray, place: np.ndarray) -> list[float]:
    """One crop, with Python's numbers."""
    if views.crop_padding is not None:
        return [math.floor(p * (2 * views.crop_padding + 1)) - views.crop_padding for p in place] + [SIZE, SIZE]
    height = width = SIZE
    for area, aspect in tries:
        pixels = SIZE**2 * (views.crop_scale[0] + area * (views.crop_scale[1] - views.crop_scale[0]))
        ratio = math.exp(math.log(3 / 4) + aspect * (math.log(4 / 3) - math.log(3 / 4)))
        sides = round(math.sqrt(pixels / ratio)), round(math.sqrt(pixels * ratio))
        if min(sides) >= 1 and max(sides) <= SIZE:
            height, width = sides
            break
    return [math.floor(place[0] * (SIZE - height + 1)), math.floor(place[1] * (SIZE - width + 1)), height, width]


@pytest.mark.parametrize("views", EVERY)
def test_draws_are_these_functions_of_the_keyed_words(views: Views) -> None:
    """So the bytes of runs made before are pinned: computed again from ``prng.uniform`` alone."""
    n, seed, epoch = 40, 7, 2
    draws = draw([views] * 2, n, SIZE, seed, epoch)

    def words(purpose: str, *more: int) -> np.ndarray:
        return prng.uniform((n, 2, *more), seed, purpose, epoch)

    def between(purpose: str, low: float, high: float, probability: float, off: float, coin: str = "") -> bytes:
        value, own = words(purpose, 2)[..., 0], words(purpose, 2)[..., 1]
        applies = (words(coin) if coin else own) < probability
        return np.where(applies, low + value * (high - low), off).astype(np.float32).tobytes()

    tries, place = words("crop", 10, 2), words("place", 2)
    boxes = [[box_by_hand(views, tries[i, v], place[i, v]) for v in range(2)] for i in range(n)]
    assert draws.box.tolist() == boxes
    shared = "jitter" if views.jitter_coins == "shared" else ""
    ranges = {name: (max(0.0, 1 - getattr(views, name)), 1 + getattr(views, name), 1.0) for name in JITTERS}
    ranges["hue"] = (-views.hue, views.hue, 0.0)
    for name, (low, high, off) in ranges.items():
        expected = between(name, low, high, views.jitter_probability, off, shared)
        assert getattr(draws, name).numpy().tobytes() == expected, name
    assert draws.sigma.numpy().tobytes() == between("blur", *views.blur_sigma, views.blur, 0)
    for name, probability in {"flip": views.flip, "gray": views.grayscale, "solarize": views.solarize}.items():
        assert getattr(draws, name).tolist() == (words(name) < probability).tolist(), name
    for keys, order in zip(words("jitter order", 4).reshape(-1, 4), draws.order.reshape(-1, 4).tolist(), strict=True):
        assert order == (sorted(range(4), key=keys.__getitem__) if views.jitter_order == "random" else [0, 1, 2, 3])


def column(draws: Draws, v: int) -> Draws:
    return Draws(*(part[:, v] for part in draws))


@pytest.mark.parametrize("other", [views for views in EVERY if views != ALL])
def test_a_view_is_drawn_the_same_beside_any_other_and_alone(other: Views) -> None:
    """With the control that the other view, drawn in its place, is another."""
    alone = column(draw([ALL], 100, SIZE, 0, 0), 0)
    assert same(alone, column(draw([ALL, other], 100, SIZE, 0, 0), 0)) == set(Draws._fields)
    second = column(draw([ALL, ALL], 100, SIZE, 0, 0), 1)
    assert same(second, column(draw([other, ALL], 100, SIZE, 0, 0), 1)) == set(Draws._fields)
    assert same(alone, column(draw([other, ALL], 100, SIZE, 0, 0), 0)) != set(Draws._fields)


def test_take_is_by_the_images_number_and_images_at_the_end_change_no_earlier_draw() -> None:
    draws, more = draw([ALL] * 2, 20, SIZE, 0, 0), draw([ALL] * 2, 80, SIZE, 0, 0)
    assert same(draws, more.take(torch.arange(20))) == set(Draws._fields)
    for whole, part in zip(draws, draws.take(torch.tensor([13, 2, 2])), strict=True):
        assert [row.tolist() for row in part] == [whole[i].tolist() for i in (13, 2, 2)]
