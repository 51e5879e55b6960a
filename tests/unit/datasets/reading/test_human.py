"""Human labels: nothing is opened unchecked.

Small files in the published formats stand for the real ones, with their own checksums; the last test uses the real
ones, and is skipped where they are not found.
"""

import hashlib
import io
import math
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
from ..miniatures import npy, write

FILES = tuple(module.PUBLISHED)
NAMES = [name.replace("_", "-", 1) for name in module.HumanLabels._fields]
RNG = np.random.default_rng(0)
LABELS = {name: RNG.integers(0, 10, (6, 10) if name.endswith("counts") else 6) for name in NAMES}


def content_of(file: str) -> bytes:
    """Small labels as a published file has its own: coarse ones are lists there."""
    prefix = module.PICKLED.get(file)
    if prefix is None:
        return npy(LABELS["cifar10h-counts"])
    labels = {name.removeprefix(prefix): value for name, value in LABELS.items() if name.startswith(prefix)}
    buffer = io.BytesIO()
    torch.save({name: value.tolist() if "coarse" in name else value for name, value in labels.items()}, buffer)
    return buffer.getvalue()


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
    return write(tmp_path / "own" / "human", {f"{name}.npy": npy(labels) for name, labels in LABELS.items()})


def assert_small(labels: module.HumanLabels) -> None:
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
    """Also one of a right md5, which can be forged."""
    human(tmp_path / "raw")
    path = tmp_path / "raw" / "human" / name
    flip(path)
    with monkeypatch.context() as patch:
        patch.setattr(module, "PUBLISHED", {name: module.PUBLISHED[name]})
        patch.setattr(torch, "load", None)
        for require in (published.require, lambda *given: None):
            patch.setattr(published, "require", require)
            with pytest.raises(HypersphereError, match=name):
                human(tmp_path / "raw", False)
    assert_small(human(tmp_path / "raw"))


@pytest.mark.parametrize("fetching", [True, False])
def test_a_damaged_array_is_refused(own: Path, fetching: bool, refused: Any) -> None:
    flip(own / "cifar10n-worse_label.npy")
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
PEOPLE = module.HumanLabels(VOTES, *((CLEAN + i) % 10 for i in range(6)), FINE, FINE[::-1], COARSE, COARSE[::-1])
"""Each array differs from each other one."""


def test_cifar10_gets_five_training_labels_and_one_for_testing() -> None:
    names = {"class": tuple(f"class {i}" for i in range(10))}
    splits = {part: Split(IMAGES, {"class": CLEAN}) for part in ("train", "test")}
    found = module.add(Arrays(splits, names, {}), PEOPLE)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    added = ["class", *(f"cifar10n-{who}" for who in ("aggregate", "worst", "random-1", "random-2", "random-3"))]
    assert {name: labels.tolist() for name, labels in train.items()} == {
        name: ((CLEAN + i) % 10).tolist() for i, name in enumerate(added)
    }
    assert test.labels.keys() == {"class", "cifar10h"}
    assert test.labels["cifar10h"].tolist() == CLEAN.tolist()
    assert test.attributes["cifar10h-agreement"].tolist() == [7 / 20] + [0.8] * 19  # 40 of 50
    by_hand = -sum(share * math.log(share) for share in (7 / 20, 7 / 20, 6 / 20))
    assert test.attributes["cifar10h-entropy"][0] == pytest.approx(by_hand)
    assert set(found.class_names.values()) == {names["class"]}


def test_cifar100_gets_fine_and_coarse_training_labels() -> None:
    names = {"class": tuple(f"class {i}" for i in range(100)), "coarse": tuple(f"coarse {i}" for i in range(20))}
    splits = {part: Split(IMAGES, {"class": FINE, "coarse": COARSE}) for part in ("train", "test")}
    found = module.add(Arrays(splits, names, {}), PEOPLE)
    store.check(found, "cifar")
    train = found.splits["train"].labels
    assert train["cifar100n"].tolist() == FINE[::-1].tolist()
    assert train["cifar100n-coarse"].tolist() == COARSE[::-1].tolist()
    assert found.class_names["cifar100n-coarse"] == found.class_names["coarse"]
    assert found.splits["test"].labels.keys() == {"class", "coarse"}


def test_cifar_adds_them_when_it_is_asked_to(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(module, "human", lambda *given: told.append(given) or PEOPLE)
    monkeypatch.setattr(module, "add", lambda arrays, labels: arrays._replace(about={"people": labels}))
    assert "people" not in cifar(tiny.parent, False).about
    assert cifar(tiny.parent, False, human_labels=True).about["people"] is PEOPLE
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
    shares = [round(100 * (labels != train["class"]).mean(), 2) for labels in train.values()]
    assert shares == [0, 9.01, 40.21, 17.23, 18.12, 17.64]
    assert round(100 * (test.labels["cifar10h"] == test.labels["class"]).mean(), 2) == 99.21
    assert test.attributes["cifar10h-agreement"].min() > 0.2
