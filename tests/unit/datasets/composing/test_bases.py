"""Images that generated sets start from: chosen by class, shrunk by area, with their labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import mnist
from hypersphere.datasets.composing import bases
from hypersphere.datasets.composing.bases import Wanted
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

NOWHERE = Path("/nonexistent")
RNG = np.random.default_rng(0)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> dict[str, mnist.Scans]:
    """In place of MNIST: 40 and 20 images of noise."""
    made = {
        part: mnist.Scans(RNG.integers(0, 256, (n, 28, 28), dtype=np.uint8), np.arange(n) % 10)
        for part, n in (("train", 40), ("test", 20))
    }
    monkeypatch.setattr(mnist, "load", lambda root, download=True: made)
    return made


def test_shrunk_is_the_mean_of_each_block() -> None:
    """Blocks by hand: (0 + 1 + 2 + 3) / 4 = 1.5, half up; and numpy's mean on noise."""
    block = np.array([[[[0], [1]], [[2], [3]]]], dtype=np.uint8)
    assert bases.shrunk(block, 1).tolist() == [[[[2]]]]
    images = RNG.integers(0, 256, (3, 12, 12, 3), dtype=np.uint8)
    means = images.reshape(3, 4, 3, 4, 3, 3).mean(axis=(2, 4))
    np.testing.assert_array_equal(bases.shrunk(images, 4), np.floor(means + 0.5).astype(np.uint8))
    np.testing.assert_array_equal(bases.shrunk(images, 12), images)


def test_all_or_some_of_each_class(scans: dict[str, mnist.Scans]) -> None:
    whole = bases.load(NOWHERE, False, Wanted("mnist")).splits["train"]
    np.testing.assert_array_equal(whole.images[np.arange(40)][..., 1], scans["train"].pixels)
    assert whole.labels["class"].tolist() == scans["train"].digit.tolist()
    some = bases.load(NOWHERE, False, Wanted("mnist", train_per_class=2, test_per_class=1))
    train = some.splits["train"]
    assert np.bincount(train.labels["class"]).tolist() == [2] * 10
    assert np.bincount(some.splits["test"].labels["class"]).tolist() == [1] * 10
    known = {image.tobytes(): digit for image, digit in zip(*scans["train"], strict=True)}
    shown = train.images[np.arange(20)][..., 0]
    assert [known[image.tobytes()] for image in shown] == train.labels["class"].tolist()
    other = bases.load(NOWHERE, False, Wanted("mnist", train_per_class=2, seed=1)).splits["train"]
    assert not np.array_equal(other.images[np.arange(20)][..., 0], shown)


def test_smaller_images_are_area_averages(scans: dict[str, mnist.Scans]) -> None:
    small = bases.load(NOWHERE, False, Wanted("mnist", side=14)).splits["test"].images
    assert small.shape == (20, 14, 14, 3)
    expected = bases.shrunk(scans["test"].pixels[[3, 8], ..., None], 14)
    np.testing.assert_array_equal(small[np.array([3, 8])], np.repeat(expected, 3, axis=3))
    with pytest.raises(HypersphereError, match=r"mnist: side: must divide 28, the images' own \(given: 10\)"):
        bases.load(NOWHERE, False, Wanted("mnist", side=10))


def test_digits_have_a_canvas_instead() -> None:
    made = bases.load(NOWHERE, False, Wanted("digits", side=16, train_per_class=2, test_per_class=1))
    assert made.splits["train"].images.shape == (20, 16, 16, 3)
    usual = bases.load(NOWHERE, False, Wanted("digits"))
    assert {name: split.images.shape for name, split in usual.splits.items()} == {
        "train": (2400, 12, 12, 3),
        "test": (1000, 12, 12, 3),
    }
    other = bases.load(NOWHERE, False, Wanted("digits", side=16, train_per_class=2, test_per_class=1, seed=1))
    assert not np.array_equal(other.splits["train"].images, made.splits["train"].images)


@pytest.mark.parametrize("download", [True, False])
@pytest.mark.parametrize(
    ("base", "reader", "asked"),
    [
        ("cifar10", "cifar", {"classes": 10, "human_labels": False}),
        ("cifar100", "cifar", {"classes": 100, "human_labels": False}),
        ("mnist", "mnist", {}),
        ("tiny_imagenet", "tiny_imagenet", {}),
    ],
)
def test_every_base_has_its_reader(
    base: Any, reader: str, asked: dict[str, int], download: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = Split(np.zeros((20, 8, 8, 3), np.uint8), {"class": np.arange(20) % 10})
    arrays = Arrays({"train": split, "test": split}, {"class": tuple("abcdefghij")}, {})
    told: list[Any] = []

    def read(root: Path, download: bool = True, **parameters: int) -> Arrays:
        told.append((root, download, parameters))
        return arrays

    monkeypatch.setattr(bases, reader, read)
    made = bases.load(NOWHERE, download, Wanted(base, train_per_class=1))
    assert told == [(NOWHERE, download, asked)]
    assert {name: len(split.images) for name, split in made.splits.items()} == {"train": 10, "test": 20}
