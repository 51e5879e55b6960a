"""The composed digits: no scan in both splits, keyed draws, a task with room."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.config import project as cfg
from hypersphere.datasets import digits as module
from hypersphere.datasets import store
from hypersphere.datasets.digits import digits

NOWHERE = Path("/nonexistent")
ROOT = Path(__file__).resolve().parents[3]
BARE: dict[str, Any] = {"shift": 0, "clutter": 0, "noise": 0}


def test_split_takes_two_thirds_of_each_digit_and_no_scan_twice() -> None:
    digit = module.load().digit
    train, test = module.split(digit, seed=0)
    assert sorted([*train, *test]) == list(range(1797))
    for value in range(10):
        assert (digit[train] == value).sum() == (digit == value).sum() * 2 // 3
    assert not np.array_equal(train, module.split(digit, seed=1)[0])


@pytest.mark.parametrize("task", ["upright", "turned"])
def test_no_scan_reaches_both_splits(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every train scan full and every test scan at a quarter (fragments half of that)."""
    scans = module.load()
    pixels = np.ones_like(scans.pixels)
    pixels[module.split(scans.digit, 0)[1]] = 0.25
    monkeypatch.setattr(module, "load", lambda: module.Scans(pixels, scans.digit))
    painted = digits(NOWHERE, task=task, noise=0, clutter=3, train_per_class=50, test_per_class=50)
    assert set(np.unique(painted.splits["train"].images)) == {0, 128, 255}
    assert set(np.unique(painted.splits["test"].images)) == {0, 32, 64}
    # control: the paint shows if the division is another than the one painted
    mixed = digits(NOWHERE, task=task, noise=0, clutter=3, train_per_class=50, test_per_class=50, seed=1)
    assert set(np.unique(mixed.splits["train"].images)) == {0, 32, 64, 128, 255}


@pytest.mark.parametrize("task", ["upright", "turned"])
def test_an_undisturbed_image_is_a_scan_of_its_class(task: Any) -> None:
    """In the middle of the canvas; turned back clockwise by the class's number of quarters, where it is turned."""
    scans = module.load()
    known = {np.rint(scan * 255).astype(np.uint8).tobytes(): d for scan, d in zip(*scans, strict=True)}
    arrays = digits(NOWHERE, task=task, train_per_class=5, test_per_class=2, **BARE)
    names, test = arrays.class_names["class"], arrays.splits["test"]
    assert len(names) == (10 if task == "upright" else 16)
    for image, label in zip(test.images[..., 0], test.labels["class"], strict=True):
        digit, quarter = (label, 0) if task == "upright" else ((3, 4, 6, 7)[label // 4], label % 4)
        assert known[np.ascontiguousarray(np.rot90(image[2:10, 2:10], -quarter)).tobytes()] == digit
        assert names[label].startswith(str(digit))
        assert image[:2].max() == 0


def test_shift_reaches_its_limit_and_stays_on_the_canvas() -> None:
    """The scan 6 rows high or so is painted whole, so its corner can be read off the image."""
    scans = module.load()
    full = module.Scans(np.ones_like(scans.pixels), scans.digit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load", lambda: full)
        for shift, corners in ((1, {1, 2, 3}), (9, set(range(5)))):
            train = digits(NOWHERE, shift=shift, clutter=0, noise=0, train_per_class=40).splits["train"]
            images = train.images[..., 0] > 0
            assert (images.sum((1, 2)) == 64).all()
            assert set(images.any(axis=2).argmax(axis=1)) == corners
            assert set(images.any(axis=1).argmax(axis=1)) == corners


def test_a_canvas_that_is_too_small_is_a_sentence(refused: Any) -> None:
    with refused():
        digits(NOWHERE, canvas=7)


@pytest.mark.parametrize("name", ["digits_lt", "turned_digits_lt"])
def test_raw_pixels_neither_solve_the_configured_task_nor_fail(name: str) -> None:
    """Nearest raw-pixel neighbour: far above chance (10 %, 6.25 %) and far below solved; about 700 images."""
    dataset = cfg.load(ROOT, {}).datasets[name]
    assert dataset.source is not None
    assert dataset.imbalance is not None
    arrays = digits(NOWHERE, **dataset.source.parameters)
    train, test = (arrays.splits[name] for name in ("train", "test"))
    trained, tested = train.labels["class"], test.labels["class"]
    classes = len(arrays.class_names["class"])
    kept = store.choose_images(trained, dataset.imbalance, classes)
    assert 600 <= len(kept) <= 800
    assert np.bincount(tested).tolist() == [len(tested) // classes] * classes
    bank, query = (images.reshape(len(images), -1) / 255 for images in (train.images[kept], test.images))
    bank, query = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (bank, query))
    guess = trained[kept][(query @ bank.T).argmax(axis=1)]
    accuracy = (guess == tested).mean()
    assert 3 / classes < accuracy < 0.85


def test_colours_are_a_line_from_paper_to_ink_that_the_grey_image_is_drawn_along() -> None:
    """The same scans in grey, and each image's two colours within their limits; at 0 nothing changes."""
    few: dict[str, Any] = {"train_per_class": 20, "test_per_class": 2, "noise": 0.0}
    grey, coloured, none = (digits(NOWHERE, colours=asked, **few).splits["train"] for asked in (0.0, 0.4, 0.0))
    assert np.array_equal(none.images, grey.images)
    assert np.array_equal(coloured.labels["class"], grey.labels["class"])
    inks, papers = [], []
    for image, share in zip(coloured.images.reshape(200, -1, 3), grey.images.reshape(200, -1, 3)[..., 0], strict=True):
        lines = np.polyfit(share / 255, image / 255, 1)  # slope and start of each channel
        drawn = lines[1] + share[:, None] / 255 * lines[0]
        assert np.abs(drawn - image / 255).max() < 2.5 / 255  # grey and coloured are rounded, and so is the line
        papers.append(lines[1])
        inks.append(lines.sum(axis=0))
    assert -0.01 < np.min(papers) < 0.05
    assert 0.35 < np.max(papers) < 0.41
    assert 0.59 < np.min(inks) < 0.65
    assert 0.95 < np.max(inks) < 1.01
