"""Tiny ImageNet: from the official .zip, its folder, or a server; validation images sorted by their annotations.

A tiny set in the official layout stands for the real one. Expected pixels are Pillow's own, and expected classes are
read off the annotations here.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from torchvision.datasets import ImageFolder

from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets import tiny_imagenet as module
from hypersphere.datasets.tiny_imagenet import tiny_imagenet
from hypersphere.errors import HypersphereError

from . import miniatures

FILES = miniatures.tiny_imagenet()
DATASET = {"name": "tiny", "source": {"name": "tiny_imagenet"}}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLASSES", len(miniatures.TINY_IDS))
    monkeypatch.setattr(module, "PER_CLASS", miniatures.TINY_PER_CLASS)
    monkeypatch.setattr(module, "TESTED", miniatures.TINY_TESTED)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    miniatures.write(tmp_path / "own" / module.FOLDER, FILES)
    return tmp_path / "own"


@pytest.fixture
def packed(tmp_path: Path, server: Any) -> Path:
    server.publish("tiny_imagenet", {module.ARCHIVE: miniatures.zipped(FILES, module.FOLDER)})
    miniatures.write(tmp_path / "packed", server.shelf)
    return tmp_path / "packed"


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def test_training_images_are_those_of_torchvisions_reader(own: Path, packed: Path) -> None:
    """Which takes classes in the order of their names, too; the grey image is repeated in three channels."""
    theirs = ImageFolder(own / module.FOLDER / "train")
    for root in (own, packed):
        arrays = tiny_imagenet(root, False)
        train = arrays.splits["train"]
        assert train.labels["class"].tolist() == theirs.targets
        found = train.images[np.arange(len(theirs))]
        for image, (expected, _) in zip(found, theirs, strict=True):
            np.testing.assert_array_equal(image, np.asarray(expected))
        assert [name.split()[0] for name in arrays.class_names["class"]] == theirs.classes
        assert arrays.class_names["class"][1] == "n02124075 Egyptian cat"


def test_validation_images_get_the_classes_of_the_annotations(own: Path, packed: Path) -> None:
    classes = sorted(miniatures.TINY_IDS)
    for root in (own, packed):
        test = tiny_imagenet(root, False).splits["test"]
        for number, line in enumerate(FILES["val/val_annotations.txt"].decode().splitlines()):
            name, identifier, *_ = line.split("\t")
            assert test.labels["class"][number] == classes.index(identifier)
            np.testing.assert_array_equal(test.images[np.array([number])][0], pixels(FILES[f"val/images/{name}"]))


def _without(name: str) -> dict[str, bytes]:
    return {key: content for key, content in FILES.items() if key != name}


IMAGE = "train/n01443537/images/n01443537_1.JPEG"
ROWS = FILES["val/val_annotations.txt"]
HARMS: dict[str, tuple[dict[str, bytes], str]] = {
    "no ids": (_without("wnids.txt"), "wnids.txt: "),
    "few ids": (
        FILES | {"wnids.txt": b"n01443537\nn02124075\n"},
        "wnids.txt: lists 2 classes, and Tiny ImageNet has 3",
    ),
    "other ids": (
        FILES | {"wnids.txt": b"n01443537\nn02124075\nn00000000\n"},
        "train/n00000000/images/: holds 0 images, and should hold 2",
    ),
    "no words": (_without("words.txt"), "words.txt: "),
    "binary": (FILES | {"words.txt": b"\xff\xfe\x00"}, "words.txt: is not text in UTF-8"),
    "an image less": (_without(IMAGE), "train/n01443537/images/: holds 1 images, and should hold 2"),
    "no annotations": (_without("val/val_annotations.txt"), "val/val_annotations.txt: "),
    "a row less": (
        FILES | {"val/val_annotations.txt": ROWS.rpartition(b"val_3")[0]},
        "val/val_annotations.txt: lists 3 images, and should list 4",
    ),
    "unknown class": (
        FILES | {"val/val_annotations.txt": ROWS.replace(b"n02124075", b"n09999999", 1)},
        "val/val_annotations.txt: row 1: names no image and class of wnids.txt",
    ),
    "another layout": (
        FILES | {"val/val_annotations.txt": b"val_0.JPEG,n02124075\n"},
        "val/val_annotations.txt: row 1: names no image and class of wnids.txt",
    ),
    "val image gone": (_without("val/images/val_2.JPEG"), "val/images/val_2.JPEG: the file is missing"),
}


@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("harm", HARMS)
def test_a_set_that_is_not_as_published_is_a_sentence(harm: str, packing: bool, tmp_path: Path, server: Any) -> None:
    files, words = HARMS[harm]
    if packing:
        server.publish("tiny_imagenet", {module.ARCHIVE: miniatures.zipped(files, module.FOLDER)})
        miniatures.write(tmp_path, server.shelf)
    else:
        miniatures.write(tmp_path / module.FOLDER, files)
    with pytest.raises(HypersphereError) as caught:
        tiny_imagenet(tmp_path, False)
    said = str(caught.value)
    assert said.startswith(str(tmp_path))
    assert f"{module.FOLDER}/{words}" in said
    assert "\n" not in said


@pytest.mark.parametrize("packing", [False, True])
def test_a_damaged_image_is_a_sentence_and_nothing_is_prepared(packing: bool, tmp_path: Path, server: Any) -> None:
    files = FILES | {IMAGE: FILES[IMAGE][:400]}
    if packing:
        server.publish("tiny_imagenet", {module.ARCHIVE: miniatures.zipped(files, module.FOLDER)})
        miniatures.write(tmp_path, server.shelf)
    else:
        miniatures.write(tmp_path / module.FOLDER, files)
    with pytest.raises(HypersphereError, match=f"{IMAGE}: damaged: cannot be decoded"):
        store.prepare(Dataset.model_validate(DATASET), tmp_path, tmp_path)
    assert [path.name for path in (tmp_path / "processed").iterdir() if path.suffix != ".lock"] == []
