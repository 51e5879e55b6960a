"""Flowers102: as torchvision's reader finds it, from the archive, the unpacked folder, or a server.

Eight photographs in the official layout stand for the real 8,189.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torchvision.datasets import Flowers102
from torchvision.transforms import CenterCrop, Compose, Resize

from hypersphere.datasets import flowers102 as module
from hypersphere.datasets.flowers102 import flowers102
from hypersphere.errors import HypersphereError

from . import miniatures

IMAGES, TABLES = miniatures.flowers102()
ARCHIVE = miniatures.tar_gz(IMAGES, "jpg")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, server: Any) -> None:
    """The miniature is published."""
    monkeypatch.setattr(module, "TOTAL", len(IMAGES))
    server.publish("flowers102", {**TABLES, module.ARCHIVE: ARCHIVE})


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Unpacked, as torchvision leaves it."""
    files = {**TABLES, **{f"jpg/{name}": content for name, content in IMAGES.items()}}
    miniatures.write(tmp_path / "own" / module.FOLDER, files)
    return tmp_path / "own"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    miniatures.write(tmp_path / "packed" / module.FOLDER, {**TABLES, module.ARCHIVE: ARCHIVE})
    return tmp_path / "packed"


@pytest.mark.parametrize(("train", "test"), [("train", "test"), ("test", "val")])
def test_images_are_those_of_torchvisions_reader(
    train: str, test: str, own: Path, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of their numbers; cut to a square of the shorter side and resized."""
    monkeypatch.setattr(Flowers102, "_check_integrity", lambda self: True)
    for root in (own, packed):
        arrays = flowers102(root, False, size=24, train=train, test=test)  # type: ignore[arg-type]
        for ours, theirs in (("train", train), ("test", test)):
            reader = Flowers102(own, split=theirs)
            order = np.argsort([str(path) for path in reader._image_files])
            split = arrays.splits[ours]
            assert split.labels["class"].tolist() == [reader._labels[place] for place in order]
            found = split.images[np.arange(len(order))]
            for image, place in zip(found, order, strict=True):
                photograph = reader[place][0]
                squared = Compose([CenterCrop(min(photograph.size)), Resize(24)])(photograph)
                np.testing.assert_array_equal(image, np.asarray(squared))
    assert {"train": 2, "val": 2, "test": 4}[train] == len(arrays.splits["train"].images)


def said_by(root: Path, **parameters: Any) -> str:
    with pytest.raises(HypersphereError) as caught:
        flowers102(root, False, **parameters)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_image_that_the_parts_list_and_the_folder_lacks_is_a_sentence(own: Path) -> None:
    path = own / module.FOLDER / "jpg" / "image_00005.jpg"
    path.unlink()
    assert said_by(own) == f"{path}: the file is missing; setid.mat lists it"
    assert len(flowers102(own, False, train="train", test="val").splits) == 2  # control: 5 is in the test part


@pytest.mark.parametrize(
    ("table", "content", "words"),
    [
        ("imagelabels.mat", miniatures.matlab(labels=[1, 2, 3]), "labels: must be 8 numbers from 1 to 102"),
        ("imagelabels.mat", miniatures.matlab(labels=[1, 2, 3, 1, 2, 3, 1, 103]), "labels: must be 8 numbers"),
        ("imagelabels.mat", miniatures.matlab(labels=[0, 2, 3, 1, 2, 3, 1, 1]), "labels: must be 8 numbers"),
        ("imagelabels.mat", miniatures.matlab(other=[1]), "holds no labels"),
        ("imagelabels.mat", b"words" * 99, "labels: cannot be read"),
        ("setid.mat", miniatures.matlab(trnid=[1, 9], tstid=[2]), "trnid: must be numbers from 1 to 8"),
        ("setid.mat", miniatures.matlab(trnid=[0], tstid=[2]), "trnid: must be numbers from 1 to 8"),
        ("setid.mat", miniatures.matlab(trnid=[1]), "holds no tstid"),
    ],
)
def test_tables_of_another_version_are_a_sentence(
    table: str, content: bytes, words: str, packed: Path, server: Any
) -> None:
    """Even if they had the published checksum, as these are made to."""
    server.publish("flowers102", {**TABLES, table: content, module.ARCHIVE: ARCHIVE})
    (packed / module.FOLDER / table).write_bytes(content)
    assert said_by(packed).startswith(f"{packed / module.FOLDER / table}: {words}")


def test_training_and_testing_on_one_part_is_refused(own: Path) -> None:
    assert "train and test: name the same part, val" in said_by(own, train="val", test="val")


def test_the_parts_are_called_as_torchvision_calls_them() -> None:
    assert Flowers102._splits_map == module.OFFICIAL
