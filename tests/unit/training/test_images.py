"""What a run is trained on: the training split's images, main labels and original numbers, whatever else there is."""

from pathlib import Path

import numpy as np
import pytest

from hypersphere.datasets.store import Prepared
from hypersphere.errors import HypersphereError
from hypersphere.training.images import training_images


def prepared(folder: Path, splits: dict[str, list[str]]) -> Prepared:
    """Two images a split, each array with numbers of its own, with labels of the names given."""
    for i, (split, labels) in enumerate(splits.items()):
        (folder / split).mkdir()
        np.save(folder / split / "images.npy", np.full((2, 4, 4, 3), i, dtype=np.uint8))
        np.save(folder / split / "index.npy", np.array([7, 9 + i]))
        for j, label in enumerate(labels):
            np.save(folder / split / f"labels-{label}.npy", np.array([0, 10 * i + j]))
    about = {split: {"images": 2, "labels": labels, "attributes": []} for split, labels in splits.items()}
    return Prepared(folder, {"name": "two", "splits": about})


def test_training_split_and_main_labels(tmp_path: Path) -> None:
    found = training_images(prepared(tmp_path, {"test": ["class"], "train": ["coarse", "class"]}))
    assert (found.pixels == 1).all()
    assert found.labels.tolist() == [0, 11]
    assert found.numbers.tolist() == [7, 10]


@pytest.mark.parametrize("splits", [{"test": ["class"]}, {"train": ["coarse"]}])
def test_what_lacks_is_a_sentence(tmp_path: Path, splits: dict[str, list[str]]) -> None:
    with pytest.raises(HypersphereError, match=r"^dataset two: .*(split 'train'|'class')"):
        training_images(prepared(tmp_path, splits))
