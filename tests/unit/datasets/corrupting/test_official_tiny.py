"""Tiny-ImageNet-C, folder or archive: a miniature in its layout, decoded by Pillow; what is missing is a sentence."""

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hypersphere.datasets.corrupting import official
from hypersphere.errors import HypersphereError

IDS = ("n01", "n02")
RNG = np.random.default_rng(0)
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
