"""CIFAR: nothing is unpickled unchecked; the archive is fetched once, read where it lies, and replaced if damaged.

A tiny set in CIFAR-10's format stands for the real files, which the last tests use.
"""

import io
import pickle
import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.reading import published
from hypersphere.errors import HypersphereError

from ...harm import HARMS
from .conftest import NAMES
from .miniatures import write

ARCHIVE = "cifar-10-python.tar.gz"


def packed(folder: Path) -> bytes:
    """The official archive, of other files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=0) as tar:
        tar.add(folder, arcname="cifar-10-batches-py")
    return buffer.getvalue()


@pytest.fixture
def own(tiny: Path, tmp_path: Path, server: Any) -> Path:
    """A folder of the user's own that holds only the archive, which is also published."""
    server.publish("cifar10", {ARCHIVE: packed(tiny)})
    return write(tmp_path / "own", server.shelf)


def test_cifar100_has_its_coarse_labels_beside_its_fine_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files as the set's page describes them, with two images each; labels by hand."""
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    contents: dict[str, dict[str, Any]] = {
        "meta": {"fine_label_names": ["apple", "bear", "bee"], "coarse_label_names": ["fruit", "animal"]},
        "train": {"data": np.zeros((2, 3072), np.uint8), "fine_labels": [2, 0], "coarse_labels": [1, 0]},
        "test": {"data": np.ones((2, 3072), np.uint8), "fine_labels": [1, 2], "coarse_labels": [1, 1]},
    }
    for name, content in contents.items():
        (folder / name).write_bytes(pickle.dumps(content))
        monkeypatch.setitem(published.checksums(), f"{folder.name}/{name}", ("sha256", files.sha256(folder / name)))
    arrays = cifar(tmp_path, False, classes=100)
    for name, expected in {
        "train": {"class": [2, 0], "coarse": [1, 0]},
        "test": {"class": [1, 2], "coarse": [1, 1]},
    }.items():
        assert {key: labels.tolist() for key, labels in arrays.splits[name].labels.items()} == expected
    assert arrays.class_names == {"class": ("apple", "bear", "bee"), "coarse": ("fruit", "animal")}
    assert arrays.splits["test"].images.min() == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_file_is_refused_before_anything_is_unpickled(
    tiny: Path, name: str, harm: str, unpickled: list[str]
) -> None:
    HARMS[harm](tiny / name)
    for fetching in (False, True):
        with pytest.raises(HypersphereError):
            cifar(tiny.parent, fetching)
    assert unpickled == []


def test_whole_files_are_unpickled(tiny: Path, unpickled: list[str]) -> None:
    """Control of the tests that nothing is: the spy does see what is."""
    cifar(tiny.parent, False)
    assert sorted(unpickled) == sorted(NAMES)


def test_a_folder_of_the_users_own_is_only_read(tiny: Path, own: Path, tmp_path: Path, server: Any) -> None:
    """Whether it holds the set unpacked, or only the archive, which has the same images."""
    found = []
    for root in (tiny.parent, own):
        before = {path: path.stat().st_mtime_ns for path in (root, *root.rglob("*"))}
        found.append(cifar(root, False))
        assert {path: path.stat().st_mtime_ns for path in (root, *root.rglob("*"))} == before
    for name, split in found[0].splits.items():
        np.testing.assert_array_equal(split.images, found[1].splits[name].images)
        assert split.labels["class"].tolist() == found[1].splits[name].labels["class"].tolist()
    with pytest.raises(HypersphereError):
        cifar(tmp_path / "empty", False)
    assert not (tmp_path / "empty").exists()
    assert server.log == []


@pytest.mark.parametrize("harm", ["other member", "no member", "linked member", "no archive"])
def test_an_archive_with_the_right_md5_and_the_wrong_content_is_refused(
    tiny: Path, own: Path, tmp_path: Path, server: Any, harm: str, unpickled: list[str]
) -> None:
    """md5 can be forged; the members' sha256 is what counts."""
    altered = tmp_path / "altered"
    shutil.copytree(tiny, altered)
    (altered / "data_batch_4").unlink()
    if harm == "other member":
        (altered / "data_batch_4").write_bytes(pickle.dumps({"data": 0}))
    if harm == "linked member":
        (altered / "data_batch_4").symlink_to(tiny / "data_batch_4")
    server.publish("cifar10", {ARCHIVE: b"junk" * 99 if harm == "no archive" else packed(altered)})
    write(own, server.shelf)
    with pytest.raises(HypersphereError) as caught:
        cifar(own, False)
    assert str(own / ARCHIVE) in str(caught.value)
    assert unpickled == []


@pytest.mark.shared_data
def test_real_cifar10_is_read(real_cifar10: Path) -> None:
    arrays = cifar(real_cifar10, False)
    train, test = (arrays.splits[name] for name in ("train", "test"))
    # the official description: 50,000 + 10,000 images of 32 × 32, 5,000 and 1,000 of each of ten classes
    assert train.images.shape == (50_000, 32, 32, 3)
    assert np.bincount(train.labels["class"]).tolist() == [5_000] * 10
    assert np.bincount(test.labels["class"]).tolist() == [1_000] * 10
    assert arrays.class_names["class"][6] == "frog"
    assert train.labels["class"][0] == 6  # the first training image is the well-known frog


@pytest.mark.shared_data
def test_real_cifar10_from_a_broken_download_to_a_prepared_dataset(
    real_cifar10: Path, tmp_path: Path, server: Any
) -> None:
    """Packed anew, so the tar's bytes and md5 are not the official ones; the members are."""
    server.publish("cifar10", {ARCHIVE: packed(real_cifar10 / "cifar-10-batches-py")})
    server.first = ["closed", "closed"]
    dataset = Dataset.model_validate({"name": "cifar10", "source": {"name": "cifar", "classes": 10}})
    prepared = store.open(store.prepare(dataset, tmp_path, None))
    assert len(server.log) == 3
    assert sorted(path.name for path in (tmp_path / "raw").glob("[!.]*")) == ["cifar-10-python.tar.gz"]
    assert not list((tmp_path / "raw").glob(".*.part"))
    store.verify(prepared.folder)
    for name, split in cifar(real_cifar10, False).splits.items():
        np.testing.assert_array_equal(prepared.split(name).images, split.images)
        assert prepared.split(name).labels["class"].tolist() == split.labels["class"].tolist()
