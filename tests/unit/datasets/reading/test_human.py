"""Human labels: nothing is opened unchecked.

Small files in the published formats stand for the real ones, with their own checksums; the last tests use the real
ones, and are skipped where they are not found.
"""

import hashlib
import io
import math
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.datasets import store
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.reading import human as module
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.human import human
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

from ....harm import flip
from ..miniatures import npy

FILES = tuple(module.PUBLISHED)
NAMES = [name.replace("_", "-", 1) for name in module.HumanLabels._fields]
RNG = np.random.default_rng(0)
LABELS = {name: RNG.integers(0, 10, (6, 10) if name.endswith("counts") else 6) for name in NAMES}


def archive(value: Any) -> bytes:
    """As torch.save wrote it with a numpy older than 2: protocol 2, and the old name of numpy's module."""
    pickled = pickle.dumps(value, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("archive/data.pkl", pickled)
        made.writestr("archive/version", "3\n")
    return buffer.getvalue()


def content_of(file: str) -> bytes:
    """Small labels as a published file has its own: coarse ones are lists there."""
    prefix = module.PICKLED.get(file)
    if prefix is None:
        return npy(LABELS["cifar10h-counts"])
    labels = {name.removeprefix(prefix): value for name, value in LABELS.items() if name.startswith(prefix)}
    return archive({name: value.tolist() if "coarse" in name else value for name, value in labels.items()})


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, server: Any) -> Any:
    """A server of three small files, whose checksums are taken for the published ones."""
    contents = {file: content_of(file) for file in FILES}
    for dataset in ("cifar10h", "cifar_n"):
        server.publish(dataset, {file: contents[file] for file in FILES if module.PUBLISHED[file] == dataset})
    for name, content in {**contents, **{f"{name}.npy": npy(labels) for name, labels in LABELS.items()}}.items():
        checksum = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(published.checksums(), f"human/{name}", ("sha256", checksum))
    return server


@pytest.fixture
def own(shelf: Any, tmp_path: Path) -> Path:
    """A data folder with an array to a file."""
    folder = tmp_path / "own" / "human"
    folder.mkdir(parents=True)
    for name, labels in LABELS.items():
        (folder / f"{name}.npy").write_bytes(npy(labels))
    return folder


def assert_small(labels: module.HumanLabels) -> None:
    assert list(labels._fields) == [name.replace("-", "_") for name in NAMES]
    for name, found in zip(NAMES, labels, strict=True):
        np.testing.assert_array_equal(found, LABELS[name])
        assert found.dtype == np.int64


def test_published_files_are_fetched_once_and_read(shelf: Any, tmp_path: Path) -> None:
    for fetching in (True, True, False):
        assert_small(human(tmp_path / "raw", fetching))
    assert sorted(shelf.log) == sorted(f"/{file}" for file in FILES)


