"""What a run is trained on: the training split's images, main labels and original numbers, whatever else there is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.store import Prepared
from hypersphere.errors import HypersphereError
from hypersphere.training.images import training_images
from hypersphere.training.trainers import image as trainer


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


def test_other_labels_by_name(tmp_path: Path) -> None:
    data = prepared(tmp_path, {"train": ["class", "digit_2"]})
    assert training_images(data, "digit_2").labels.tolist() == [0, 1]
    with pytest.raises(HypersphereError, match=r"^dataset two: .*'digit_3'"):
        training_images(data, "digit_3")


@pytest.mark.parametrize(("labels", "expected"), [({}, [0, 0]), ({"labels": "digit_2"}, [0, 1])])
def test_a_method_is_trained_on_the_labels_that_it_names(
    labels: dict[str, str],
    expected: list[int],
    make_run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two sets of labels, which differ in the second image."""
    run = make_run(method={"name": "supervised", **labels}, objective={"name": "cross_entropy"})
    monkeypatch.setattr(trainer, "train", lambda run, images, *rest: images.labels.tolist())
    data = prepared(tmp_path, {"train": ["class", "digit_2"]})
    np.save(tmp_path / "train" / "labels-class.npy", np.array([0, 0]))
    assert trainer.pretrain(run, data, None, tmp_path) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("splits", [{"test": ["class"]}, {"train": ["coarse"]}])
def test_what_lacks_is_a_sentence(tmp_path: Path, splits: dict[str, list[str]]) -> None:
    with pytest.raises(HypersphereError, match=r"^dataset two: .*(split 'train'|'class')"):
        training_images(prepared(tmp_path, splits))
