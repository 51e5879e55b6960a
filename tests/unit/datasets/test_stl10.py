"""STL-10: the binary files, as torchvision's reader finds them, from the folder, the archive and a server.

A tiny set in the official layout stands for the real one.
"""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from torchvision.datasets import STL10
from torchvision.transforms import Resize

from hypersphere.datasets import stl10 as module
from hypersphere.datasets import store
from hypersphere.datasets.stl10 import stl10
from hypersphere.datasets.types import Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

from . import miniatures

FILES = miniatures.stl10()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for part, count in miniatures.STL10_COUNTS.items():
        monkeypatch.setitem(module.IMAGES, part, count)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    miniatures.write(tmp_path / "own" / module.FOLDER, FILES)
    return tmp_path / "own"


@pytest.fixture
def packed(tmp_path: Path, server: Any) -> Path:
    """A data folder with the archive alone, which is also published."""
    server.publish("stl10", {module.ARCHIVE: miniatures.tar_gz(FILES, module.FOLDER)})
    miniatures.write(tmp_path / "packed", server.shelf)
    return tmp_path / "packed"


def agrees(arrays: Arrays, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images and labels are those of torchvision's reader, which is told not to compare checksums."""
    monkeypatch.setattr(STL10, "_check_integrity", lambda self: True)
    for part, split in arrays.splits.items():
        theirs = STL10(root, split=part)
        found = split.images[np.arange(len(split.images))]
        np.testing.assert_array_equal(found, theirs.data.transpose(0, 2, 3, 1))
        if part == "unlabeled":
            assert split.labels == {}
        else:
            assert split.labels["class"].tolist() == theirs.labels.tolist()
            assert list(arrays.class_names["class"]) == theirs.classes


def sentence(root: Path, **parameters: Any) -> str:
    with pytest.raises(HypersphereError) as caught:
        stl10(root, False, **parameters)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_images_are_those_of_torchvisions_reader(own: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for root in (own, packed):
        arrays = stl10(root, False)
        assert {part: len(split.images) for part, split in arrays.splits.items()} == miniatures.STL10_COUNTS
        agrees(arrays, own, monkeypatch)


def test_images_may_be_read_in_parts(own: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With gaps, and again from the start: a .tar.gz is then read anew."""
    monkeypatch.setattr(module, "AT_ONCE", 4)
    whole = stl10(own, False).splits["train"].images[np.arange(30)]
    for root in (own, packed):
        images = stl10(root, False).splits["train"].images
        for numbers in ([3, 4, 5, 9, 11, 12, 13, 14, 15, 16, 29], [0], [], list(range(30))):
            np.testing.assert_array_equal(images[np.array(numbers, int)], whole[numbers])


def test_resized_images_are_torchvisions_and_unlabelled_ones_may_be_left_out(own: Path) -> None:
    whole = stl10(own, False).splits["test"].images[np.arange(20)]
    arrays = stl10(own, False, size=64, unlabeled=False)
    assert arrays.splits.keys() == {"train", "test"}
    for image, found in zip(whole, arrays.splits["test"].images[np.arange(20)], strict=True):
        np.testing.assert_array_equal(found, np.asarray(Resize(64)(Image.fromarray(image))))


@pytest.mark.parametrize("name", [name for name in FILES if name != "fold_indices.txt"])
def test_half_of_the_set_is_a_sentence_that_names_the_missing_file(name: str, own: Path, packed: Path) -> None:
    (own / module.FOLDER / name).unlink()
    assert sentence(own) == f"{own / module.FOLDER / name}: the file is missing"


def _replaced(name: str, content: bytes) -> dict[str, bytes]:
    return {**FILES, name: content}


HARMS: dict[str, tuple[dict[str, bytes], str]] = {
    "short images": (
        _replaced("test_X.bin", FILES["test_X.bin"][:-1]),
        "test_X.bin: has 552,959 bytes, and 20 images of 96 × 96 pixels have 552,960",
    ),
    "another version": (
        _replaced("train_X.bin", b"MATLAB 5.0 MAT-file" * 9),
        "train_X.bin: has 171 bytes, and 30 images of 96 × 96 pixels have 829,440",
    ),
    "label 0": (
        _replaced("train_y.bin", b"\0" + FILES["train_y.bin"][1:]),
        "train_y.bin: has the label 0, and labels are from 1 to 10",
    ),
    "label 11": (
        _replaced("test_y.bin", FILES["test_y.bin"][:-1] + b"\x0b"),
        "test_y.bin: has the label 11, and labels are from 1 to 10",
    ),
    "few labels": (
        _replaced("train_y.bin", FILES["train_y.bin"][:-2]),
        "train_y.bin: has 28 labels for 30 images",
    ),
    "few names": (
        _replaced("class_names.txt", b"cat dog"),
        "class_names.txt: names 2 classes, and STL-10 has 10",
    ),
}


@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("harm", HARMS)
def test_files_that_are_not_as_published_are_a_sentence(harm: str, packing: bool, tmp_path: Path, server: Any) -> None:
    files, words = HARMS[harm]
    if packing:
        server.publish("stl10", {module.ARCHIVE: miniatures.tar_gz(files, module.FOLDER)})
        miniatures.write(tmp_path, server.shelf)
        assert sentence(tmp_path) == f"{tmp_path / module.ARCHIVE}: {module.FOLDER}/{words}"
    else:
        miniatures.write(tmp_path / module.FOLDER, files)
        assert sentence(tmp_path) == f"{tmp_path / module.FOLDER}/{words}"


def test_an_archive_without_a_file_of_the_set_is_a_sentence(tmp_path: Path, server: Any) -> None:
    """As that of the MATLAB version, or one packed by somebody else."""
    files = {name: content for name, content in FILES.items() if name != "unlabeled_X.bin"}
    server.publish("stl10", {module.ARCHIVE: miniatures.tar_gz(files, module.FOLDER)})
    miniatures.write(tmp_path, server.shelf)
    assert sentence(tmp_path).endswith("stl10_binary/unlabeled_X.bin: the file is missing")
    assert len(stl10(tmp_path, False, unlabeled=False).splits) == 2  # control


@pytest.mark.parametrize("size", [96, 64])
def test_memory_stays_below_a_hundred_megabytes(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four thousand images of 111 MB, in a file with a hole; numpy reports its arrays to tracemalloc.

    Pieces are as in a release: 32 MB of what is written. All images at once are the control.
    """
    count = 4_000
    monkeypatch.setitem(module.IMAGES, "unlabeled", count)
    folder = miniatures.write(tmp_path / module.FOLDER, FILES)
    with (folder / "unlabeled_X.bin").open("r+b") as handle:
        handle.truncate(count * module.BYTES)

    def peak(images: Pieces) -> int:
        tracemalloc.start()
        store.write_images(tmp_path / "images.npy", images, np.arange(count))
        measured = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return measured

    split: Split = stl10(tmp_path, False, size=size).splits["unlabeled"]
    assert peak(split.images) < 100 * 2**20
    assert (tmp_path / "images.npy").stat().st_size == 128 + count * size * size * 3
    monkeypatch.setattr(store, "PIECE", 2**30)
    monkeypatch.setattr(module, "AT_ONCE", count)
    assert peak(split.images) > count * module.BYTES
