"""Sets with corrupted test images: made here in any pieces, or read from the benchmark's own files."""

import gzip
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import corruptions as module
from hypersphere.datasets import part
from hypersphere.datasets.corrupting import BENCHMARK, FUNCTIONS, corrupt
from hypersphere.datasets.corruptions import corruptions
from hypersphere.datasets.digits import digits
from hypersphere.datasets.reading.published import checksums
from hypersphere.datasets.types import Arrays, Split

from ...harm import flip
from .miniatures import decoded, npy, photograph, tar_gz, write

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "origin": "made", "train_per_class": 3, "test_per_class": 2}


def test_there_are_nineteen_times_five_corrupted_splits_of_the_test_images() -> None:
    made = corruptions(NOWHERE, **FEW)
    clean, numbers = digits(NOWHERE, train_per_class=3, test_per_class=2), np.arange(20)
    assert len(FUNCTIONS) == 19
    assert set(made.splits) == {*clean.splits, *(f"{name}-{s}" for name in FUNCTIONS for s in range(1, 6))}
    for name, split in made.splits.items():
        of = clean.splits.get(name, clean.splits["test"])
        assert split.labels["class"].tolist() == of.labels["class"].tolist()
        if name in clean.splits:
            np.testing.assert_array_equal(split.images[numbers], of.images[numbers])
    expected = corrupt(clean.splits["test"].images, numbers, "fog", 4, 0)
    np.testing.assert_array_equal(made.splits["fog-4"].images[numbers], expected)
    assert "not their files" in made.about["source"]


RNG = np.random.default_rng(0)
ARRAYS = {
    **{name: RNG.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8) for name in FUNCTIONS},
    "labels": np.tile([6, 7], 5).astype(np.uint8),  # those of the tiny set's test images
}
Publish = Callable[..., Path]


@pytest.fixture
def publish(tiny: Path, monkeypatch: pytest.MonkeyPatch, server: Any) -> Publish:
    """Arrays as CIFAR-10-C beside a tiny CIFAR-10, as a folder or as its archive, taken for the published ones."""

    def published(arrays: dict[str, np.ndarray], as_archive: bool) -> Path:
        contents = {f"{name}.npy": npy(array) for name, array in arrays.items()}
        for name, content in contents.items():
            monkeypatch.setitem(checksums(), f"CIFAR-10-C/{name}", ("md5", hashlib.md5(content).hexdigest()))
        archive = {"CIFAR-10-C.tar": gzip.decompress(tar_gz(contents, "CIFAR-10-C"))}
        server.publish("cifar10_c", archive)
        write(tiny.parent, archive if as_archive else {f"CIFAR-10-C/{name}": one for name, one in contents.items()})
        return tiny.parent

    return published


def load(root: Path) -> dict[str, np.ndarray]:
    splits = corruptions(root, False, base="cifar10").splits
    return {name: split.images[np.arange(2)] for name, split in splits.items() if "-" in name}


either = pytest.mark.parametrize("as_archive", [False, True], ids=["folder", "archive"])


@either
def test_official_rows_are_the_severities_read_in_place(publish: Publish, as_archive: bool) -> None:
    """Ten rows for two test images: rows 0 and 1 are severity 1, rows 8 and 9 severity 5."""
    root = publish(ARRAYS, as_archive)
    before = sorted(root.rglob("*"))
    found = load(root)
    assert list(found) == [f"{name}-{severity}" for name in FUNCTIONS for severity in range(1, 6)]
    for name, images in found.items():
        corruption, severity = name.split("-")
        np.testing.assert_array_equal(images, ARRAYS[corruption][2 * int(severity) - 2 : 2 * int(severity)])
    assert sorted(root.rglob("*")) == before
    assert "CIFAR-10-C" in corruptions(root, False, base="cifar10").about["source"]


@either
def test_labels_in_another_order_are_a_sentence(publish: Publish, as_archive: bool, refused: Any) -> None:
    """Though the checksum is right: nothing published says that the order is the test set's."""
    root = publish(ARRAYS | {"labels": ARRAYS["labels"][::-1].copy()}, as_archive)
    with refused():
        load(root)


def test_a_damaged_file_and_an_archive_that_lacks_one_are_sentences(publish: Publish, refused: Any) -> None:
    root = publish(ARRAYS, as_archive=False)
    flip(root / "CIFAR-10-C" / "snow.npy")
    with refused():
        load(root)
    shutil.rmtree(root / "CIFAR-10-C")
    publish({name: array for name, array in ARRAYS.items() if name != "fog"}, as_archive=True)
    with refused():
        load(root)


@pytest.fixture
def tiny_c(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Files of Tiny-ImageNet-C: two classes of two images each, in 15 ways, and the packer's hidden file."""
    monkeypatch.setattr(module, "TINY_PER_CLASS", 2)
    split = Split(np.zeros((2, 64, 64, 3), np.uint8), {"class": np.array([1, 0])})
    about = {"source": "made up", "licence": "none", "citation": "none"}
    clean = Arrays({"train": split, "test": split}, {"class": ("n01 goldfish", "n02 bullfrog")}, about)
    monkeypatch.setattr(part, "tiny_imagenet", lambda root, download: clean)
    ways = [f"{name}/{severity}/{one}" for name in BENCHMARK for severity in range(1, 6) for one in ("n02", "n01")]
    files = [f"{way}/{image}.JPEG" for way in ways for image in ("test_7", "test_12")]
    return {"fog/1/._n01": b"of another system"} | {name: photograph(n, 64, 64) for n, name in enumerate(files)}


@pytest.mark.parametrize("kind", ["folder", "archive", "server"])
def test_every_way_of_tiny_imagenet_is_a_split_with_its_own_labels(
    kind: str, tiny_c: dict[str, bytes], tmp_path: Path, server: Any
) -> None:
    archive = {"Tiny-ImageNet-C.tar": gzip.decompress(tar_gz(tiny_c, "Tiny-ImageNet-C"))}
    server.publish("tiny_imagenet_c", archive)
    if kind != "server":
        own = {f"Tiny-ImageNet-C/{name}": content for name, content in tiny_c.items()}
        write(tmp_path, archive if kind == "archive" else own)
    found = corruptions(tmp_path, kind == "server", base="tiny_imagenet")
    assert len(found.splits) == 2 + 15 * 5
    for name in ("fog-2", "snow-5"):
        way, split = name.replace("-", "/"), found.splits[name]
        assert split.labels["class"].tolist() == [0, 0, 1, 1]
        files = [f"{way}/{one}/{image}.JPEG" for one in ("n01", "n02") for image in ("test_12", "test_7")]
        expected = np.stack([decoded(tiny_c[file]) for file in files])
        np.testing.assert_array_equal(split.images[np.arange(4)], expected)
    assert len(server.log) == (kind == "server")


def test_what_is_missing_is_a_sentence(tiny_c: dict[str, bytes], tmp_path: Path, refused: Any) -> None:
    folder = write(tmp_path / "Tiny-ImageNet-C", tiny_c)
    (folder / "snow" / "4" / "n02" / "test_7.JPEG").unlink()
    with refused():
        corruptions(tmp_path, False, base="tiny_imagenet")
