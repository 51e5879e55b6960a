"""People's labels beside CIFAR's official ones: which go where, in which order, and the published shares.

Made-up labels stand for the real ones; the last tests use the real files, and are skipped where they are not found.
"""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.reading import human
from hypersphere.datasets.reading.human import HumanLabels
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

from ..conftest import NAMES

IMAGES = np.zeros((20, 2, 2, 3), np.uint8)
CLEAN = np.arange(20) % 10
FINE, COARSE = np.arange(20) * 5, np.arange(20)
VOTES = np.eye(10, dtype=np.int64)[CLEAN] * 40 + np.roll(np.eye(10, dtype=np.int64)[CLEAN], 1, axis=1) * 10


def arrays(classes: int) -> Arrays:
    labels = {"class": CLEAN} if classes == 10 else {"class": FINE, "coarse": COARSE}
    names = {"class": tuple(f"class {i}" for i in range(classes))}
    if classes == 100:
        names["coarse"] = tuple(f"coarse {i}" for i in range(20))
    return Arrays({part: Split(IMAGES, labels) for part in ("train", "test")}, names, {"source": "made up"})


@pytest.fixture
def people() -> HumanLabels:
    """Each array differs from each other one."""
    return HumanLabels(
        cifar10h_counts=VOTES,
        cifar10n_clean_label=CLEAN,
        cifar10n_aggre_label=(CLEAN + 1) % 10,
        cifar10n_worse_label=(CLEAN + 2) % 10,
        cifar10n_random_label1=(CLEAN + 3) % 10,
        cifar10n_random_label2=(CLEAN + 4) % 10,
        cifar10n_random_label3=(CLEAN + 5) % 10,
        cifar100n_clean_label=FINE,
        cifar100n_noisy_label=FINE[::-1].copy(),
        cifar100n_clean_coarse_label=COARSE,
        cifar100n_noisy_coarse_label=COARSE[::-1].copy(),
    )


def test_cifar10_gets_five_training_labels_and_one_for_testing(people: HumanLabels) -> None:
    found = human.add(arrays(10), people)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    assert {name: labels.tolist() for name, labels in train.items()} == {
        "class": CLEAN.tolist(),
        "cifar10n-aggregate": people.cifar10n_aggre_label.tolist(),
        "cifar10n-worst": people.cifar10n_worse_label.tolist(),
        "cifar10n-random-1": people.cifar10n_random_label1.tolist(),
        "cifar10n-random-2": people.cifar10n_random_label2.tolist(),
        "cifar10n-random-3": people.cifar10n_random_label3.tolist(),
    }
    assert test.labels.keys() == {"class", "cifar10h"}
    assert test.labels["cifar10h"].tolist() == CLEAN.tolist()
    assert test.attributes["cifar10h-agreement"].tolist() == [0.8] * 20  # 40 of 50
    assert set(found.class_names.values()) == {arrays(10).class_names["class"]}


def test_of_two_classes_with_most_votes_the_first_counts(people: HumanLabels) -> None:
    votes = VOTES.copy()
    votes[0] = [7, 7, 0, 0, 0, 0, 0, 0, 0, 6]
    test = human.add(arrays(10), people._replace(cifar10h_counts=votes)).splits["test"]
    assert test.labels["cifar10h"][0] == 0
    assert test.attributes["cifar10h-agreement"][0] == 7 / 20
    by_hand = -sum(share * math.log(share) for share in (7 / 20, 7 / 20, 6 / 20))
    assert test.attributes["cifar10h-entropy"][0] == pytest.approx(by_hand)


def test_cifar100_gets_fine_and_coarse_training_labels(people: HumanLabels) -> None:
    found = human.add(arrays(100), people)
    store.check(found, "cifar")
    train = found.splits["train"].labels
    assert train["cifar100n"].tolist() == FINE[::-1].tolist()
    assert train["cifar100n-coarse"].tolist() == COARSE[::-1].tolist()
    assert found.class_names["cifar100n-coarse"] == found.class_names["coarse"]
    assert found.splits["test"].labels.keys() == {"class", "coarse"}


