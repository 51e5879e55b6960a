"""Handwritten digits made harder: scans on a larger canvas, shifted, among fragments of other digits.

scikit-learn's 1,797 scans (8 × 8, 0 … 16) come with the library, so the quick scale downloads nothing. As they are, raw
pixels solve them (kNN 97 %); here they do not. The scans are divided into train and test before anything is composed,
so no test image holds a stroke that a training image holds.
"""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from pydantic import NonNegativeInt, PositiveInt

from hypersphere import keyed
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.declared.registry import Fraction
from hypersphere.errors import HypersphereError

SIDE = 8  # of a scan, pixels
BRIGHTEST = 16  # a scan's largest value
FRAGMENT = 4  # side of a piece of clutter, pixels
FRAGMENT_INK = 0.5  # its brightness beside a digit's: the subject stays the brightest
TRAIN_SHARE = 2 / 3
# Red, green and blue in colour: yellow on blue, the same for all images, so that colour tells no image from another,
# and a shape shows in lightness and in colour alike.
INK, PAPER = np.array([1.0, 0.8, 0.2]), np.array([0.1, 0.1, 0.5])

# Task "turned": digits that no quarter turn makes into themselves or one another (a turned 6 is a 9, so 9 is left out).
TURNED = (3, 4, 6, 7)
QUARTERS = (0, 1, 2, 3)

ABOUT = {
    "source": "scikit-learn's load_digits (UCI Optical Recognition of Handwritten Digits, test part), recomposed",
    "licence": "CC BY 4.0",
    "citation": "E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning "
    "Repository, 1998",
}


class Scans(NamedTuple):
    """Some of the 1,797 scans: brightness 0 … 1 and the digit each shows."""

    pixels: Float[np.ndarray, "S 8 8"]
    digit: Int[np.ndarray, "S"]


class Scene(NamedTuple):
    """How a task's images are composed, and the key of their draws."""

    canvas: int
    shift: int
    clutter: int
    noise: float
    coloured: bool
    seed: int