def test_arrays_of_ones_own_are_read_and_no_pickle_is_opened(
    own: Path, shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "load", None)  # calling it would be a TypeError
    assert_small(human(own.parent, download=False))
    assert shelf.log == []


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_unopened_or_fetched_anew(
    shelf: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    human(tmp_path / "raw")
    path = tmp_path / "raw" / "human" / name
    flip(path)
    with monkeypatch.context() as patch:
        patch.setattr(module, "PUBLISHED", {name: module.PUBLISHED[name]})
        patch.setattr(torch, "load", None)
        with pytest.raises(HypersphereError):
            human(tmp_path / "raw", False)
    assert_small(human(tmp_path / "raw"))


@pytest.mark.parametrize("fetching", [True, False])
def test_a_damaged_array_is_refused(own: Path, fetching: bool, refused: Any) -> None:
    path = own / "cifar10n-worse_label.npy"
    flip(path)
    with refused():
        human(own.parent, fetching)


@pytest.mark.parametrize("name", ["cifar10h-counts", "cifar10n-aggre_label", "cifar100n-noisy_label"])
def test_what_is_missing_is_named_with_where_it_comes_from(own: Path, name: str, shelf: Any, approve: Any) -> None:
    (own / f"{name}.npy").unlink()
    with pytest.raises(HypersphereError) as caught:
        human(own.parent, False)
    approve(str(caught.value).replace(shelf.address, "SERVER"))


IMAGES = np.zeros((20, 2, 2, 3), np.uint8)
CLEAN = np.arange(20) % 10
FINE, COARSE = np.arange(20) * 5, np.arange(20)
VOTES = np.eye(10, dtype=np.int64)[CLEAN] * 40 + np.roll(np.eye(10, dtype=np.int64)[CLEAN], 1, axis=1) * 10
VOTES[0] = [7, 7, 0, 0, 0, 0, 0, 0, 0, 6]  # of two classes with most votes the first counts


def arrays(classes: int) -> Arrays:
    labels = {"class": CLEAN} if classes == 10 else {"class": FINE, "coarse": COARSE}
    names = {"class": tuple(f"class {i}" for i in range(classes))}
    if classes == 100:
        names["coarse"] = tuple(f"coarse {i}" for i in range(20))
    return Arrays({part: Split(IMAGES, labels) for part in ("train", "test")}, names, {"source": "made up"})


@pytest.fixture
def people() -> module.HumanLabels:
    """Each array differs from each other one."""
    tens = [(CLEAN + i) % 10 for i in range(6)]
    return module.HumanLabels(VOTES, *tens, FINE, FINE[::-1].copy(), COARSE, COARSE[::-1].copy())


def test_cifar10_gets_five_training_labels_and_one_for_testing(people: module.HumanLabels) -> None:
    found = module.add(arrays(10), people)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    names = ["class", *(f"cifar10n-{who}" for who in ("aggregate", "worst", "random-1", "random-2", "random-3"))]
    assert {name: labels.tolist() for name, labels in train.items()} == {
        name: ((CLEAN + i) % 10).tolist() for i, name in enumerate(names)
    }
    assert test.labels.keys() == {"class", "cifar10h"}
    assert test.labels["cifar10h"].tolist() == CLEAN.tolist()
    assert test.attributes["cifar10h-agreement"].tolist() == [7 / 20] + [0.8] * 19  # 40 of 50
    by_hand = -sum(share * math.log(share) for share in (7 / 20, 7 / 20, 6 / 20))
    assert test.attributes["cifar10h-entropy"][0] == pytest.approx(by_hand)
    assert set(found.class_names.values()) == {arrays(10).class_names["class"]}


def test_cifar100_gets_fine_and_coarse_training_labels(people: module.HumanLabels) -> None:
    found = module.add(arrays(100), people)
    store.check(found, "cifar")
    train = found.splits["train"].labels
    assert train["cifar100n"].tolist() == FINE[::-1].tolist()
    assert train["cifar100n-coarse"].tolist() == COARSE[::-1].tolist()
    assert found.class_names["cifar100n-coarse"] == found.class_names["coarse"]
    assert found.splits["test"].labels.keys() == {"class", "coarse"}


def test_cifar_adds_them_when_it_is_asked_to(
    tiny: Path, people: module.HumanLabels, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(module, "human", lambda *given: told.append(given) or people)
    monkeypatch.setattr(module, "add", lambda arrays, labels: arrays._replace(about={"people": labels}))
    assert "people" not in cifar(tiny.parent, False).about
    assert told == []
    assert cifar(tiny.parent, False, human_labels=True).about["people"] is people
    assert told == [(tiny.parent, False)]


@pytest.mark.shared_data
def test_real_labels_have_the_published_shares(
    unpacked: Callable[[str], Path], real_cifar10: Path, tmp_path: Path
) -> None:
    """CIFAR-10N's shares of wrong labels, and how often CIFAR-10H's most frequent choice is the official class, counted
    in the published arrays by hand."""
    (tmp_path / "human").symlink_to(unpacked("human") / "human")
    (tmp_path / "cifar-10-batches-py").symlink_to(real_cifar10 / "cifar-10-batches-py")
    found = cifar(tmp_path, False, human_labels=True)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    assert {name: round(100 * (labels != train["class"]).mean(), 2) for name, labels in train.items()} == {
        "class": 0,
        "cifar10n-aggregate": 9.01,
        "cifar10n-worst": 40.21,
        "cifar10n-random-1": 17.23,
        "cifar10n-random-2": 18.12,
        "cifar10n-random-3": 17.64,
    }
    assert round(100 * (test.labels["cifar10h"] == test.labels["class"]).mean(), 2) == 99.21
    assert test.attributes["cifar10h-agreement"].min() > 0.2
