"""MultiDigits: several handwritten digits on one black canvas (lecture, Tables 3 and 4).

T. Chen, C. Luo, L. Li, Intriguing properties of contrastive losses, NeurIPS 2021. Two sorts:

- Digits of one size, 1 to 16 of them. At random places they may overlap ("more digits lead to more overlapping in
  random placement", Fig. 2); in a grid each has a cell of its own. Images for probes have one digit.
- Two digits of two sizes, each with its own labels. Table 4 probes encoders of such images on sets of one digit, of
  either size (erratum S15).

Left open by the source, and ours: two digits of two sizes do not overlap, so that neither hides the other; places are
uniform over whole pixels; of two digits, over all pairs of places without overlap; in a grid, over the cells, some of
which stay empty. Where digits overlap the brighter pixel wins. Image i has scan i of its part of MNIST first, and
further scans at random, with repeats. Scans are shrunk by area averages and enlarged linearly.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from hypersphere.arguments import NonNegativeInt, PositiveInt
from hypersphere.datasets import digits as scikit
from hypersphere.datasets.composing import Draws
from hypersphere.datasets.mnist import mnist
from hypersphere.datasets.types import CLASS, PROBE, TEST, TRAIN, Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

SIZES = {TRAIN: 60_000, TEST: 10_000}
CITATION = "T. Chen, C. Luo, L. Li, Intriguing properties of contrastive losses, NeurIPS 2021"
TRIES = 32
"""Pairs of places that are drawn at once."""
NAMES = tuple(str(digit) for digit in range(10))
"""Names of the classes."""
DIGIT = "digit_{}"
"""Name of the labels of each digit of an image, counted from 1. The main labels are those of the first."""


def multidigits(
    root: Path,
    download: bool = True,
    *,
    scans: Literal["mnist", "digits"] = "mnist",
    canvas: PositiveInt = 112,
    side: PositiveInt = 28,
    count: PositiveInt = 1,
    placement: Literal["random", "grid"] = "random",
    second_side: NonNegativeInt = 0,
    train: NonNegativeInt = 0,
    test: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Images of ``count`` digits, or of two digits of two sizes.

    Splits: ``train``, with all digits; ``test``, with one digit, but with both of two sizes; and, unless there are two
    sizes, ``probe``: as many images as ``train``, with one digit. Labels: ``digit_1`` and so on in order of placement,
    and ``class``, which is ``digit_1``.

    Args:
        scans: MNIST's (28 px), or those of scikit-learn (8 px, divided as by ``digits``).
        canvas: side of an image, pixels.
        side: of a digit, pixels; of the first one, if there are two sizes.
        count: digits of a training image; one or two if there are two sizes (either way there are two).
        placement: random or grid; for two sizes random.
        second_side: of the second of two digits, pixels; 0: all digits have one size.
        train: number of training images; 0: 60,000.
        test: number of test images; 0: 10,000.
        seed: of the places and of the further digits.
    """
    if second_side and (count > 2 or placement == "grid"):
        raise HypersphereError(
            "multidigits: second_side: two digits at random places; leave out count, placement"
        )
    least = side + second_side
    if least > canvas:
        wish = f"must be at least {least}, for a digit, or two of two sizes without overlap"
        raise HypersphereError(f"multidigits: canvas: {wish} (given: {canvas})")
    room = (canvas // side) ** 2
    if placement == "grid" and count > room:
        raise HypersphereError(
            f"multidigits: count: the grid has {room} cells of {side} px (given: {count})"
        )
    source = mnist(root, download) if scans == "mnist" else _scikit_scans(seed)
    numbers = {
        TRAIN: np.arange(train or SIZES[TRAIN], dtype=np.int64),
        TEST: np.arange(test or SIZES[TEST], dtype=np.int64),
    }

    def split(name: str, part: str, sides: tuple[int, ...], how: str) -> Split:
        draws = Draws(numbers[part], seed, ("multidigits", name))
        return _split(source.splits[part], sides, how, canvas, draws)

    sides = (side, second_side) if second_side else (side,) * count
    if second_side:
        splits = {
            TRAIN: split(TRAIN, TRAIN, sides, "apart"),
            TEST: split(TEST, TEST, sides, "apart"),
        }
    else:
        splits = {
            TRAIN: split(TRAIN, TRAIN, sides, placement),
            PROBE: split(PROBE, TRAIN, sides[:1], placement),
            TEST: split(TEST, TEST, sides[:1], placement),
        }
    labels = [CLASS, *_names_of_labels(len(sides))]
    about = {
        "source": f"MultiDigits, composed of: {source.about['source']}",
        "licence": source.about["licence"],
        "citation": f"{CITATION}; {source.about['citation']}",
    }
    return Arrays(splits, dict.fromkeys(labels, NAMES), about)


def _scikit_scans(seed: int) -> Arrays:
    """scikit-learn's scans in three channels, divided as by ``digits``."""
    light, digit = scikit.load()
    pixels = np.rint(light * 255).astype(np.uint8)
    pixels = np.repeat(pixels[..., None], 3, axis=3)
    train, test = scikit.split(digit, seed)
    splits = {
        TRAIN: Split(pixels[train], {CLASS: digit[train]}),
        TEST: Split(pixels[test], {CLASS: digit[test]}),
    }
    return Arrays(splits, {CLASS: NAMES}, scikit.ABOUT)


def _names_of_labels(digits: int) -> list[str]:
    """Names of the labels of so many digits, in order of placement."""
    return [DIGIT.format(number) for number in range(1, digits + 1)]


def _split(
    scans: Split, sides: tuple[int, ...], placement: str, canvas: int, draws: Draws
) -> Split:
    """Images of digits of these sides, and the label of each digit."""
    pixels, digit = scans.images, scans.labels[CLASS]
    shown = draws.numbers[:, None] % len(digit)  # the number of each digit's scan
    if len(sides) > 1:
        further = draws.below("scans", len(digit), len(sides) - 1)
        shown = np.column_stack([shown, further])
    names = _names_of_labels(len(sides))
    labels = dict(zip(names, digit[shown].T, strict=True))

    def read(numbers: Int64[np.ndarray, "K"]) -> UInt8[np.ndarray, "K canvas canvas 3"]:
        some = Draws(numbers, draws.seed, draws.purpose)
        if placement == "apart":
            places = apart(some, canvas, *sides)
        elif placement == "grid":
            places = cells(some, canvas, sides[0], len(sides))
        else:  # uniform over the canvas and independent: they may overlap
            places = some.below("corners", canvas - sides[0] + 1, len(sides), 2)
        images = np.zeros((len(numbers), canvas, canvas, 3), np.uint8)
        for image, at, chosen in zip(images, places, shown[numbers], strict=True):
            for (row, column), side, scan in zip(at, sides, chosen, strict=True):
                under = image[row : row + side, column : column + side]
                np.maximum(under, resized(pixels[scan], side), out=under)
        return images

    images = Pieces((len(shown), canvas, canvas, 3), read)
    return Split(images, {CLASS: labels[DIGIT.format(1)], **labels})


def cells(draws: Draws, canvas: int, side: int, count: int) -> Int64[np.ndarray, "N count 2"]:
    """Row and column of ``count`` different cells of a grid, all choices and orders equally likely.

    The grid is in the middle of the canvas, if its cells leave a rim.
    """
    along = canvas // side
    rim = (canvas - along * side) // 2
    order = np.argsort(draws.uniform("cells", along**2), axis=1, kind="stable")
    rows_and_columns = np.divmod(order[:, :count], along)
    return rim + side * np.stack(rows_and_columns, axis=2)


def apart(draws: Draws, canvas: int, first: int, second: int) -> Int64[np.ndarray, "N 2 2"]:
    """Row and column of two squares that do not overlap, uniform over all such pairs of places.

    Pairs are drawn until one fits: ``TRIES`` at a time. The sides must sum to at most the canvas, or none would.
    """
    places = np.zeros((len(draws.numbers), 2, 2), np.int64)
    sides = np.array([[first], [second]])
    limits = canvas - sides + 1
    left = np.arange(len(places))
    turn = 0
    while len(left):
        rest = Draws(draws.numbers[left], draws.seed, draws.purpose)
        pairs = (rest.uniform(f"pair {turn}", TRIES, 2, 2) * limits).astype(np.int64)
        one = pairs[:, :, 0]
        other = pairs[:, :, 1]
        is_before = one + first <= other
        is_after = other + second <= one
        fits = (is_before | is_after).any(axis=2)
        lucky = np.flatnonzero(fits.any(axis=1))
        first_fit = fits[lucky].argmax(axis=1)
        places[left[lucky]] = pairs[lucky, first_fit]
        left = np.delete(left, lucky)
        turn += 1
    return places


def resized(scan: UInt8[np.ndarray, "h h 3"], side: int) -> UInt8[np.ndarray, "side side 3"]:
    """A scan with another side."""
    if side == len(scan):
        return scan
    how = Image.Resampling.BOX if side < len(scan) else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(scan).resize((side, side), how))
