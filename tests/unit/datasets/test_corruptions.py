"""A set with its corrupted test images: splits, labels, official rows, and images made in any pieces."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import part as part_module
from hypersphere.datasets import store
from hypersphere.datasets.corrupting import official
from hypersphere.datasets.corrupting.apply import BENCHMARK, corrupt
from hypersphere.datasets.corruptions import corruptions
from hypersphere.datasets.digits import digits
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "origin": "made", "train_per_class": 3, "test_per_class": 2}


def test_there_are_nineteen_times_five_corrupted_splits() -> None:
    made = corruptions(NOWHERE, **FEW)
    store.check(made, "datasets/corruptions")
    assert len(made.splits) == 2 + 19 * 5
    assert {"train", "test", "gaussian_noise-1", "jpeg_compression-5", "saturate-3"} <= made.splits.keys()
    labels = made.splits["test"].labels["class"]
    for name, split in made.splits.items():
        assert len(split.images) == (30 if name == "train" else 20)
        if name != "train":
            assert split.labels["class"].tolist() == labels.tolist()


def test_clean_splits_are_the_bases_and_corrupted_ones_are_of_the_test_images() -> None:
    made = corruptions(NOWHERE, only="fog pixelate", **FEW)
    clean = digits(NOWHERE, train_per_class=3, test_per_class=2)
    assert len(made.splits) == 2 + 2 * 5
    numbers = np.arange(20)
    for part in ("train", "test"):
        np.testing.assert_array_equal(made.splits[part].images, clean.splits[part].images)
    found = made.splits["fog-4"].images
    np.testing.assert_array_equal(found[numbers], corrupt(clean.splits["test"].images, "fog", 4, numbers, 0))
    np.testing.assert_array_equal(found[numbers[5:9]], found[numbers][5:9])


@pytest.mark.usefixtures("tiny")
def test_official_rows_are_the_severities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows for two test images: rows 0 and 1 are severity 1, rows 8 and 9 severity 5."""
    rows = np.arange(10, dtype=np.uint8)[:, None, None, None] * np.ones((1, 32, 32, 3), np.uint8)
    monkeypatch.setattr(official, "load", lambda root, download, base, names, tests: dict.fromkeys(names, rows))
    found = corruptions(tmp_path / "tiny", False, base="cifar10", only="snow")
    store.check(found, "datasets/corruptions")
    assert len(found.splits["train"].images) == 10
    numbers = np.arange(2)
    for severity in range(1, 6):
        images = found.splits[f"snow-{severity}"].images[numbers]
        assert images[:, 0, 0, 0].tolist() == [2 * severity - 2, 2 * severity - 1]
    assert "CIFAR-10-C" in found.about["source"]
    made = corruptions(tmp_path / "tiny", False, base="cifar10", origin="made", only="snow")
    assert "not their files" in made.about["source"]


def test_official_tiny_imagenet_has_fifteen_ways_and_the_clean_sets_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"class": np.array([1, 0])}
    split = Split(np.zeros((2, 64, 64, 3), np.uint8), labels)
    names = {"class": ("n01 goldfish", "n02 bullfrog")}
    about = {"source": "made up", "licence": "none", "citation": "none"}
    monkeypatch.setattr(
        part_module, "tiny_imagenet", lambda root, download: Arrays({"train": split, "test": split}, names, about)
    )
    asked: list[Any] = []

    def load(root: Path, download: bool, names: Any, ids: Any) -> dict[tuple[str, int], Split]:
        asked.append((names, ids))
        return {(name, severity): split for name in names for severity in range(1, 6)}

    monkeypatch.setattr(official, "load_tiny", load)
    found = corruptions(NOWHERE, False, base="tiny_imagenet")
    store.check(found, "datasets/corruptions")
    assert asked == [(BENCHMARK, ["n01", "n02"])]
    assert len(found.splits) == 2 + 15 * 5
    assert "Tiny-ImageNet-C" in found.about["source"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({**FEW, "only": "fog brigthness"}, "corruptions: only: 'brigthness' is not one .*did you mean brightness"),
        ({"base": "digits"}, "corruptions: origin: there are no official files of digits"),
        ({"base": "cifar10", "side": 16}, "official images are taken as they are"),
        ({"base": "cifar10", "test_per_class": 5}, "official images are taken as they are"),
    ],
)
def test_an_impossible_wish_is_a_sentence(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(HypersphereError, match=words) as caught:
        corruptions(NOWHERE, False, **asked)
    assert "\n" not in str(caught.value)