@pytest.mark.parametrize(
    ("classes", "field", "words"),
    [
        (10, "cifar10n_clean_label", "cifar10n_clean_label: differs from the official labels of CIFAR-10's"),
        (100, "cifar100n_clean_label", "cifar100n_clean_label: differs from the official labels of CIFAR-100's"),
        (100, "cifar100n_clean_coarse_label", "cifar100n_clean_coarse_label: differs from the official labels"),
        (10, "cifar10h_counts", "cifar10h-counts: people's choices are not those of CIFAR-10's test images"),
    ],
)
def test_labels_of_images_in_another_order_are_refused(
    classes: int, field: str, words: str, people: HumanLabels
) -> None:
    shifted = people._replace(**{field: np.roll(getattr(people, field), 1, axis=0)})
    with pytest.raises(HypersphereError, match=words):
        human.add(arrays(classes), shifted)
    few = people._replace(**{field: getattr(people, field)[:-1]})
    with pytest.raises(HypersphereError, match=words):
        human.add(arrays(classes), few)


def test_cifar_adds_them_when_it_is_asked_to(tiny: Path, people: HumanLabels, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(human, "human", lambda *given: told.append(given) or people)
    monkeypatch.setattr(human, "add", lambda arrays, labels: arrays._replace(about={"people": labels}))
    assert "people" not in cifar(tiny.parent, False).about
    assert told == []
    assert cifar(tiny.parent, False, human_labels=True).about["people"] is people
    assert told == [(tiny.parent, False)]


def test_without_them_a_dataset_keeps_its_folder() -> None:
    """A default that is said is no other dataset; labels that are added make one."""
    sources: list[dict[str, Any]] = [{}, {"human_labels": False}, {"human_labels": True}]
    folders = [
        Dataset.model_validate({"name": "cifar10", "source": {"name": "cifar", "classes": 10, **one}}).folder
        for one in sources
    ]
    assert folders[0] == folders[1] != folders[2]


@pytest.mark.shared_data
def test_real_labels_have_the_published_shares(
    shared_data: Path, real_cifar10: Path, tmp_path: Path, unpickled: list[str]
) -> None:
    """CIFAR-10N's shares of wrong labels, and how often CIFAR-10H's most frequent choice is the official class, counted
    in the published arrays by hand. Two images of each class are prepared, and looked up by their numbers in the
    source."""
    script = [sys.executable, str(shared_data / "unpack.py"), str(tmp_path), "--only", "human"]
    subprocess.run(script, check=True, capture_output=True)
    (tmp_path / "cifar-10-batches-py").symlink_to(real_cifar10 / "cifar-10-batches-py")
    found = cifar(tmp_path, False, human_labels=True)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    noise = {
        name: round(100 * (labels != train["class"]).mean(), 2) for name, labels in train.items() if name != "class"
    }
    assert noise == {
        "cifar10n-aggregate": 9.01,
        "cifar10n-worst": 40.21,
        "cifar10n-random-1": 17.23,
        "cifar10n-random-2": 18.12,
        "cifar10n-random-3": 17.64,
    }
    assert round(100 * (test.labels["cifar10h"] == test.labels["class"]).mean(), 2) == 99.21
    assert test.attributes["cifar10h-agreement"].min() > 0.2
    dataset = Dataset.model_validate(
        {
            "name": "people",
            "source": {"name": "cifar", "classes": 10, "human_labels": True},
            "imbalance": {"head": 2, "ratio": 1, "keep": "first"},
            "test_per_class": 2,
        }
    )
    prepared = store.open(store.prepare(dataset, tmp_path, tmp_path))
    for part in ("train", "test"):
        split, whole = prepared.split(part), found.splits[part]
        for name, labels in whole.labels.items():
            assert split.labels[name].tolist() == labels[split.index].tolist()
    # the first images: the official file's first two of each class, found by hand
    labels = train["class"].tolist()
    firsts = sorted(number for number, label in enumerate(labels[:200]) if labels[:number].count(label) < 2)
    assert prepared.split("train").index.tolist() == firsts
    assert set(unpickled) == set(NAMES)