def digits(
    root: Path,
    download: bool = True,
    *,
    task: Literal["upright", "turned"] = "upright",
    canvas: PositiveInt = 12,
    shift: NonNegativeInt = 2,
    clutter: NonNegativeInt = 1,
    noise: Fraction = 0.1,
    coloured: bool = False,
    train_per_class: PositiveInt = 240,
    test_per_class: PositiveInt = 100,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Images of one digit: ten upright classes, or sixteen of four digits each turned by 0, 90, 180 or 270 degrees.

    Args:
        root: not used; the scans come with scikit-learn.
        download: not used.
        task: what an image shows.
        canvas: side of an image, pixels.
        shift: a digit lies up to this many pixels from its home, along each axis, within the canvas.
        clutter: number of half-bright 4 × 4 fragments of scans of the same split, anywhere on the canvas.
        noise: uniform noise of up to ± this share of full brightness, each pixel on its own.
        coloured: whether the ink is yellow and the paper blue; else white and black.
        train_per_class: training images composed per class (scans are reused, elsewhere and in other clutter).
        test_per_class: test images per class.
        seed: of the division of the scans and of all draws.

    Raises:
        HypersphereError: the canvas is too small for the digits.
    """
    if canvas < SIDE:
        raise HypersphereError(f"digits: canvas {canvas} is too small for a scan of {SIDE} pixels")
    upright = [(digit, 0) for digit in range(10)]
    classes = upright if task == "upright" else [(digit, quarter) for digit in TURNED for quarter in QUARTERS]
    scene = Scene(canvas, shift, clutter, noise, coloured, seed)
    scans = load()
    train, test = split(scans.digit, seed)
    parts = {TRAIN: (train, train_per_class), TEST: (test, test_per_class)}
    names = tuple(f"{digit} turned by {90 * quarter}" if quarter else str(digit) for digit, quarter in classes)
    return Arrays(
        {
            part: _compose(Scans(scans.pixels[kept], scans.digit[kept]), classes, per_class, scene, part)
            for part, (kept, per_class) in parts.items()
        },
        {CLASS: names},
        dict(ABOUT),
    )


def load() -> Scans:
    """All scans, in scikit-learn's order."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return Scans(bunch.images / BRIGHTEST, bunch.target.astype(np.int64))


def split(digit: Int[np.ndarray, "S"], seed: int) -> tuple[Int[np.ndarray, "T"], Int[np.ndarray, "U"]]:
    """Numbers of the train and of the test scans, ascending: two thirds of each digit's scans, and the rest."""
    train = []
    for value in range(10):
        members = np.flatnonzero(digit == value)
        order = keyed.permutation(len(members), seed, "digits", "split", value)
        train.append(members[order[: int(len(members) * TRAIN_SHARE)]])
    chosen = np.sort(np.concatenate(train))
    return chosen, np.setdiff1d(np.arange(len(digit)), chosen)


def _compose(scans: Scans, classes: list[tuple[int, int]], per_class: int, scene: Scene, part: str) -> Split:
    """``per_class`` images of each class (digit, quarter turns), class after class."""
    labels = np.repeat(np.arange(len(classes), dtype=np.int64), per_class)
    images = np.zeros((len(labels), scene.canvas, scene.canvas))
    shown = [
        np.rot90(scans.pixels[_deal(scans.digit, digit, per_class, scene.seed, part, quarter)], quarter, axes=(1, 2))
        for digit, quarter in classes
    ]
    home = (scene.canvas - SIDE) // 2
    low, high = max(home - scene.shift, 0), min(home + scene.shift, scene.canvas - SIDE)
    draws = keyed.uniform((len(labels), 2), scene.seed, "digits", part, "shift")
    _paste(images, np.concatenate(shown), low + (draws * (high - low + 1)).astype(np.int64))
    for piece in range(scene.clutter):
        _paste(images, *_fragments(scans.pixels, len(labels), scene, part, piece))
    noise = 2 * keyed.uniform(images.shape, scene.seed, "digits", part, "noise") - 1
    ink = np.clip(images + scene.noise * noise, 0, 1)[..., None]
    if not scene.coloured:
        return Split(np.repeat(np.rint(ink * 255).astype(np.uint8), 3, axis=3), {CLASS: labels})
    return Split(np.rint((PAPER + (INK - PAPER) * ink) * 255).astype(np.uint8), {CLASS: labels})


def _deal(
    digit: Int[np.ndarray, "S"], value: int, count: int, seed: int, part: str, quarter: int
) -> Int[np.ndarray, "count"]:
    """``count`` scans of one digit: shuffled decks, one after another, so that all are used about equally."""
    members = np.flatnonzero(digit == value)
    decks = range(-(-count // len(members)))
    orders = [keyed.permutation(len(members), seed, "digits", part, "deal", value, quarter, deck) for deck in decks]
    return members[np.concatenate(orders)[:count]]


def _fragments(
    pixels: Float[np.ndarray, "S 8 8"], n: int, scene: Scene, part: str, piece: int
) -> tuple[Float[np.ndarray, "n 4 4"], Int[np.ndarray, "n 2"]]:
    """One piece of clutter per image, cut anywhere from any scan of the split, and where it goes."""
    draws = keyed.uniform((n, 5), scene.seed, "digits", part, "clutter", piece)
    limits = [len(pixels), *[SIDE - FRAGMENT + 1] * 2, *[scene.canvas - FRAGMENT + 1] * 2]
    scan, top, left, row, column = (draws * limits).astype(np.int64).T
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (FRAGMENT, FRAGMENT), axis=(1, 2))
    return FRAGMENT_INK * windows[scan, top, left], np.stack([row, column], axis=1)


def _paste(
    images: Float[np.ndarray, "N H W"], patches: Float[np.ndarray, "N h w"], corners: Int[np.ndarray, "N 2"]
) -> None:
    """Lay a patch over each image, in place: the brighter pixel stays."""
    h, w = patches.shape[1:]
    n = np.arange(len(images))[:, None, None]
    rows = corners[:, 0, None, None] + np.arange(h)[None, :, None]
    columns = corners[:, 1, None, None] + np.arange(w)[None, None, :]
    images[n, rows, columns] = np.maximum(images[n, rows, columns], patches)
