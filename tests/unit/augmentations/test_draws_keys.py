"""What a view's draws depend on: its own settings, the seed, the epoch, the image's number, and nothing else."""

import math

import numpy as np
import pytest
import torch

from hypersphere import prng
from hypersphere.augmentations.draws import Draws, draw
from hypersphere.config.recipe import Views

SIZE = 32
ALL = Views(jitter_order="random", blur=0.5, solarize=0.2)
"""With every transform on."""
OFF = Views(flip=0, brightness=0, contrast=0, saturation=0, hue=0, grayscale=0)
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


def test_each_transform_has_a_purpose_and_what_is_off_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop orders images by the purpose "order", which no transform may share."""
    asked: list[str] = []
    real = prng.uniform

    def record(shape: tuple[int, ...], seed: int, *key: str | int) -> np.ndarray:
        asked.append(str(key[0]))
        return real(shape, seed, *key)

    monkeypatch.setattr(prng, "uniform", record)

    def purposes(views: Views) -> list[str]:
        asked.clear()
        draw([views] * 2, 5, SIZE, 0, 0)
        return sorted(asked)

    assert purposes(OFF) == ["crop", "place"]
    assert purposes(OFF.model_copy(update={"crop_padding": 2})) == ["place"]
    assert purposes(Views(jitter_probability=0, jitter_coins="shared")) == ["crop", "flip", "gray", "place"]
    each = {"blur", "crop", "flip", "gray", "jitter order", "place", "solarize", *JITTERS}
    assert purposes(ALL) == sorted(each)
    assert purposes(ALL.model_copy(update={"jitter_coins": "shared"})) == sorted([*each, "jitter"])


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


def test_seed_and_epoch_change_everything_and_nothing_else_does() -> None:
    first = draw([ALL] * 2, 200, SIZE, seed=0, epoch=3)
    for epoch in range(3):
        draw([ALL] * 2, 200, SIZE, seed=0, epoch=epoch)
    torch.manual_seed(1)
    np.random.seed(1)
    assert same(first, draw([ALL] * 2, 200, SIZE, seed=0, epoch=3)) == set(Draws._fields)
    assert not same(first, draw([ALL] * 2, 200, SIZE, seed=0, epoch=4))
    assert not same(first, draw([ALL] * 2, 200, SIZE, seed=1, epoch=3))


def test_images_added_at_the_end_change_no_earlier_draw() -> None:
    small, large = draw([ALL] * 2, 50, SIZE, 0, 0), draw([ALL] * 2, 80, SIZE, 0, 0)
    assert same(small, large.take(torch.arange(50))) == set(Draws._fields)


def test_take_is_by_the_images_number() -> None:
    draws = draw([ALL] * 2, 20, SIZE, 0, 0)
    index = torch.tensor([13, 2, 2])
    for whole, part in zip(draws, draws.take(index), strict=True):
        assert [row.tolist() for row in part] == [whole[i].tolist() for i in (13, 2, 2)]
