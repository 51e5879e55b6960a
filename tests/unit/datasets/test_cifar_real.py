"""CIFAR-10, the real files: read, refused when damaged, and fetched; skipped where they are not found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config.run import Dataset
from hypersphere.datasets import cifar as module
from hypersphere.datasets import store
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.reading import published
from hypersphere.errors import HypersphereError

from .conftest import NAMES


@pytest.mark.shared_data
def test_constants_are_the_hashes_of_the_real_files(shared_data: Path) -> None:
    """The shared folder's manifest lists them, beside the md5 that torchvision publishes, checked on unpacking."""
    groups = json.loads((shared_data / "manifest.json").read_text())["groups"]
    for classes, official in module.SETS.items():
        real = {Path(item["path"]).name: item for item in groups[f"cifar{classes}"]}
        stated = {**dict(official.train_list + official.test_list), official.meta["filename"]: official.meta["md5"]}
        for name, md5 in stated.items():
            sha256 = published.checksums()[f"{official.base_folder}/{name}"][1]
            assert (real[name]["sha256"], real[name]["md5"]) == (sha256, md5)


@pytest.mark.shared_data
def test_real_cifar10_is_read_and_a_flipped_byte_refused(
    real_cifar10: Path, tmp_path: Path, unpickled: list[str]
) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name in NAMES:
        (folder / name).symlink_to(real_cifar10 / "cifar-10-batches-py" / name)
        assert files.sha256(folder / name) == published.checksums()[f"{folder.name}/{name}"][1]
    arrays = cifar(tmp_path, False)
    train, test = (arrays.splits[name] for name in ("train", "test"))
    # the official description: 50,000 + 10,000 images of 32 × 32, 5,000 and 1,000 of each of ten classes
    assert train.images.shape == (50_000, 32, 32, 3)
    assert np.bincount(train.labels["class"]).tolist() == [5_000] * 10
    assert np.bincount(test.labels["class"]).tolist() == [1_000] * 10
    assert arrays.class_names["class"][6] == "frog"
    assert train.labels["class"][0] == 6  # the first training image is the well-known frog
    unpickled.clear()
    content = bytearray((folder / "data_batch_3").read_bytes())
    content[1_000_000] ^= 1
    (folder / "data_batch_3").unlink()
    (folder / "data_batch_3").write_bytes(content)
    with pytest.raises(HypersphereError, match="data_batch_3: damaged"):
        cifar(tmp_path, False)
    assert unpickled == []


@pytest.mark.long
@pytest.mark.shared_data
def test_real_cifar10_from_a_broken_download_to_a_prepared_dataset(
    real_cifar10: Path, tmp_path: Path, server: Any, agrees_with_torchvision: Callable[[Any, Path], None]
) -> None:
    """Packed anew, so the tar's bytes and md5 are not the official ones; the members are."""
    server.offer(real_cifar10 / "cifar-10-batches-py")
    server.habits.first = ["closed", "closed"]
    dataset = Dataset.model_validate({"name": "cifar10", "source": {"name": "cifar", "classes": 10}})
    prepared = store.open(store.prepare(dataset, tmp_path, None))
    assert len(server.log) == 3
    assert sorted(path.name for path in (tmp_path / "raw").glob("[!.]*")) == ["cifar-10-python.tar.gz"]
    assert not list((tmp_path / "raw").glob(".*.part"))
    store.verify(prepared.folder)
    agrees_with_torchvision(prepared, real_cifar10)
