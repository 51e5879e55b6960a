"""Handwritten digits made harder: scans on a larger canvas, shifted, among fragments of other digits.

scikit-learn's 1,797 scans (8 × 8, 0 … 16) come with the library, so the quick scale downloads nothing. The plain scans
are too easy (kNN on raw pixels: 97 %); the composed images are not. The scans are divided into train and test before
images are composed, so train and test images share no stroke.
"""

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
    upright = [(digit, 0) for digit in range(10)]
    classes = (
        upright
        if task == "upright"
        else [(digit, quarter) for digit in TURNED for quarter in range(4)]
    )
    scans, known = load()
    home = (canvas - SIDE) // 2
    low, high = max(home - shift, 0), min(home + shift, canvas - SIDE)
    splits = {}
    parts = zip((TRAIN, TEST), split(known, seed), (train_per_class, test_per_class), strict=True)
    for part, numbers, per_class in parts:
        key, pixels, digit = (seed, "digits", part), scans[numbers], known[numbers]
        labels = np.repeat(np.arange(len(classes), dtype=np.int64), per_class)
        light = np.zeros((len(labels), canvas, canvas))
        shown = []
        # scans are dealt from shuffled decks, so that all are used about equally often
        for value, quarter in classes:
            members = np.flatnonzero(digit == value)
            decks = range(-(-per_class // len(members)))
            deals = [
                prng.permutation(len(members), *key, "deal", value, quarter, deck) for deck in decks
            ]
            shown.append(
                np.rot90(pixels[members[np.concatenate(deals)[:per_class]]], quarter, axes=(1, 2))
            )
        draws = prng.uniform((len(labels), 2), *key, "shift")
        _paste(light, np.concatenate(shown), low + (draws * (high - low + 1)).astype(np.int64))
        windows = np.lib.stride_tricks.sliding_window_view(
            pixels, (FRAGMENT, FRAGMENT), axis=(1, 2)
        )
        for piece in range(clutter):
            # One fragment of a random scan for each image, and its corner on the canvas.
            draws = prng.uniform((len(labels), 5), *key, "clutter", piece)
            limits = [len(pixels), *[SIDE - FRAGMENT + 1] * 2, *[canvas - FRAGMENT + 1] * 2]
            scan, top, left, row, column = (draws * limits).astype(np.int64).T
            _paste(light, FRAGMENT_INK * windows[scan, top, left], np.stack([row, column], axis=1))
        grains = 2 * prng.uniform(light.shape, *key, "noise") - 1
        ink = np.clip(light + noise * grains, 0, 1)[..., None]
        if colours:
            draws = colours * prng.uniform((len(labels), 2, 1, 1, 3), *key, "colours")
            inks, papers = 1 - draws[:, 0], draws[:, 1]
            ink = papers + (inks - papers) * ink
        images = np.rint(ink * 255).astype(np.uint8)
        splits[part] = Split(images if colours else np.repeat(images, 3, axis=3), {CLASS: labels})
    names = tuple(
        f"{digit} turned by {90 * quarter}" if quarter else str(digit) for digit, quarter in classes
    )
    return Arrays(splits, {CLASS: names}, dict(ABOUT))


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
        train.append(members[order[: int(len(members) * TRAIN_SHARE)]])
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
    rows = corners[:, 0, None, None] + np.arange(h)[None, :, None]
    columns = corners[:, 1, None, None] + np.arange(w)[None, None, :]
    images[n, rows, columns] = np.maximum(images[n, rows, columns], patches)
