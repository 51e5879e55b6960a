"""Named splits, labels and attributes come back as they were, and what there is not is a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError


def rich() -> Arrays:
    """Three splits of made-up images: two sorts of labels, attributes of three types, one split without labels."""
    pixels = np.random.default_rng(0).integers(0, 256, (9, 2, 2, 3), dtype=np.uint8)
    return Arrays(
        {
            "train": Split(
                pixels[:4],
                {"class": np.array([0, 1, 0, 1]), "coarse": np.array([2, 0, 1, 2])},
                {"conflicting": np.array([True, False, True, True]), "angle": np.array([0.0, 0.5, 1.0, 1.5])},
            ),
            "test": Split(pixels[4:7], {"class": np.array([1, 0, 1])}, {"colour": np.array(["red", "blue", "red"])}),
            "unlabelled": Split(pixels[7:], {}),
        },
        {"class": ("cat", "dog"), "coarse": ("a", "b", "c")},
        {"source": "made up", "licence": "none", "citation": "none"},
    )


@pytest.fixture
def prepare_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., store.Prepared]:
    """Prepare given arrays as dataset ``made_up``, and open it."""

    def prepared(arrays: Arrays, **kept: Any) -> store.Prepared:
        monkeypatch.setattr(registry, "load", lambda kind, name: lambda root, download: arrays)
        dataset = Dataset.model_validate({"name": "made_up", "source": {"name": "digits"}, **kept})
        return store.open(store.prepare(dataset, tmp_path, None))

    return prepared


def test_several_splits_labels_and_attributes_come_back_as_they_were(prepare_made_up: Any) -> None:
    prepared = prepare_made_up(rich())
    assert prepared.split_names == ("test", "train", "unlabelled")
    for name, source in rich().splits.items():
        split = prepared.split(name)
        np.testing.assert_array_equal(split.images, source.images)
        for found, expected in ((split.labels, source.labels), (split.attributes, source.attributes)):
            assert found.keys() == expected.keys()
            for array, values in expected.items():
                assert found[array].dtype == values.dtype
                assert found[array].tolist() == values.tolist()
        assert split.index.tolist() == list(range(len(source.images)))
    assert prepared.class_names("coarse") == ("a", "b", "c")
    assert (prepared.classes(), prepared.classes("coarse")) == (2, 3)
    assert prepared.manifest["counts"] == {"train": [2, 2], "test": [1, 2]}
    assert prepared.manifest["splits"]["unlabelled"] == {"images": 2, "labels": [], "attributes": []}
    assert {"train/attribute-conflicting.npy", "train/labels-coarse.npy"} <= prepared.manifest["files"].keys()


def test_images_are_dropped_with_all_that_is_known_of_them(prepare_made_up: Any) -> None:
    """One image of each class kept: whichever they are, their labels and attributes are theirs."""
    source = rich()
    prepared = prepare_made_up(source, imbalance={"head": 1, "ratio": 1}, test_per_class=1)
    for name, arrays in (("train", "conflicting angle"), ("test", "colour")):
        split, whole = prepared.split(name), source.splits[name]
        assert sorted(split.labels["class"]) == [0, 1]
        assert len(split.index) == 2
        np.testing.assert_array_equal(split.images, whole.images[split.index])
        for array in arrays.split():
            assert split.attributes[array].tolist() == whole.attributes[array][split.index].tolist()
        for label, values in whole.labels.items():
            assert split.labels[label].tolist() == values[split.index].tolist()
    assert prepared.split("unlabelled").index.tolist() == [0, 1]


def test_what_there_is_not_is_a_sentence_with_what_there_is(prepare_made_up: Any) -> None:
    prepared = prepare_made_up(rich())
    asked: list[tuple[Callable[[], Any], str]] = [
        (lambda: prepared.split("val"), "split 'val': no such name; there is test, train, unlabelled"),
        (lambda: prepared.class_names("fine"), "labels 'fine': no such name; there is class, coarse"),
        (lambda: prepared.classes("fine"), "labels 'fine': no such name; there is class, coarse"),
        (
            lambda: prepared.split("train").labels["fine"],
            "split train: labels 'fine': no such name; there is class, coarse",
        ),
        (
            lambda: prepared.split("test").attributes["angle"],
            "split test: attribute 'angle': no such name; there is colour",
        ),
        (
            lambda: prepared.split("unlabelled").labels["class"],
            "split unlabelled: labels 'class': no such name; there is none",
        ),
    ]
    for ask, said in asked:
        with pytest.raises(HypersphereError) as caught:
            ask()
        assert str(caught.value) == f"dataset made_up: {said}"


@pytest.mark.parametrize(
    ("kept", "split"), [({"test_per_class": 1}, "test"), ({"imbalance": {"head": 1, "ratio": 1}}, "train")]
)
def test_some_of_each_class_where_there_are_no_classes_is_a_sentence(
    prepare_made_up: Any, kept: dict[str, Any], split: str
) -> None:
    unlabelled = Arrays({"train": rich().splits["unlabelled"]}, {}, rich().about)
    with pytest.raises(
        HypersphereError, match=f"dataset made_up: {next(iter(kept))}: needs a split {split} with labels class"
    ):
        prepare_made_up(unlabelled, **kept)


def test_what_does_not_fit_together_is_not_written(tmp_path: Path, prepare_made_up: Any) -> None:
    source = rich()
    with pytest.raises(HypersphereError, match="datasets/digits: has no split train, only test"):
        prepare_made_up(source._replace(splits={"test": source.splits["test"]}))
    assert not list(tmp_path.glob("processed/made_up-*"))
