"""MNIST: the official files, gzipped or not, as torchvision's reader finds them; damage is a sentence.

A tiny set in MNIST's format stands for the real files; the last tests use the real ones, if they are found.
"""

import gzip
import hashlib
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torchvision

from hypersphere.config.run import Dataset
from hypersphere.datasets import mnist as module
from hypersphere.datasets import store
from hypersphere.datasets.mnist import load, mnist
from hypersphere.datasets.reading import published
from hypersphere.errors import HypersphereError

NAMES = tuple(name for names in module.FILES.values() for name in names)


def idx(array: np.ndarray) -> bytes:
    """An IDX file, from the format's description on the set's page: 0, 0, 8 (unsigned bytes), number of axes, sizes."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Seven training and three test images, whose checksums are taken for the official ones."""
    rng = np.random.default_rng(0)
    made = {}
    for number, names in zip((7, 3), module.FILES.values(), strict=True):
        made[names[0]] = idx(rng.integers(0, 256, (number, 28, 28), dtype=np.uint8))
        made[names[1]] = idx(rng.integers(0, 10, number, dtype=np.uint8))
    for name, content in made.items():
        monkeypatch.setitem(published.checksums(), f"MNIST/raw/{name}", ("sha256", hashlib.sha256(content).hexdigest()))
    return made


@pytest.fixture
def own(contents: dict[str, bytes], tmp_path: Path) -> Path:
    """A data folder with the four files unpacked."""
    folder = tmp_path / "own" / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return tmp_path / "own"


def agrees(root: Path) -> None:
    """What we read is what torchvision's reader, an independent one, finds in the unpacked files."""
    arrays = mnist(root, False)
    for part, images in arrays.splits.items():
        theirs = torchvision.datasets.MNIST(root, train=part == "train")
        numbers = np.arange(len(theirs))
        found = images.images[numbers]
        assert found.shape == images.images.shape == (len(theirs), 28, 28, 3)
        for channel in range(3):
            np.testing.assert_array_equal(found[..., channel], theirs.data)
        assert images.labels["class"].tolist() == theirs.targets.tolist()
        assert images.labels["class"].dtype == np.int64


def sentence(root: Path, fetching: bool = False) -> str:
    with pytest.raises(HypersphereError) as caught:
        mnist(root, fetching)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_arrays_are_those_of_torchvisions_reader(own: Path) -> None:
    agrees(own)
    assert mnist(own, False).class_names["class"] == tuple("0123456789")
    scans = load(own, False)["test"]
    assert scans.pixels.shape == (3, 28, 28)


@pytest.mark.parametrize("name", NAMES)
def test_half_of_the_set_is_a_sentence_that_names_the_missing_file(own: Path, name: str) -> None:
    (own / module.FOLDER / name).unlink()
    assert sentence(own) == f"{own / module.FOLDER}: holds neither {name} nor {name}.gz, a file of MNIST"


@pytest.mark.parametrize("name", NAMES[:2])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("harm", ["flipped", "truncated", "empty", "folder"])
def test_a_damaged_file_is_a_sentence_and_stays(own: Path, name: str, packed: bool, harm: str) -> None:
    plain = own / module.FOLDER / name
    path = plain.with_name(f"{name}.gz") if packed else plain
    content = gzip.compress(plain.read_bytes()) if packed else plain.read_bytes()
    plain.unlink()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    harmed = {"flipped": flipped, "truncated": content[:-9], "empty": b"", "folder": b""}[harm]
    if harm == "folder":
        path.mkdir()
    else:
        path.write_bytes(harmed)
    said = sentence(own)
    assert said.startswith(f"{path}: cannot be read" if harm == "folder" else f"{path}: damaged: ")
    assert harm == "folder" or path.read_bytes() == harmed


@pytest.fixture(scope="module")
def real(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    script = [sys.executable, str(shared_data / "unpack.py"), str(folder), "--only", "mnist"]
    subprocess.run(script, check=True, capture_output=True)
    return folder


@pytest.mark.shared_data
def test_real_mnist_is_what_torchvision_reads(real: Path) -> None:
    agrees(real)
    # the set's page: 60,000 and 10,000 images; the first training digits are 5, 0, 4, 1, 9
    train, test = (mnist(real, False).splits[part] for part in ("train", "test"))
    assert (len(train.images), len(test.images)) == (60_000, 10_000)
    assert train.labels["class"][:5].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.shared_data
def test_real_mnist_is_prepared(real: Path, tmp_path: Path) -> None:
    dataset = Dataset.model_validate({"name": "mnist", "source": {"name": "mnist"}, "test_per_class": 3})
    prepared = store.open(store.prepare(dataset, tmp_path, real))
    theirs = torchvision.datasets.MNIST(real, train=False)
    split = prepared.split("test")
    assert np.bincount(split.labels["class"]).tolist() == [3] * 10
    np.testing.assert_array_equal(split.images[..., 1], theirs.data.numpy()[split.index])
    assert prepared.manifest["image_shape"] == [28, 28, 3]


@pytest.mark.shared_data
def test_constants_are_the_hashes_of_the_real_files(shared_data: Path) -> None:
    """The shared folder's manifest, and the md5 of the archives that torchvision publishes."""
    groups = json.loads((shared_data / "manifest.json").read_text())["groups"]
    for item in groups["mnist"]:
        assert published.checksums()[f"MNIST/raw/{Path(item['path']).name}"] == ("sha256", item["sha256"])
    listed = {name: file.md5 for name, file in published.table()["mnist"].files.items()}
    assert listed == dict(torchvision.datasets.MNIST.resources)
