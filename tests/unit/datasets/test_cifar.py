"""CIFAR: nothing is unpickled unchecked, and a download arrives whole or not at all.

Most tests use a tiny set in CIFAR-10's format, so that they run without the real files; those marked ``shared_data``
use the real ones.
"""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.datasets import cifar as module
from hypersphere.datasets.cifar import cifar
from hypersphere.errors import HypersphereError

NAMES = tuple(module.SHA256[10])  # before a test replaces them; the tiny set's files are called alike
FAULTS = ["404", "wrong byte", "half a file", "cut short", "dropped", "stalled"]


@pytest.fixture
def unpickled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that pickle.load was called on."""
    names: list[str] = []
    load = pickle.load

    def spy(file: Any, **options: Any) -> Any:
        names.append(Path(file.name).name)
        return load(file, **options)

    monkeypatch.setattr(pickle, "load", spy)
    return names


def _visible(folder: Path) -> list[str]:
    """What lies in a folder, but for the lock files."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_arrays_are_the_files_content(tiny: Path) -> None:
    arrays = cifar(tiny.parent, False)
    # conftest: batch i holds two images of a keyed generator, labels i and i+1; channels first in the file
    expected = np.random.default_rng(1).integers(0, 256, (2, 3072), dtype=np.uint8).reshape(2, 3, 32, 32)
    np.testing.assert_array_equal(arrays.train_images[:2], expected.transpose(0, 2, 3, 1))
    assert arrays.train_labels.tolist() == [1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    assert arrays.test_labels.tolist() == [6, 7]
    assert arrays.train_labels.dtype == np.int64
    assert arrays.class_names[3] == "class 3"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("harm", ["flipped", "truncated", "missing"])
def test_a_damaged_file_is_refused_before_anything_is_unpickled(
    tiny: Path, name: str, harm: str, unpickled: list[str]
) -> None:
    path = tiny / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == "flipped":
        path.write_bytes(content)
    elif harm == "truncated":
        path.write_bytes(content[:-1])
    else:
        path.unlink()
    with pytest.raises(HypersphereError) as caught:
        cifar(tiny.parent, False)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert unpickled == []


def test_whole_files_are_unpickled(tiny: Path, unpickled: list[str]) -> None:
    """Control of the test above: the spy does see torchvision's calls."""
    cifar(tiny.parent, False)
    assert set(unpickled) == set(NAMES)


def test_a_folder_of_the_users_own_is_only_read(tiny: Path, tmp_path: Path) -> None:
    before = sorted(tiny.parent.rglob("*"))
    cifar(tiny.parent, False)
    assert sorted(tiny.parent.rglob("*")) == before
    empty = tmp_path / "empty"
    with pytest.raises(HypersphereError, match=r"data_root .*empty: holds no folder cifar-10-batches-py"):
        cifar(empty, False)
    assert not empty.exists()


def test_download(tiny: Path, tmp_path: Path, server: Any) -> None:
    server.offer(tiny)
    arrays = cifar(tmp_path / "raw")
    np.testing.assert_array_equal(arrays.train_images, cifar(tiny.parent, False).train_images)
    assert _visible(tmp_path / "raw") == ["cifar-10-batches-py"]
    server.fault = "404"  # what is there is not fetched again
    cifar(tmp_path / "raw")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_download_leaves_nothing_and_can_be_repeated(
    tiny: Path, tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch, fault: str, unpickled: list[str]
) -> None:
    monkeypatch.setattr(module, "STALLED", 0.5)
    server.offer(tiny)
    server.fault = fault
    with pytest.raises(HypersphereError) as caught:
        cifar(tmp_path / "raw")
    for words in (server.url, "cifar-10-python.tar.gz", str(tmp_path / "raw")):
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _visible(tmp_path / "raw") == []
    assert unpickled == []
    server.fault = ""
    assert len(cifar(tmp_path / "raw").train_images) == 10


@pytest.mark.parametrize("harm", ["other member", "no member", "no archive"])
def test_an_archive_with_the_right_md5_and_the_wrong_content_is_refused(
    tiny: Path, tmp_path: Path, server: Any, harm: str, unpickled: list[str]
) -> None:
    """md5 can be forged; the members' sha256 is what counts."""
    altered = tmp_path / "altered"
    shutil.copytree(tiny, altered)
    if harm == "other member":
        (altered / "data_batch_4").write_bytes(pickle.dumps({"data": 0}))
    else:
        (altered / "data_batch_4").unlink()
    server.offer(b"junk" * 99 if harm == "no archive" else altered)
    with pytest.raises(HypersphereError, match="could not be downloaded" if harm == "no archive" else "data_batch_4"):
        cifar(tmp_path / "raw")
    assert _visible(tmp_path / "raw") == []
    assert unpickled == []


def test_an_unreachable_server_is_a_sentence(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(module.SETS[10], "url", "http://127.0.0.1:9/cifar-10-python.tar.gz")
    with pytest.raises(HypersphereError, match=r"127\.0\.0\.1:9/cifar-10-python\.tar\.gz"):
        cifar(tmp_path / "raw")


@pytest.mark.shared_data
def test_constants_are_the_hashes_of_the_real_files(shared_data: Path) -> None:
    """The shared folder's manifest lists them, beside the md5 that torchvision publishes, checked on unpacking."""
    groups = json.loads((shared_data / "manifest.json").read_text())["groups"]
    for classes, official in module.SETS.items():
        real = {Path(item["path"]).name: item for item in groups[f"cifar{classes}"]}
        published = {**dict(official.train_list + official.test_list), official.meta["filename"]: official.meta["md5"]}
        assert module.SHA256[classes].keys() == published.keys()  # every file that torchvision unpickles
        for name, sha256 in module.SHA256[classes].items():
            assert (real[name]["sha256"], real[name]["md5"]) == (sha256, published[name])


@pytest.mark.shared_data
@pytest.mark.slow
def test_real_cifar10_is_read_and_a_flipped_byte_refused(
    real_cifar10: Path, tmp_path: Path, unpickled: list[str]
) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name in NAMES:
        (folder / name).symlink_to(real_cifar10 / "cifar-10-batches-py" / name)
        assert files.sha256(folder / name) == module.SHA256[10][name]
    arrays = cifar(tmp_path, False)
    # the official description: 50,000 + 10,000 images of 32 × 32, 5,000 and 1,000 of each of ten classes
    assert arrays.train_images.shape == (50_000, 32, 32, 3)
    assert np.bincount(arrays.train_labels).tolist() == [5_000] * 10
    assert np.bincount(arrays.test_labels).tolist() == [1_000] * 10
    assert arrays.class_names[6] == "frog"
    assert arrays.train_labels[0] == 6  # the first training image is the well-known frog
    unpickled.clear()
    content = bytearray((folder / "data_batch_3").read_bytes())
    content[1_000_000] ^= 1
    (folder / "data_batch_3").unlink()
    (folder / "data_batch_3").write_bytes(content)
    with pytest.raises(HypersphereError, match="data_batch_3: damaged"):
        cifar(tmp_path, False)
    assert unpickled == []


@pytest.mark.shared_data
@pytest.mark.slow
def test_real_cifar10_through_the_real_download_path(real_cifar10: Path, tmp_path: Path, server: Any) -> None:
    """Packed anew, so the tar's bytes and md5 are not the official ones; the members are."""
    server.offer(real_cifar10 / "cifar-10-batches-py")
    server.fault = "dropped"
    with pytest.raises(HypersphereError, match="could not be downloaded whole"):
        cifar(tmp_path)
    assert _visible(tmp_path) == []
    server.fault = ""
    assert len(cifar(tmp_path).test_images) == 10_000
