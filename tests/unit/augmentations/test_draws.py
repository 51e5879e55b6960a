"""What is random about a view: torchvision's distributions, drawn by settings, seed, epoch and the image's number."""

import math
from itertools import pairwise
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
EVERY = [
    Views(),
    ALL,
    Views(
        crop_padding=3,
        jitter_coins="shared",
        jitter_order="random",
        flip=0.3,
        contrast=0.1,
        saturation=0.9,
    ),
    Views(
        crop_scale=(0.05, 1.0),
        brightness=1.5,
        hue=0,
        jitter_probability=0.3,
        blur=0.7,
        blur_sigma=(0.5, 0.5),
    ),
    Views(
        crop_scale=(1.0, 1.0),
        jitter_coins="shared",
        jitter_probability=1,
        solarize=1.0,
        grayscale=0.9,
    ),
    Views(blur=0.7, blur_kernel=5),
    Views(side=4, normalisation={"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}),  # type: ignore[arg-type]
]
PAIRS = [[views, other] for views, other in pairwise([*EVERY, EVERY[0]])]


@pytest.mark.parametrize("scale", [(0.2, 1.0), (0.08, 0.3), (1.0, 1.0)])
def test_boxes_are_distributed_as_torchvisions(scale: tuple[float, float]) -> None:
    """Two-sample Kolmogorov-Smirnov against RandomResizedCrop.get_params, on heights, widths, areas and corners."""
    box = draw([Views(crop_scale=scale)] * 2, N, SIZE, seed=0, epoch=0).box.reshape(-1, 4).numpy()
    torch.manual_seed(0)
    image = torch.zeros(3, SIZE, SIZE)
    theirs = np.array(
        [RandomResizedCrop.get_params(image, list(scale), [3 / 4, 4 / 3]) for _ in range(N)]
    )
    for ours, reference in zip(box.T, theirs.T, strict=True):
        assert scipy.stats.ks_2samp(ours, reference).pvalue > 0.01
    assert scipy.stats.ks_2samp(box[:, 2] * box[:, 3], theirs[:, 2] * theirs[:, 3]).pvalue > 0.01


def test_a_blur_wider_than_the_mirrored_image_is_refused(refused: Any) -> None:
    """Padding by reflection needs half a window below the image's size: 7 pixels for 15, 8 for 17."""
    wide = Views(blur=0.1, blur_kernel=17)
    for branches in ([wide], [Views(), wide]):
        with refused("views", "blur_kernel"):
            draw(branches, 5, 8, 0, 0)
    assert draw([Views(blur=0.1, blur_kernel=15)], 5, 8, 0, 0).sigma.shape == (5, 1)
    assert (draw([Views()], 5, 1, 0, 0).sigma == 0).all()


def box_by_hand(views: Views, size: int, tries: np.ndarray, place: np.ndarray) -> list[float]:
    """One crop, with Python's numbers."""
    if views.crop_padding is not None:
        return [
            math.floor(p * (2 * views.crop_padding + 1)) - views.crop_padding for p in place
        ] + [size, size]
    height = width = size
    for area, aspect in tries:
        pixels = size**2 * (
            views.crop_scale[0] + area * (views.crop_scale[1] - views.crop_scale[0])
        )
        ratio = math.exp(math.log(3 / 4) + aspect * (math.log(4 / 3) - math.log(3 / 4)))
        sides = round(math.sqrt(pixels / ratio)), round(math.sqrt(pixels * ratio))
        if min(sides) >= 1 and max(sides) <= size:
            height, width = sides
            break
    return [
        math.floor(place[0] * (size - height + 1)),
        math.floor(place[1] * (size - width + 1)),
        height,
        width,
    ]


@pytest.mark.parametrize(
    ("branches", "size"),
    [*((pair, SIZE) for pair in PAIRS), ([ALL], SIZE), (PAIRS[3], 8), (PAIRS[3], 33)],
)
def test_draws_are_these_functions_of_the_keyed_words(branches: list[Views], size: int) -> None:
    """So the bytes of runs made before are pinned: computed again from ``prng.uniform`` alone, whatever the other view.

    No transform's words or settings change another's draws: each field has two values in ``EVERY``.
    """
    assert all(len({getattr(one, name) for one in EVERY}) > 1 for name in Views.model_fields)
    n, seed, epoch = 40, 7, 2
    draws = draw(branches, n, size, seed, epoch)
    for v, views in enumerate(branches):
        drawn = Draws(*(part[:, v].numpy() for part in draws))

        def words(purpose: str, *more: int, v: int = v) -> np.ndarray:
            return prng.uniform((n, 2, *more), seed, purpose, epoch)[:, v]

        def between(
            name: str, low: float, high: float, off: float, share: float, coin: str = ""
        ) -> list[float]:
            value, own = words(name, 2).T
            applies = (words(coin) if coin else own) < share
            return np.where(applies, low + value * (high - low), off).astype(np.float32).tolist()

        coin = "jitter" if views.jitter_coins == "shared" else ""
        ranges = {"hue": (-views.hue, views.hue, 0.0)}
        for name in ("brightness", "contrast", "saturation"):
            ranges[name] = (max(0.0, 1 - getattr(views, name)), 1 + getattr(views, name), 1.0)
        for name, limits in ranges.items():
            expected = between(name, *limits, views.jitter_probability, coin)
            assert getattr(drawn, name).tolist() == expected, name
        assert drawn.sigma.tolist() == between("blur", *views.blur_sigma, 0.0, views.blur)
        for name, share in {
            "flip": views.flip,
            "gray": views.grayscale,
            "solarize": views.solarize,
        }.items():
            assert getattr(drawn, name).tolist() == (words(name) < share).tolist(), name
        tries, place = words("crop", 10, 2), words("place", 2)
        assert drawn.box.tolist() == [
            box_by_hand(views, size, tries[i], place[i]) for i in range(n)
        ]
        for keys, order in zip(words("jitter order", 4), drawn.order.tolist(), strict=True):
            assert order == (
                sorted(range(4), key=keys.__getitem__)
                if views.jitter_order == "random"
                else [0, 1, 2, 3]
            )


def test_take_is_by_the_images_number_and_images_at_the_end_change_no_earlier_draw() -> None:
    draws, more = draw([ALL] * 2, 20, SIZE, 0, 0), draw([ALL] * 2, 80, SIZE, 0, 0)
    assert all(map(torch.equal, draws, more.take(torch.arange(20))))
    for whole, part in zip(draws, draws.take(torch.tensor([13, 2, 2])), strict=True):
        assert [row.tolist() for row in part] == [whole[i].tolist() for i in (13, 2, 2)]
