"""Biased FFHQ: classes and the attribute ``conflicting`` come from the images' names, as in the authors' reader.

A tiny set in the authors' layout stands for the real one.
"""

from pathlib import Path

import numpy as np
import pytest

from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.biased_ffhq import biased_ffhq
from hypersphere.errors import HypersphereError

from .miniatures import noise, picture, write

ALIGNED = ["0.5pct/align/0/7_0_0.png", "0.5pct/align/0/8_0_0.png", "0.5pct/align/1/9_1_1.png"]
OTHERS = ["0.5pct/conflict/0/3_0_1.png", "0.5pct/conflict/1/2_1_0.png"]
OUTSIDE = ["valid/4_0_1.png", "valid/5_1_1.png", "test/11_1_0.png", "test/10_0_0.png", "test/12_1_1.png"]
FILES = {name: picture(noise(place, 128, 128, 3)) for place, name in enumerate(ALIGNED + OTHERS + OUTSIDE)}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return write(tmp_path / "data" / "bffhq", FILES).parent


def test_classes_and_conflicts_are_those_of_the_names(own: Path, tmp_path: Path) -> None:
    """An image conflicts if the two numbers of its name differ (the authors' reader); the first is its class."""
    dataset = Dataset.model_validate({"name": "faces", "source": {"name": "biased_ffhq"}})
    prepared = store.open(store.prepare(dataset, tmp_path, own))
    order = {
        "train": ALIGNED + OTHERS,
        "valid": OUTSIDE[:2],
        "test": ["test/10_0_0.png", "test/11_1_0.png", "test/12_1_1.png"],
    }
    assert prepared.split_names == ("test", "train", "valid")
    for part, names in order.items():
        split = prepared.split(part)
        numbers = [name.split(".png")[0].split("_")[1:] for name in names]
        assert split.labels["class"].tolist() == [int(age) for age, _ in numbers]
        assert split.attributes["conflicting"].tolist() == [age != gender for age, gender in numbers]
        for image, name in zip(split.images, names, strict=True):
            np.testing.assert_array_equal(image, noise(list(FILES).index(name), 128, 128, 3))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"0.5pct/align/0/1_0_1.png": b"x"}, "align/0/1_0_1.png: by its name it belongs in conflict/0"),
        ({"0.5pct/conflict/0/1_1_0.png": b"x"}, "conflict/0/1_1_0.png: by its name it belongs in conflict/1"),
        ({"0.5pct/1_1_1.png": b"x"}, "0.5pct/1_1_1.png: by its name it belongs in align/1"),
        ({"test/face.png": b"x"}, "test/face.png: should be called <number>_<age>_<gender>.png"),
        ({"test/1_2_0.png": b"x"}, "test/1_2_0.png: should be called"),
        ({"valid/1_0_0.txt": b"x"}, "valid/1_0_0.txt: should be called"),
    ],
)
def test_an_image_that_is_misnamed_is_a_sentence(wrong: dict[str, bytes], words: str, own: Path) -> None:
    write(own / "bffhq", wrong)
    with pytest.raises(HypersphereError, match=words):
        biased_ffhq(own, False)


@pytest.mark.parametrize("part", ["0.5pct", "valid", "test"])
def test_a_part_that_is_missing_or_empty_is_a_sentence(part: str, own: Path, tmp_path: Path) -> None:
    folder = own / "bffhq" / part
    folder.rename(tmp_path / "away")
    with pytest.raises(HypersphereError, match=f"bffhq/{part}: no such folder; biased_ffhq reads 0.5pct, valid"):
        biased_ffhq(own, True)
    folder.mkdir()
    with pytest.raises(HypersphereError, match=f"bffhq/{part}: has no images"):
        biased_ffhq(own, False)
