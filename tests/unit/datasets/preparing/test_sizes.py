"""A dataset's declared size is that of the arrays that its loader returns, and the published one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.preparing import sizes
from hypersphere.datasets.preparing.sizes import Sizes
from hypersphere.datasets.sentences import sentences
from hypersphere.datasets.types import CLASS

NOWHERE = Path("nowhere")


def dataset(source: dict[str, Any] | None, **fields: Any) -> Dataset:
    return Dataset.model_validate({"name": "some", "source": source, **fields})


def loaded(source: dict[str, Any], root: Path) -> Sizes:
    """The sizes of what the loader returns, the oracle."""
    parameters = {key: value for key, value in source.items() if key != "name"}
    arrays = registry.load("datasets", source["name"])(root, False, **parameters)
    (shape,) = {split.images.shape[1:] for split in arrays.splits.values()}
    counts = {name: len(split.images) for name, split in arrays.splits.items()}
    sentences = shape[0] if len(shape) == 2 else 0
    return Sizes(shape[1], len(arrays.class_names[CLASS]), counts, sentences=sentences)


FEW = {"train_per_class": 3, "test_per_class": 2}


@pytest.mark.parametrize(
    "source",
    [
        {"name": "digits"},
        {"name": "digits", "task": "turned", "canvas": 9, "shift": 0, **FEW},
        {"name": "part", "base": "digits", "side": 8},
        {"name": "part", "base": "digits", **FEW},
        {"name": "colored_mnist", "base": "digits", "conflicting_percent": 5, **FEW},
        {"name": "corrupted_cifar", "base": "digits", "conflicting_percent": 5, "side": 10},
        {"name": "corruptions", "base": "digits", "origin": "made", **FEW},
        {"name": "corruptions", "base": "digits", "origin": "made", "only": "fog snow fog", **FEW},
        {"name": "multidigits", "scans": "digits", "side": 8, "canvas": 32, "count": 2, "train": 5, "test": 4},
        {"name": "multidigits", "scans": "digits", "side": 6, "second_side": 9, "canvas": 32, "train": 5, "test": 4},
        {"name": "text_task", "task": "speech", "corpus": "chapters", "length": 12},
        {"name": "text_task", "task": "neighbours", "corpus": "chapters"},
    ],
)
def test_generated_sets_have_the_size_that_is_declared(source: dict[str, Any]) -> None:
    assert sizes.declared(dataset(source)) == loaded(source, NOWHERE)


def test_a_corpus_has_the_pairs_and_words_that_are_declared() -> None:
    source: dict[str, Any] = {"name": "sentences", "corpus": "chapters"}
    words = sentences(NOWHERE, corpus="chapters").splits["train"].attributes["words"]
    found = sizes.declared(dataset(source))
    assert found is not None
    assert found.words == pytest.approx(np.minimum(words, 30).mean(), abs=0.01)
    assert found._replace(words=0) == loaded(source, NOWHERE)


@pytest.mark.parametrize(
    ("task", "sentences", "classes", "splits"),
    [  # as papers print them
        ("mr", 1, 2, {"train": 10_662}),
        ("cr", 1, 2, {"train": 3_775}),
        ("subj", 1, 2, {"train": 10_000}),
        ("mpqa", 1, 2, {"train": 10_606}),
        ("trec", 1, 6, {"train": 5_452, "test": 500}),
        ("msrp", 2, 2, {"train": 4_076, "test": 1_725}),
    ],
)
def test_published_tasks(task: str, sentences: int, classes: int, splits: dict[str, int]) -> None:
    found = sizes.declared(dataset({"name": "text_task", "task": task, "corpus": "text/bookcorpus"}))
    assert found == Sizes(30, classes, splits, sentences=sentences)
    assert found.bytes == sum(splits.values()) * sentences * 30 * 4


def test_bookcorpus_is_known_roughly_and_before_any_copy_is_there() -> None:
    """Zhu et al. 2015: 74,004,228 sentences of 11,038 books; the last of each book has no next one."""
    found = sizes.declared(dataset({"name": "sentences", "corpus": "text/bookcorpus"}))
    assert found is not None
    assert sum(found.splits.values()) == pytest.approx(74_004_228 - 2 * 11_038, rel=1e-4)
    assert (found.about, found.words) == (True, 13)


@pytest.mark.parametrize(
    "source",
    [
        {"name": "cifar", "classes": 10},
        {"name": "part", "base": "cifar10", "side": 16, **FEW},
        {"name": "corrupted_cifar", "conflicting_percent": 5},
    ],
)
def test_cifar_has_the_size_that_is_declared(source: dict[str, Any], real_cifar10: Path) -> None:
    assert sizes.declared(dataset(source)) == loaded(source, real_cifar10)


@pytest.mark.parametrize(
    ("source", "side", "splits"),
    [  # as their authors publish them
        ({"name": "mnist"}, 28, {"train": 60_000, "test": 10_000}),
        ({"name": "cifar", "classes": 100}, 32, {"train": 50_000, "test": 10_000}),
        ({"name": "stl10", "size": 64}, 64, {"train": 5_000, "test": 8_000, "unlabeled": 100_000}),
        ({"name": "stl10", "unlabeled": False}, 96, {"train": 5_000, "test": 8_000}),
        ({"name": "tiny_imagenet"}, 64, {"train": 100_000, "test": 10_000}),
        ({"name": "flowers102", "train": "test", "test": "val"}, 128, {"train": 6_149, "test": 1_020}),
        ({"name": "biased_ffhq"}, 128, {"train": 19_200, "valid": 1_000, "test": 1_000}),
    ],
)
def test_published_sets(source: dict[str, Any], side: int, splits: dict[str, int]) -> None:
    found = sizes.declared(dataset(source))
    assert found is not None
    assert (found.side, found.splits, found.about) == (side, splits, False)
    assert found.bytes == sum(splits.values()) * side * side * 3


def test_official_corruptions_count_each_way_of_the_test_images() -> None:
    """19 corruptions of CIFAR and 15 of Tiny ImageNet, at five severities."""
    for base, ways in (("cifar10", 19 * 5), ("tiny_imagenet", 15 * 5)):
        found = sizes.declared(dataset({"name": "corruptions", "base": base}))
        assert found is not None
        assert sum(found.splits.values()) == found.train + 10_000 * (1 + ways)


@pytest.mark.parametrize(("classes", "head", "ratio", "images"), [(10, 5000, 1.5, 14_736), (100, 500, 1.034, 14_620)])
def test_imbalance_leaves_what_the_norms_paper_has(classes: int, head: int, ratio: float, images: int) -> None:
    """Its roughly 15,000 images; the exact sums follow from its head and ratio."""
    found = sizes.declared(dataset({"name": "cifar", "classes": classes}, imbalance={"head": head, "ratio": ratio}))
    assert found is not None
    assert found.train == images == sum(int(head * ratio**-i) for i in range(classes))
    assert found.splits["test"] == 10_000


def test_fewer_test_images() -> None:
    found = sizes.declared(dataset({"name": "cifar", "classes": 100}, test_per_class=20))
    assert found is not None
    assert found.splits == {"train": 50_000, "test": 2_000}


def test_a_rough_number_says_so() -> None:
    found = sizes.declared(dataset({"name": "imagenet100"}))
    assert found is not None
    assert found.about


def test_what_is_not_known_is_not_guessed() -> None:
    assert sizes.declared(dataset(None)) is None
    assert sizes.declared(dataset({"name": "folder", "path": "mine", "size": 32})) is None
    assert sizes.declared(dataset({"name": "sentences", "corpus": "mine"})) is None


def test_a_prepared_copy_knows_better(tmp_path: Path) -> None:
    mine = dataset({"name": "folder", "path": "mine", "size": 32})
    assert sizes.of(mine, tmp_path) is None
    splits = {"train": {"images": 7}, "test": {"images": 3}}
    manifest = {"splits": splits, "image_shape": [32, 32, 3], "class_names": {"class": ["a", "b"]}}
    files.write_json(tmp_path / "manifest.json", manifest)
    assert sizes.of(mine, tmp_path) == Sizes(32, 2, {"train": 7, "test": 3})
    files.write_json(tmp_path / "manifest.json", {"schema": 0})
    assert sizes.of(mine, tmp_path) is None


def test_a_prepared_corpus_of_ones_own_knows_its_words(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    book = "\n\n".join(f"Sentence {i} has {'very ' * (i % 3)}few words." for i in range(40))
    (tmp_path / "mine" / "book.txt").write_text(book, encoding="utf-8")
    mine = dataset({"name": "sentences", "corpus": "mine", "length": 7})
    found = sizes.of(mine, store.prepare(mine, tmp_path / "data", tmp_path))
    # Of 38 sentences to train on the last is nobody's first; they have 6, 7 and 8 words and marks, by turns.
    assert found == Sizes(7, 1, {"train": 37, "test": 1}, sentences=2, words=pytest.approx((13 * 6 + 24 * 7) / 37))
