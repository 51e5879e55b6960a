"""Composed digits, one or many: no scan in both splits, keyed draws, and the labels of what is shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hypersphere.datasets import digits as scikit
from hypersphere.datasets import multidigits as module
from hypersphere.datasets.composing import Draws
from hypersphere.datasets.digits import digits
from hypersphere.datasets.multidigits import apart, cells, multidigits, resized
from hypersphere.datasets.types import Arrays, Split

NOWHERE = Path("/nonexistent")


def test_split_takes_two_thirds_of_each_digit_and_no_scan_twice() -> None:
    digit = scikit.load()[1]
    train, test = scikit.split(digit, seed=0)
    assert sorted([*train, *test]) == list(range(1797))
    for value in range(10):
        assert (digit[train] == value).sum() == (digit == value).sum() * 2 // 3
    assert not np.array_equal(train, scikit.split(digit, seed=1)[0])


@pytest.mark.parametrize("task", ["upright", "turned"])
def test_no_scan_reaches_both_splits(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every train scan full and every test scan at a quarter (fragments half of that)."""
    scans, digit = scikit.load()
    light = np.ones_like(scans)
    light[scikit.split(digit, 0)[1]] = 0.25
    monkeypatch.setattr(scikit, "load", lambda: (light, digit))
    asked: dict[str, Any] = {
        "task": task,
        "noise": 0,
        "clutter": 3,
        "train_per_class": 50,
        "test_per_class": 50,
    }
    painted = digits(NOWHERE, **asked)
    assert set(np.unique(painted.splits["train"].images)) == {0, 128, 255}
    assert set(np.unique(painted.splits["test"].images)) == {0, 32, 64}


