"""Handwritten digits made harder: scans on a larger canvas, shifted, among fragments of other digits.

scikit-learn's 1,797 scans (8 × 8, 0 … 16) come with the library, so the quick scale downloads nothing. The plain scans
are too easy (kNN on raw pixels: 97 %); the composed images are not. The scans are divided into train and test before
images are composed, so train and test images share no stroke.
"""

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from hypersphere import prng
from hypersphere.arguments import Fraction, NonNegativeInt, PositiveInt
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

SIDE = 8  # of a scan, pixels
BRIGHTEST = 16  # a scan's largest value
FRAGMENT = 4  # side of a piece of clutter, pixels
FRAGMENT_INK = 0.5  # brightness of clutter relative to the digit, which stays the brightest
TRAIN_SHARE = 2 / 3

# Task "turned": digits that no quarter turn maps to themselves or to each other (a 6 turned by 180° is a 9, so no 9).
TURNED = (3, 4, 6, 7)

ABOUT = {
    "source": "scikit-learn's load_digits (UCI Optical Recognition of Handwritten Digits, test part), recomposed",
    "licence": "CC BY 4.0",
    "citation": "E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning "
    "Repository, 1998",
}


def digits(
    root: Path,
    download: bool = True,
    *,
    task: Literal["upright", "turned"] = "upright",
    canvas: PositiveInt = 12,
    shift: NonNegativeInt = 2,
    clutter: NonNegativeInt = 1,
    noise: Fraction = 0.1,
    colours: Fraction = 0.0,
    train_per_class: PositiveInt = 240,
    test_per_class: PositiveInt = 100,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Images of one digit: ten upright classes, or sixteen of four digits each turned by 0, 90, 180 or 270 degrees.

    Args:
        canvas: side of an image, pixels.
        shift: largest distance of a digit from the centre, pixels along each axis; it stays within the canvas.
        clutter: number of half-bright 4 × 4 fragments of scans of the same split, anywhere on the canvas.
        noise: uniform noise in ± this share of full brightness, independent for each pixel.
        colours: each image has its own ink and paper. Red, green and blue of the ink are drawn from [1 - colours, 1],
            those of the paper from [0, colours]; at 0 all images are white on black. Colours say nothing about the
            class, so that neighbours among raw pixels are often neighbours in colour alone.
        train_per_class: training images per class (scans are reused at other places and with other clutter).
        test_per_class: test images per class.
        seed: of the division of the scans and of all draws.
    """
    if canvas < SIDE:
        raise HypersphereError(
            f"digits: canvas: must be at least {SIDE}, the side of a scan (given: {canvas})"
        )
    values = range(10) if task == "upright" else TURNED
    quarters = range(1) if task == "upright" else range(4)
    classes = list(product(values, quarters))
    names = [
        f"{digit} turned by {90 * quarter}" if quarter else str(digit) for digit, quarter in classes
    ]
    scans, known = load()
    train, test = split(known, seed)
    splits = {}
    for part, numbers, per_class in (
        (TRAIN, train, train_per_class),
        (TEST, test, test_per_class),
    ):
        pixels = scans[numbers]
        key = (seed, "digits", part)
        labels = np.repeat(np.arange(len(classes), dtype=np.int64), per_class)
        light = np.zeros((len(labels), canvas, canvas))
        shown = _dealt(pixels, known[numbers], classes, per_class, key)
        home = (canvas - SIDE) // 2
        low = max(home - shift, 0)
        high = min(home + shift, canvas - SIDE)
        draws = prng.uniform((len(labels), 2), *key, "shift")
        _paste(light, shown, low + (draws * (high - low + 1)).astype(np.int64))
        windows = np.lib.stride_tricks.sliding_window_view(
            pixels, (FRAGMENT, FRAGMENT), axis=(1, 2)
        )
        # of the number of a scan, of a fragment's corner in it, and of its corner on the canvas
        within, beyond = SIDE - FRAGMENT + 1, canvas - FRAGMENT + 1
        limits = [len(pixels), within, within, beyond, beyond]
        for piece in range(clutter):
            draws = prng.uniform((len(labels), 5), *key, "clutter", piece)
            scan, top, left, row, column = (draws * limits).astype(np.int64).T
            fragments = FRAGMENT_INK * windows[scan, top, left]
            _paste(light, fragments, np.stack([row, column], axis=1))
        grains = 2 * prng.uniform(light.shape, *key, "noise") - 1
        ink = np.clip(light + noise * grains, 0, 1)[..., None]
        if colours:
            draws = colours * prng.uniform((len(labels), 2, 1, 1, 3), *key, "colours")
            inks, papers = 1 - draws[:, 0], draws[:, 1]
            ink = papers + (inks - papers) * ink
        images = np.rint(ink * 255).astype(np.uint8)
        if not colours:
            images = np.repeat(images, 3, axis=3)
        splits[part] = Split(images, {CLASS: labels})
    return Arrays(splits, {CLASS: tuple(names)}, dict(ABOUT))


def _dealt(
    pixels: Float[np.ndarray, "S 8 8"],
    digit: Int[np.ndarray, "S"],
    classes: Sequence[tuple[int, int]],
    per_class: int,
    key: tuple[int, str, str],
) -> Float[np.ndarray, "N 8 8"]:
    """Scans of each class, a digit and its quarter turns, class after class.

    They are dealt from shuffled decks, so that all are used about equally often.
    """
    shown = []
    for value, quarter in classes:
        members = np.flatnonzero(digit == value)
        deals = []
        for deck in range(math.ceil(per_class / len(members))):
            order = prng.permutation(len(members), *key, "deal", value, quarter, deck)
            deals.append(members[order])
        chosen = np.concatenate(deals)[:per_class]
        shown.append(np.rot90(pixels[chosen], quarter, axes=(1, 2)))
    return np.concatenate(shown)


def load() -> tuple[Float[np.ndarray, "S 8 8"], Int[np.ndarray, "S"]]:
    """All scans, in scikit-learn's order: brightness 0 … 1, and each scan's digit."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.images / BRIGHTEST, bunch.target.astype(np.int64)


def split(
    digit: Int[np.ndarray, "S"], seed: int
) -> tuple[Int[np.ndarray, "T"], Int[np.ndarray, "U"]]:
    """Numbers of the train scans (two thirds of each digit's scans) and of the test scans (the rest), ascending."""
    train = []
    for value in range(10):
        members = np.flatnonzero(digit == value)
        order = prng.permutation(len(members), seed, "digits", "split", value)
        count = int(len(members) * TRAIN_SHARE)
        train.append(members[order[:count]])
    chosen = np.sort(np.concatenate(train))
    return chosen, np.setdiff1d(np.arange(len(digit)), chosen)


def _paste(
    images: Float[np.ndarray, "N H W"],
    patches: Float[np.ndarray, "N h w"],
    corners: Int[np.ndarray, "N 2"],
) -> None:
    """Lay a patch over each image, in place; the brighter pixel wins."""
    h, w = patches.shape[1:]
    n = np.arange(len(images))[:, None, None]
    row, column = corners.T[..., None, None]
    there = n, row + np.arange(h)[:, None], column + np.arange(w)
    images[there] = np.maximum(images[there], patches)
