"""A part of a set: as many images as asked for, by class or by superclass."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from hypersphere.datasets import part as module
from hypersphere.datasets.part import part
from hypersphere.datasets.types import Arrays, Split

NOWHERE = Path("/nonexistent")


@pytest.fixture
def cifar100(monkeypatch: pytest.MonkeyPatch) -> Arrays:
    """In place of CIFAR-100: four classes in two superclasses, five images each, in two splits."""
    labels = {"class": np.repeat(np.arange(4), 5), "coarse": np.repeat([1, 0, 0, 1], 5)}
    agreement = {"agreement": np.arange(20) / 20}
    images = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), dtype=np.uint8)
    arrays = Arrays(
        {"train": Split(images, labels), "test": Split(images[::-1], labels, agreement)},
        {"class": ("oak", "cod", "ray", "fir"), "coarse": ("fish", "trees")},
        {"source": "made up", "licence": "none", "citation": "none"},
    )
    monkeypatch.setattr(module, "cifar", Mock(return_value=arrays))
    return arrays


def test_superclasses_replace_the_classes(cifar100: Arrays) -> None:
    found = part(
        NOWHERE, base="cifar100", labels="coarse", side=16, train_per_class=2, test_per_class=3
    )
    assert found.class_names == {"class": ("fish", "trees")}
    for name, per_class in (("train", 2), ("test", 3)):
        split = found.splits[name]
        assert split.images.shape == (4 * per_class, 16, 16, 3)
        assert np.bincount(split.labels["class"]).tolist() == [2 * per_class] * 2
        assert list(split.labels) == ["class"]


def test_without_wishes_it_is_the_whole_set_and_a_border_is_black_around_the_same(
    cifar100: Arrays,
) -> None:
    found = part(NOWHERE, base="cifar100")
    plain, framed = (part(NOWHERE, base="cifar100", side=8, border=border) for border in (0, 2))
    chosen = np.array([3, 0, 19])
    for name, split in framed.splits.items():
        whole = cifar100.splits[name]
        np.testing.assert_array_equal(found.splits[name].images[np.arange(20)], whole.images)
        assert found.splits[name].labels["coarse"].tolist() == whole.labels["coarse"].tolist()
        images = np.array(split.images[chosen])
        np.testing.assert_array_equal(images[:, 2:-2, 2:-2], plain.splits[name].images[chosen])
        assert images.shape == (3, 12, 12, 3)
        images[:, 2:-2, 2:-2] = 0
        assert not images.any()
        assert split.labels["class"].tolist() == plain.splits[name].labels["class"].tolist()


def test_some_images_of_each_class_keep_their_labels_and_attributes(cifar100: Arrays) -> None:
    asked: dict[str, Any] = {"base": "cifar100", "train_per_class": 2, "test_per_class": 3}
    plain, other = (part(NOWHERE, **asked, seed=seed).splits for seed in (0, 1))
    found, _, about = part(NOWHERE, **asked, human_labels=True)
    module.cifar.assert_called_with(NOWHERE, True, classes=100, human_labels=True)
    assert about is cifar100.about
    for name, original in cifar100.splits.items():
        numbers = np.arange(4 * asked[f"{name}_per_class"])
        images = found[name].images[numbers]
        np.testing.assert_array_equal(images, plain[name].images[numbers])
        assert not np.array_equal(images, other[name].images[numbers])
        places = [
            next(i for i in range(20) if np.array_equal(image, original.images[i]))
            for image in images
        ]
        assert found[name].labels["class"].tolist() == original.labels["class"][places].tolist()
        assert found[name].labels["coarse"].tolist() == original.labels["coarse"][places].tolist()
    assert found["test"].attributes["agreement"].tolist() == [i / 20 for i in places]


def test_smaller_images_are_the_mean_of_each_block(
    monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    """Blocks by hand: (0 + 1 + 2 + 3) / 4 = 1.5, half up; and numpy's mean on noise."""
    block = np.array([[[[0], [1]], [[2], [3]]]], dtype=np.uint8)
    assert module.shrunk(block, 1).tolist() == [[[[2]]]]
    images = np.random.default_rng(0).integers(0, 256, (3, 12, 12, 3), dtype=np.uint8)
    means = images.reshape(3, 4, 3, 4, 3, 3).mean(axis=(2, 4))
    np.testing.assert_array_equal(module.shrunk(images, 4), np.floor(means + 0.5).astype(np.uint8))
    np.testing.assert_array_equal(module.shrunk(images, 12), images)
    scans = np.random.default_rng(0).integers(0, 256, (20, 28, 28, 3), dtype=np.uint8)
    made = Arrays(
        {"test": Split(scans, {"class": np.arange(20) % 10})}, {"class": ("a digit",) * 10}, {}
    )
    monkeypatch.setattr(module, "mnist", lambda root, download: made)
    small = part(NOWHERE, base="mnist", side=14).splits["test"].images[np.array([3, 8])]
    np.testing.assert_array_equal(small, module.shrunk(scans[[3, 8]], 14))
    with refused("mnist", "side"):
        part(NOWHERE, base="mnist", side=10)


def test_digits_have_a_canvas_instead() -> None:
    made = part(NOWHERE, base="digits", side=16, train_per_class=2, test_per_class=1)
    assert made.splits["train"].images.shape == (20, 16, 16, 3)