@pytest.mark.parametrize("task", ["upright", "turned"])
def test_an_undisturbed_image_is_a_scan_of_its_class(task: Any) -> None:
    """In the middle of the canvas; turned back clockwise by the class's number of quarters, where it is turned."""
    known = {
        np.rint(scan * 255).astype(np.uint8).tobytes(): d
        for scan, d in zip(*scikit.load(), strict=True)
    }
    arrays = digits(
        NOWHERE, task=task, train_per_class=5, test_per_class=2, shift=0, clutter=0, noise=0
    )
    names, test = arrays.class_names["class"], arrays.splits["test"]
    assert len(names) == (10 if task == "upright" else 16)
    for image, label in zip(test.images[..., 0], test.labels["class"], strict=True):
        digit, quarter = (label, 0) if task == "upright" else ((3, 4, 6, 7)[label // 4], label % 4)
        assert known[np.ascontiguousarray(np.rot90(image[2:10, 2:10], -quarter)).tobytes()] == digit
        assert names[label].startswith(str(digit))
        assert image[:2].max() == 0


def test_shift_reaches_its_limit_and_stays_on_the_canvas(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan 6 rows high or so is painted whole, so its corner can be read off the image."""
    scans, digit = scikit.load()
    monkeypatch.setattr(scikit, "load", lambda: (np.ones_like(scans), digit))
    for shift, places in ((1, {1, 2, 3}), (9, set(range(5)))):
        train = digits(NOWHERE, shift=shift, clutter=0, noise=0, train_per_class=40).splits["train"]
        images = train.images[..., 0] > 0
        assert (images.sum((1, 2)) == 64).all()
        for axis in (1, 2):
            assert set(images.any(axis=axis).argmax(axis=1)) == places


def test_colours_are_a_line_from_paper_to_ink_that_the_grey_image_is_drawn_along() -> None:
    few: dict[str, Any] = {"train_per_class": 20, "test_per_class": 2, "noise": 0.0}
    grey, coloured = (digits(NOWHERE, colours=asked, **few).splits["train"] for asked in (0.0, 0.4))
    assert np.array_equal(coloured.labels["class"], grey.labels["class"])
    inks, papers = [], []
    for image, share in zip(
        coloured.images.reshape(200, -1, 3), grey.images.reshape(200, -1, 3)[..., 0], strict=True
    ):
        lines = np.polyfit(share / 255, image / 255, 1)  # slope and start of each channel
        drawn = lines[1] + share[:, None] / 255 * lines[0]
        # grey and coloured are rounded, and so is the line
        assert np.abs(drawn - image / 255).max() < 2.5 / 255
        papers.append(lines[1])
        inks.append(lines.sum(axis=0))
    assert -0.01 < np.min(papers) < 0.05
    assert 0.35 < np.max(papers) < 0.41
    assert 0.59 < np.min(inks) < 0.65
    assert 0.95 < np.max(inks) < 1.01


@pytest.mark.parametrize(
    ("asked", "place", "sides"),
    [
        ({"count": 3}, lambda draws, count: draws.below("corners", 25, count, 2), [8] * 3),
        (
            {"count": 12, "placement": "grid"},
            lambda draws, count: cells(draws, 32, 8, count),
            [8] * 12,
        ),
        ({"side": 6, "second_side": 23}, lambda draws, count: apart(draws, 32, 6, 23), [6, 23]),
    ],
    ids=["random", "grid", "two sizes"],
)
def test_an_image_is_the_brightest_of_its_digits_at_their_places(
    asked: dict[str, Any], place: Callable[[Draws, int], np.ndarray], sides: list[int]
) -> None:
    """Image i shows scan i of its part first. Of digits of one size, probe and test images show the first alone.

    A square of 8 on 32 pixels has 25 places along each axis.
    """
    scans, digit = scikit.load()
    parts = dict(zip(("train", "test"), scikit.split(digit, 0), strict=True))
    pixels = np.repeat(np.rint(scans * 255).astype(np.uint8)[..., None], 3, axis=3)
    found = multidigits(
        NOWHERE, scans="digits", canvas=32, train=60, test=30, **{"side": 8, **asked}
    )
    assert set(found.splits) == {"train", "test"} | ({"probe"} if "count" in asked else set())
    for name, split in found.splits.items():
        n, of, shown = len(split.images), parts.get(name, parts["train"]), sides
        if "count" in asked and name != "train":
            shown = sides[:1]
        draws = Draws(np.arange(n), 0, ("multidigits", name))
        numbers = of[np.column_stack([np.arange(n), draws.below("scans", len(of), len(shown) - 1)])]
        expected = np.zeros((n, 32, 32, 3), np.uint8)
        for image, places, chosen in zip(expected, place(draws, len(shown)), numbers, strict=True):
            for (row, column), side, scan in zip(places, shown, chosen, strict=True):
                under = image[row : row + side, column : column + side]
                under[:] = np.maximum(under, resized(pixels[scan], side))
        np.testing.assert_array_equal(split.images[np.arange(n)], expected)
        digits_shown = {f"digit_{k + 1}": digit[numbers[:, k]].tolist() for k in range(len(shown))}
        labels = {key: values.tolist() for key, values in split.labels.items()}
        assert labels == {"class": digits_shown["digit_1"], **digits_shown}


def test_scans_are_resized_by_area_or_linearly() -> None:
    """Half the side: means of two by two, within half a step. Twice: Pillow's bilinear, the ends as they are."""
    scan = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert np.abs(resized(scan, 4) - scan.reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))).max() <= 1
    double = np.asarray(Image.fromarray(scan).resize((16, 16), Image.BILINEAR))
    np.testing.assert_array_equal(resized(scan, 16), double)
    np.testing.assert_array_equal(resized(scan, 8), scan)


def test_mnist_is_its_scans_on_112_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    scans = Split(np.full((5, 28, 28, 3), 200, np.uint8), {"class": np.arange(5)})
    arrays = Arrays({"train": scans, "test": scans}, {}, scikit.ABOUT)
    monkeypatch.setattr(module, "mnist", lambda root, download: arrays)
    found = multidigits(NOWHERE, count=16, placement="grid")
    assert found.splits["train"].images.shape == (60_000, 112, 112, 3)
    assert found.splits["test"].images.shape == (10_000, 112, 112, 3)
    assert found.splits["test"].labels["class"][[4, 9]].tolist() == [4, 4]


def draws(count: int) -> Draws:
    return Draws(np.arange(count), 0, ("test",))


def test_cells_are_different_ones_of_a_grid_in_the_middle() -> None:
    """11 pixels hold three cells of 3 along each axis, with a rim of one pixel."""
    places = cells(draws(300), 11, 3, 5)
    assert set(np.unique(places)) == {1, 4, 7}
    full = cells(draws(20), 11, 3, 9)
    for pictures, count in ((places, 5), (full, 9)):
        assert {len(np.unique(picture, axis=0)) for picture in pictures} == {count}
    assert not np.array_equal(full[0], full[1])  # the order differs


@pytest.mark.parametrize(("first", "second"), [(2, 2), (1, 3), (3, 1)])
def test_two_squares_apart_are_uniform_over_the_pairs_without_overlap(
    first: int, second: int
) -> None:
    """Which pairs do not overlap, by painting them on 4 by 4 pixels."""
    expected = set()
    for a, b, c, d in np.ndindex(5 - first, 5 - first, 5 - second, 5 - second):
        canvas = np.zeros((4, 4), int)
        canvas[a : a + first, b : b + first] += 1
        canvas[c : c + second, d : d + second] += 1
        if canvas.max() == 1:
            expected.add((a, b, c, d))
    pairs = apart(draws(100 * len(expected)), 4, first, second).reshape(-1, 4)
    found, times = np.unique(pairs, axis=0, return_counts=True)
    assert {tuple(map(int, pair)) for pair in found} == expected
    chi_squared = ((times - 100) ** 2 / 100).sum()
    freedom = len(expected) - 1
    assert chi_squared < freedom + 5 * np.sqrt(2 * freedom)
