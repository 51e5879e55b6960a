"""The benchmark's own files: a miniature in their layout is read byte for byte; whatever differs is a sentence."""

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hypersphere.datasets.corrupting import official
from hypersphere.datasets.reading.published import checksums
from hypersphere.errors import HypersphereError

TESTS = np.array([3, 8], dtype=np.int64)
RNG = np.random.default_rng(0)
ARRAYS = {
    "fog": RNG.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8),
    "snow": RNG.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8),
    "labels": np.tile(TESTS, 5).astype(np.uint8),
}
Publish = Callable[[dict[str, np.ndarray]], Path]


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=array.dtype == object)
    return buffer.getvalue()


def tar(contents: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"CIFAR-10-C/{name}.npy")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any) -> Publish:
    """Arrays as CIFAR-10-C's official folder; their checksums are taken for the published ones."""

    def published(arrays: dict[str, np.ndarray]) -> Path:
        contents = {name: npy(array) for name, array in arrays.items()}
        folder = tmp_path / "CIFAR-10-C"
        folder.mkdir()
        for name, content in contents.items():
            (folder / f"{name}.npy").write_bytes(content)
        for name, content in contents.items():
            checksum = hashlib.md5(content).hexdigest()
            monkeypatch.setitem(checksums(), f"CIFAR-10-C/{name}.npy", ("md5", checksum))
        server.publish("cifar10_c", {"CIFAR-10-C.tar": tar(contents)})
        return folder

    return published


def packed(folder: Path) -> Path:
    """The folder's archive instead of it."""
    archive = folder.with_suffix(".tar")
    archive.write_bytes(tar({name: (folder / f"{name}.npy").read_bytes() for name in ARRAYS}))
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return archive


def load(root: Path, download: bool = False) -> dict[str, np.ndarray]:
    return official.load(root, download, "cifar10", ["fog", "snow"], TESTS)


def test_a_folder_is_read_byte_for_byte(publish: Publish, tmp_path: Path) -> None:
    publish(ARRAYS)
    found = load(tmp_path)
    assert list(found) == ["fog", "snow"]
    for name, images in found.items():
        assert isinstance(images, np.memmap)
        assert not images.flags.writeable
        np.testing.assert_array_equal(images, ARRAYS[name])


def test_an_archive_is_read_in_place(publish: Publish, tmp_path: Path) -> None:
    packed(publish(ARRAYS))
    found = load(tmp_path)
    for name in ("fog", "snow"):
        np.testing.assert_array_equal(found[name], ARRAYS[name])
    assert [path.name for path in tmp_path.iterdir()] == ["CIFAR-10-C.tar"]


@pytest.mark.parametrize("as_archive", [False, True])
@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("fog", ARRAYS["fog"][:9], r"fog\.npy: holds uint8 \(9, 32, 32, 3\), not uint8 \(10, 32, 32, 3\)"),
        ("snow", ARRAYS["snow"].astype(np.float32), r"snow\.npy: holds float32 \(10, 32, 32, 3\), not uint8"),
        ("snow", np.asfortranarray(ARRAYS["snow"]), r"snow\.npy: holds uint8"),
        ("fog", np.array([{"a": 1}], dtype=object), r"fog\.npy: holds object \(1,\), not uint8"),
        (
            "labels",
            ARRAYS["labels"][::-1].copy(),
            r"labels\.npy: does not repeat the labels of the test set of cifar10",
        ),
    ],
)
def test_another_size_type_or_order_is_a_sentence(
    publish: Publish, tmp_path: Path, name: str, array: np.ndarray, words: str, as_archive: bool
) -> None:
    """Though the checksum is right: what is published could change. Pickled objects are never opened."""
    folder = publish({**ARRAYS, name: array})
    if as_archive:
        packed(folder)
    with pytest.raises(HypersphereError, match=words) as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_missing_or_damaged_file_is_a_sentence(publish: Publish, tmp_path: Path) -> None:
    folder = publish(ARRAYS)
    content = bytearray((folder / "snow.npy").read_bytes())
    content[1000] ^= 1
    (folder / "snow.npy").write_bytes(content)
    with pytest.raises(HypersphereError, match=r"snow\.npy: damaged: its md5 is not the published one"):
        load(tmp_path)
    (folder / "snow.npy").unlink()
    with pytest.raises(HypersphereError, match=r"snow\.npy: the file is missing"):
        load(tmp_path)


