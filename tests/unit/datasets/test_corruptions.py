"""Sets with corrupted test images: made here in any pieces, or read from the benchmark's own files."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import part
from hypersphere.datasets.corrupting import BENCHMARK, FUNCTIONS, corrupt
from hypersphere.datasets.corruptions import corruptions
from hypersphere.datasets.digits import digits
from hypersphere.datasets.types import Arrays, Split

from .miniatures import decoded, noise, npy, photograph, tar_gz, write


def test_corrupted_splits_are_of_the_test_images_and_have_their_labels() -> None:
    root, few, numbers = (
        Path("/nonexistent"),
        {"train_per_class": 3, "test_per_class": 2},
        np.arange(20),
    )
    made, clean = corruptions(root, base="digits", origin="made", **few), digits(root, **few)
    for name, split in made.splits.items():
        of = clean.splits.get(name, clean.splits["test"])
        assert split.labels["class"].tolist() == of.labels["class"].tolist()
        if name in clean.splits:
            np.testing.assert_array_equal(split.images[numbers], of.images[numbers])
    expected = corrupt(clean.splits["test"].images, numbers, "fog", 4, 0)
    np.testing.assert_array_equal(made.splits["fog-4"].images[numbers], expected)
    assert "not their files" in made.about["source"]


ARRAYS = {
    **{name: noise(number, 10, 32, 32, 3) for number, name in enumerate(FUNCTIONS)},
    "labels": np.tile([6, 7], 5).astype(np.uint8),  # those of the tiny set's test images
}


def test_official_rows_are_the_severities_and_other_labels_and_a_missing_file_are_sentences(
    tiny: Path, server: Any, refused: Any
) -> None:
    """Ten rows for two test images: rows 0 and 1 are severity 1, rows 8 and 9 severity 5.

    Labels in another order are refused though the checksum is right: nothing published says that the order is the test
    set's.
    """

    def read(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        contents = {f"{name}.npy": npy(array) for name, array in arrays.items()}
        server.publish(
            "cifar10_c", {"CIFAR-10-C.tar": gzip.decompress(tar_gz(contents, "CIFAR-10-C"))}
        )
        write(tiny.parent, server.shelf)
        splits = corruptions(tiny.parent, False, base="cifar10").splits
        return {name: split.images[np.arange(2)] for name, split in splits.items() if "-" in name}

    found = read(ARRAYS)
    assert list(found) == [f"{name}-{severity}" for name in FUNCTIONS for severity in range(1, 6)]
    for name, images in found.items():
        corruption, severity = name.split("-")
        np.testing.assert_array_equal(
            images, ARRAYS[corruption][2 * int(severity) - 2 : 2 * int(severity)]
        )
    with refused("tiny/CIFAR-10-C.tar", "CIFAR-10-C/labels.npy"):
        read(ARRAYS | {"labels": ARRAYS["labels"][::-1].copy()})
    with refused("tiny/CIFAR-10-C.tar", "CIFAR-10-C/fog.npy"):
        read({name: array for name, array in ARRAYS.items() if name != "fog"})


def test_every_way_of_tiny_imagenet_is_a_split_with_its_own_labels(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two classes of two images each, in 15 ways, and the packer's hidden file."""
    split = Split(np.zeros((2, 64, 64, 3), np.uint8), {"class": np.array([1, 0])})
    about = {"source": "made up", "licence": "none", "citation": "none"}
    clean = Arrays(
        {"train": split, "test": split}, {"class": ("n01 goldfish", "n02 bullfrog")}, about
    )
    monkeypatch.setattr(part, "tiny_imagenet", lambda root, download: clean)
    ways = [
        f"{name}/{severity}/{one}"
        for name in BENCHMARK
        for severity in range(1, 6)
        for one in ("n02", "n01")
    ]
    files = [f"{way}/{image}.JPEG" for way in ways for image in ("test_7", "test_12")]
    tiny_c = {"fog/1/._n01": b"of another system"} | {
        name: photograph(n, 64, 64) for n, name in enumerate(files)
    }
    server.publish(
        "tiny_imagenet_c",
        {"Tiny-ImageNet-C.tar": gzip.decompress(tar_gz(tiny_c, "Tiny-ImageNet-C"))},
    )
    found = corruptions(tmp_path, base="tiny_imagenet")
    assert len(found.splits) == 2 + 15 * 5
    for name in ("fog-2", "snow-5"):
        way, split = name.replace("-", "/"), found.splits[name]
        assert split.labels["class"].tolist() == [0, 0, 1, 1]
        files = [
            f"{way}/{one}/{image}.JPEG" for one in ("n01", "n02") for image in ("test_12", "test_7")
        ]
        expected = np.stack([decoded(tiny_c[file]) for file in files])
        np.testing.assert_array_equal(split.images[np.arange(4)], expected)
