"""A part of a set: as many images as asked for, by class or by superclass."""

from pathlib import Path

import numpy as np
import pytest

from hypersphere.datasets.composing import bases
from hypersphere.datasets.part import part
from hypersphere.datasets.preparing import fitting
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

NOWHERE = Path("/nonexistent")


def people(arrays: Arrays) -> Arrays:
    """With a label of each training image by people, and their agreement about each test image."""
    train, test = (arrays.splits[name] for name in ("train", "test"))
    labelled = train._replace(labels={**train.labels, "people": np.arange(20) % 4})
    agreed = test._replace(attributes={"agreement": np.arange(20) / 20})
    names = {**arrays.class_names, "people": arrays.class_names["class"]}
    return arrays._replace(splits={"train": labelled, "test": agreed}, class_names=names)


@pytest.fixture
def cifar100(monkeypatch: pytest.MonkeyPatch) -> Arrays:
    """In place of CIFAR-100: four classes in two superclasses, five images each, in two splits."""
    labels = {"class": np.repeat(np.arange(4), 5), "coarse": np.repeat([1, 0, 0, 1], 5)}
    images = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), dtype=np.uint8)
    arrays = Arrays(
        {"train": Split(images, labels), "test": Split(images[::-1], labels)},
        {"class": ("oak", "cod", "ray", "fir"), "coarse": ("fish", "trees")},
        {"source": "made up", "licence": "none", "citation": "none"},
    )
    monkeypatch.setattr(
        bases, "cifar", lambda root, download, classes, human_labels: people(arrays) if human_labels else arrays
    )
    return arrays


def test_superclasses_replace_the_classes(cifar100: Arrays) -> None:
    found = part(NOWHERE, base="cifar100", labels="coarse", side=16, train_per_class=2, test_per_class=3)
    fitting.check(found, "datasets/part")
    assert found.class_names == {"class": ("fish", "trees")}
    for name, per_class in (("train", 2), ("test", 3)):
        split = found.splits[name]
        assert split.images.shape == (4 * per_class, 16, 16, 3)
        assert np.bincount(split.labels["class"]).tolist() == [2 * per_class] * 2
        assert list(split.labels) == ["class"]


def test_without_wishes_it_is_the_whole_set(cifar100: Arrays) -> None:
    found = part(NOWHERE, base="cifar100")
    for name, split in cifar100.splits.items():
        np.testing.assert_array_equal(found.splits[name].images[np.arange(20)], split.images)
        assert found.splits[name].labels["coarse"].tolist() == split.labels["coarse"].tolist()


def test_a_border_is_black_and_the_rest_as_without_it(cifar100: Arrays) -> None:
    plain, framed = (part(NOWHERE, base="cifar100", side=8, border=border) for border in (0, 2))
    fitting.check(framed, "datasets/part")
    chosen = np.array([3, 0, 19])
    for name, split in framed.splits.items():
        images = np.array(split.images[chosen])
        np.testing.assert_array_equal(images[:, 2:-2, 2:-2], plain.splits[name].images[chosen])
        assert images.shape == (3, 12, 12, 3)
        images[:, 2:-2, 2:-2] = 0
        assert not images.any()
        assert split.labels["class"].tolist() == plain.splits[name].labels["class"].tolist()


def test_labels_and_attributes_by_people_are_those_of_the_same_images(cifar100: Arrays) -> None:
    plain = part(NOWHERE, base="cifar100", train_per_class=2, test_per_class=3)
    found = part(NOWHERE, base="cifar100", train_per_class=2, test_per_class=3, human_labels=True)
    fitting.check(found, "datasets/part")
    for name, original in cifar100.splits.items():
        kept = len(found.splits[name].images)
        images = found.splits[name].images[np.arange(kept)]
        np.testing.assert_array_equal(images, plain.splits[name].images[np.arange(kept)])
        places = [next(i for i in range(20) if np.array_equal(image, original.images[i])) for image in images]
        if name == "train":
            assert found.splits[name].labels["people"].tolist() == [i % 4 for i in places]
        else:
            assert found.splits[name].attributes["agreement"].tolist() == [i / 20 for i in places]


def test_people_labelled_no_other_set() -> None:
    with pytest.raises(HypersphereError, match=r"^part: human_labels: people labelled cifar10 and cifar100"):
        part(NOWHERE, base="digits", human_labels=True)


def test_superclasses_that_there_are_not_are_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"^part: labels: digits has no superclasses$"):
        part(NOWHERE, base="digits", labels="coarse")