def test_a_damaged_or_incomplete_archive_is_a_sentence(publish: Publish, tmp_path: Path, server: Any) -> None:
    archive = packed(publish(ARRAYS))
    with archive.open("ab") as handle:
        handle.write(b"\0")
    with pytest.raises(HypersphereError, match=r"CIFAR-10-C\.tar: damaged: .* with another md5 than the published one"):
        load(tmp_path)
    lacking = tar({name: npy(array) for name, array in ARRAYS.items() if name != "fog"})
    for content, words in ((lacking, r"CIFAR-10-C/fog\.npy: the file is missing"), (b"no tar", "cannot be read")):
        archive.write_bytes(content)
        server.publish("cifar10_c", {"CIFAR-10-C.tar": content})
        with pytest.raises(HypersphereError, match=words):
            load(tmp_path)


IDS = ("n01", "n02")
NAMES = ["fog", "snow"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes of two images each, at every severity of two corruptions."""
    monkeypatch.setattr(official, "TINY_PER_CLASS", 2)
    for name in NAMES:
        for severity in range(1, 6):
            for identifier in IDS:
                below = tmp_path / "own" / "Tiny-ImageNet-C" / name / str(severity) / identifier
                below.mkdir(parents=True)
                for file in ("test_7.JPEG", "test_12.JPEG"):
                    image = RNG.integers(0, 256, (8, 8, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)
                    Image.fromarray(image).save(below / file, quality=85)
    return tmp_path / "own" / "Tiny-ImageNet-C"


@pytest.fixture
def archive(folder: Path, tmp_path: Path, server: Any) -> Path:
    """The folder packed, in no order, as the server has it: with its folders and a hidden file of the packer's."""
    path = tmp_path / "packed" / "Tiny-ImageNet-C.tar"
    path.parent.mkdir()
    (folder / "fog" / "1" / "._n01").write_bytes(b"of another system")
    with tarfile.open(path, "w") as tar:
        for one in sorted(folder.rglob("*"), key=lambda one: one.name):
            tar.add(one, f"Tiny-ImageNet-C/{one.relative_to(folder)}", recursive=False)
    server.publish("tiny_imagenet_c", {path.name: path.read_bytes()})
    return path


def test_every_way_is_a_split_with_its_own_labels(folder: Path, archive: Path, tmp_path: Path, server: Any) -> None:
    """From the folder, from the archive, which is read in place, and from the server."""
    for root, download in ((folder.parent, False), (archive.parent, False), (tmp_path / "raw", True)):
        found = official.load_tiny(root, download, NAMES, IDS)
        assert list(found) == [(name, severity) for name in NAMES for severity in range(1, 6)]
        for (name, severity), split in found.items():
            assert split.labels["class"].tolist() == [0, 0, 1, 1]
            files = [folder / name / str(severity) / i / f for i in IDS for f in ("test_12.JPEG", "test_7.JPEG")]
            expected = np.stack([np.asarray(Image.open(file)) for file in files])
            np.testing.assert_array_equal(split.images[np.arange(4)], expected)
    assert len(server.log) == 1
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


def test_what_is_missing_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match=r"Tiny-ImageNet-C\.tar: the file is missing, and so is the folder"):
        official.load_tiny(tmp_path / "elsewhere", False, ["fog"], IDS)
    with pytest.raises(HypersphereError, match=r"Tiny-ImageNet-C/frost/1: the folder is missing"):
        official.load_tiny(folder.parent, False, ["frost"], IDS)
    (folder / "snow" / "4" / "n02" / "test_7.JPEG").unlink()
    with pytest.raises(HypersphereError, match=r"snow/4/n02: holds 1 image, and should hold 2"):
        official.load_tiny(folder.parent, False, ["snow"], IDS)
    official.load_tiny(folder.parent, False, ["fog"], IDS)  # the control: the other corruption is whole


def test_an_archive_that_is_damaged_or_lacks_something_is_a_sentence(archive: Path, server: Any) -> None:
    """Also if its md5 is right: what is published could change."""
    with pytest.raises(HypersphereError, match=r"Tiny-ImageNet-C/frost/1: the folder is missing"):
        official.load_tiny(archive.parent, False, ["frost"], IDS)
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-1])
    with pytest.raises(HypersphereError, match=r"\.tar: damaged: .* with another md5 than the published one"):
        official.load_tiny(archive.parent, False, NAMES, IDS)
    server.publish("tiny_imagenet_c", {archive.name: b"no archive"})
    archive.write_bytes(b"no archive")
    with pytest.raises(HypersphereError, match=r"\.tar: cannot be read"):
        official.load_tiny(archive.parent, False, NAMES, IDS)
