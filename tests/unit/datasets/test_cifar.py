"""CIFAR: nothing is unpickled unchecked; the archive is fetched once, read where it lies, and replaced if damaged.

A tiny set in CIFAR-10's format stands for the real files, which a few tests use. The same holds for people's labels.
"""

import math
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.cifar import cifar
from hypersphere.datasets.reading import human as module
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.human import human
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

from ...harm import HARMS, flip, truncate
from .conftest import take_for_published
from .miniatures import CIFAR10, below, npy, tar_gz, write, written

ARCHIVE = "cifar-10-python.tar.gz"


def publish(folder: Path, server: Any) -> None:
    """Serve the official archive, of these files."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    server.publish("cifar10", {ARCHIVE: tar_gz(files, "cifar-10-batches-py")})


def test_cifar100_has_its_coarse_labels_beside_its_fine_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files as the set's page describes them, with two images each."""
    contents: dict[str, dict[str, Any]] = {
        "meta": {
            "fine_label_names": ["apple", "bear", "bee"],
            "coarse_label_names": ["fruit", "animal"],
        },
        "train": {
            "data": np.zeros((2, 3072), np.uint8),
            "fine_labels": [2, 0],
            "coarse_labels": [1, 0],
        },
        "test": {
            "data": np.ones((2, 3072), np.uint8),
            "fine_labels": [1, 2],
            "coarse_labels": [1, 1],
        },
    }
    files = below(
        "cifar-100-python", {name: pickle.dumps(content) for name, content in contents.items()}
    )
    take_for_published(monkeypatch, files)
    arrays = cifar(write(tmp_path, files), False, classes=100)
    for name, split in arrays.splits.items():
        expected = {
            "class": contents[name]["fine_labels"],
            "coarse": contents[name]["coarse_labels"],
        }
        assert {key: labels.tolist() for key, labels in split.labels.items()} == expected
    assert arrays.class_names == {"class": ("apple", "bear", "bee"), "coarse": ("fruit", "animal")}
    assert arrays.splits["test"].images.min() == 1


@pytest.fixture
def unpickled(monkeypatch: pytest.MonkeyPatch) -> Mock:
    spy = Mock(wraps=pickle.loads)
    monkeypatch.setattr(pickle, "loads", spy)
    return spy


@pytest.mark.parametrize("name", CIFAR10)
@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_file_is_refused_before_anything_is_unpickled(
    tiny: Path, name: str, harm: str, unpickled: Mock
) -> None:
    """The control is that the spy does see whole files."""
    cifar(tiny.parent, False)
    opened = [call.args[0] for call in unpickled.call_args_list]
    assert sorted(opened) == sorted(CIFAR10.values())
    unpickled.reset_mock()
    HARMS[harm](tiny / name)
    for fetching in (False, True):
        with pytest.raises(HypersphereError):
            cifar(tiny.parent, fetching)
    unpickled.assert_not_called()


def test_a_folder_of_the_users_own_is_only_read(tiny: Path, tmp_path: Path, server: Any) -> None:
    """Whether it holds the set unpacked, or only the archive, which has the same images and is also published."""
    publish(tiny, server)
    found = []
    for root in (tiny.parent, write(tmp_path / "own", server.shelf)):
        before = {path: path.stat().st_mtime_ns for path in (root, *root.rglob("*"))}
        found.append(cifar(root, False))
        assert {path: path.stat().st_mtime_ns for path in (root, *root.rglob("*"))} == before
    for name, split in found[0].splits.items():
        np.testing.assert_array_equal(split.images, found[1].splits[name].images)
        assert split.labels["class"].tolist() == found[1].splits[name].labels["class"].tolist()
    with pytest.raises(HypersphereError):
        cifar(tmp_path / "empty", False)
    assert not (tmp_path / "empty").exists()
    assert server.log == []


def emptied(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


# what is wrong with an unpacked folder, beside the archive
UNPACKED: dict[str, Callable[[Path], object]] = {
    "empty": emptied,
    "a file missing": lambda folder: (folder / "data_batch_4").unlink(),
    "a file cut": lambda folder: truncate(folder / "data_batch_5"),
    "an empty file": lambda folder: (folder / "batches.meta").write_bytes(b""),
    "one folder deeper": lambda folder: (
        write(folder / folder.name, {p.name: p.read_bytes() for p in folder.iterdir()})
        and [path.unlink() for path in folder.iterdir() if path.is_file()]
    ),
}


@pytest.mark.parametrize("case", UNPACKED)
@pytest.mark.parametrize("fetching", [False, True])
def test_a_folder_that_is_not_whole_is_passed_over_for_the_archive_beside_it(
    case: str, fetching: bool, tiny: Path, server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is fetched or removed. An archive that is damaged, too, is blamed."""
    publish(tiny, server)
    whole = cifar(tiny.parent, False)
    UNPACKED[case](tiny)
    write(tiny.parent, server.shelf)
    left = sorted(tiny.rglob("*"))
    arrays = cifar(tiny.parent, fetching)
    for name, split in whole.splits.items():
        np.testing.assert_array_equal(arrays.splits[name].images, split.images)
    assert capsys.readouterr().out.endswith(f"{ARCHIVE} is read instead\n")
    assert (sorted(tiny.rglob("*")), server.log) == (left, [])
    (tiny.parent / ARCHIVE).write_bytes(b"half of")
    server.fault = "404"
    with pytest.raises(HypersphereError, match=ARCHIVE):
        cifar(tiny.parent, fetching)


@pytest.mark.parametrize("case", ["empty", "a file cut"])
def test_a_folder_that_is_not_whole_is_a_sentence_with_what_to_do(
    case: str, tiny: Path, refused: Any
) -> None:
    UNPACKED[case](tiny)
    file = "batches.meta" if case == "empty" else "data_batch_5"
    for fetching in (False, True):
        with refused(f"tiny/cifar-10-batches-py/{file}"):
            cifar(tiny.parent, fetching)


@pytest.mark.parametrize("harm", ["other member", "no member"])
def test_an_archive_with_the_right_md5_and_the_wrong_content_is_refused(
    tiny: Path, tmp_path: Path, server: Any, harm: str, unpickled: Mock
) -> None:
    """md5 can be forged; the members' sha256 is what counts."""
    (tiny / "data_batch_4").unlink()
    if harm == "other member":
        (tiny / "data_batch_4").write_bytes(pickle.dumps({"data": 0}))
    publish(tiny, server)
    with pytest.raises(HypersphereError, match=str(tmp_path / "own" / ARCHIVE)):
        cifar(write(tmp_path / "own", server.shelf), False)
    unpickled.assert_not_called()


@pytest.mark.shared_data
def test_real_cifar10_from_a_broken_download_to_a_prepared_dataset(
    real_cifar10: Path, tmp_path: Path, server: Any
) -> None:
    """Packed anew, so the tar's bytes and md5 are not the official ones; the members are."""
    publish(real_cifar10 / "cifar-10-batches-py", server)
    server.first = ["closed", "closed"]
    dataset = Dataset.model_validate(
        {"name": "cifar10", "source": {"name": "cifar", "classes": 10}}
    )
    prepared = store.open(store.prepare(dataset, tmp_path, None))
    assert len(server.log) == 3
    assert sorted(path.name for path in (tmp_path / "raw").glob("[!.]*")) == [
        "cifar-10-python.tar.gz"
    ]
    assert not list((tmp_path / "raw").glob(".*.part"))
    arrays = cifar(real_cifar10, False)
    # The official description: 5,000 and 1,000 images of each of ten classes; the first one is the well-known frog.
    for name, per_class in (("train", 5_000), ("test", 1_000)):
        split, made = arrays.splits[name], prepared.split(name)
        assert split.images.shape == (10 * per_class, 32, 32, 3)
        assert np.bincount(split.labels["class"]).tolist() == [per_class] * 10
        np.testing.assert_array_equal(made.images, split.images)
        assert made.labels["class"].tolist() == split.labels["class"].tolist()
    assert arrays.class_names["class"][arrays.splits["train"].labels["class"][0]] == "frog"


# Labels that people gave: small files in the published formats, with checksums of their own, stand for the real ones.

FILES = tuple(module.PUBLISHED)
ARRAYS = [name.replace("_", "-", 1) for name in module.HumanLabels._fields]
RNG = np.random.default_rng(0)
LABELS = {name: RNG.integers(0, 10, (6, 10) if name.endswith("counts") else 6) for name in ARRAYS}


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, server: Any) -> Any:
    """A server of three small files, taken for the published ones: coarse labels are lists there."""
    contents = {"cifar10h-counts.npy": npy(LABELS["cifar10h-counts"])}
    for file, prefix in module.PICKLED.items():
        labels = {
            name.removeprefix(prefix): value
            for name, value in LABELS.items()
            if name.startswith(prefix)
        }
        saved = {
            name: value.tolist() if "coarse" in name else value for name, value in labels.items()
        }
        contents[file] = written(partial(torch.save, saved))
    for dataset in ("cifar10h", "cifar_n"):
        server.publish(
            dataset, {file: contents[file] for file in FILES if module.PUBLISHED[file] == dataset}
        )
    arrays = {f"{name}.npy": npy(labels) for name, labels in LABELS.items()}
    take_for_published(monkeypatch, below("human", contents | arrays))
    return server


def assert_small(labels: module.HumanLabels) -> None:
    for name, found in zip(ARRAYS, labels, strict=True):
        np.testing.assert_array_equal(found, LABELS[name])
        assert found.dtype == np.int64


def test_an_array_to_a_file_is_read_without_a_pickle_and_named_if_it_is_damaged_or_missing(
    tmp_path: Path, shelf: Any, monkeypatch: pytest.MonkeyPatch, names: Any
) -> None:
    own_labels = write(
        tmp_path / "human", {f"{name}.npy": npy(labels) for name, labels in LABELS.items()}
    )
    monkeypatch.setattr(torch, "load", None)  # calling it would be a TypeError
    assert_small(human(tmp_path, download=False))
    for harm, name, named in (
        (flip, "cifar10n-worse_label", "cifar10n-worse_label.npy"),
        (Path.unlink, "cifar100n-noisy_label", "CIFAR-100_human.pt"),
    ):
        harm(own_labels / f"{name}.npy")
        with pytest.raises(HypersphereError) as caught:
            human(tmp_path, False)
        names(caught.value, f"human/{named}")
        write(own_labels, {f"{name}.npy": npy(LABELS[name])})
    assert shelf.log == []


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_unopened_or_fetched_anew(
    shelf: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of a right md5, which can be forged. Whole files are fetched once."""
    for fetching in (True, True, False):
        assert_small(human(tmp_path / "raw", fetching))
    assert sorted(shelf.log) == sorted(f"/{file}" for file in FILES)
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


IMAGES = np.zeros((20, 2, 2, 3), np.uint8)
CLEAN = np.arange(20) % 10
FINE, COARSE = np.arange(20) * 5, np.arange(20)
VOTES = (
    np.eye(10, dtype=np.int64)[CLEAN] * 40
    + np.roll(np.eye(10, dtype=np.int64)[CLEAN], 1, axis=1) * 10
)
VOTES[0] = [7, 7, 0, 0, 0, 0, 0, 0, 0, 6]  # of two classes with most votes the first counts
PEOPLE = module.HumanLabels(
    VOTES, *((CLEAN + i) % 10 for i in range(6)), FINE, FINE[::-1], COARSE, COARSE[::-1]
)
"""Each array differs from each other one."""


def test_cifar10_gets_five_training_labels_and_one_for_testing() -> None:
    names = {"class": tuple(f"class {i}" for i in range(10))}
    splits = {part: Split(IMAGES, {"class": CLEAN}) for part in ("train", "test")}
    found = module.add(Arrays(splits, names, {}), PEOPLE)
    store.check(found, "cifar")
    train, test = found.splits["train"].labels, found.splits["test"]
    added = [
        "class",
        *(f"cifar10n-{who}" for who in ("aggregate", "worst", "random-1", "random-2", "random-3")),
    ]
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
    names = {
        "class": tuple(f"class {i}" for i in range(100)),
        "coarse": tuple(f"coarse {i}" for i in range(20)),
    }
    splits = {part: Split(IMAGES, {"class": FINE, "coarse": COARSE}) for part in ("train", "test")}
    found = module.add(Arrays(splits, names, {}), PEOPLE)
    store.check(found, "cifar")
    train = found.splits["train"].labels
    assert train["cifar100n"].tolist() == FINE[::-1].tolist()
    assert train["cifar100n-coarse"].tolist() == COARSE[::-1].tolist()
    assert found.class_names["cifar100n-coarse"] == found.class_names["coarse"]
    assert found.splits["test"].labels.keys() == {"class", "coarse"}


def test_cifar_adds_them_when_it_is_asked_to(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    human = Mock(return_value=PEOPLE)
    monkeypatch.setattr(module, "human", human)
    monkeypatch.setattr(
        module, "add", lambda arrays, labels: arrays._replace(about={"people": labels})
    )
    assert "people" not in cifar(tiny.parent, False).about
    assert cifar(tiny.parent, False, human_labels=True).about["people"] is PEOPLE
    human.assert_called_once_with(tiny.parent, False)


@pytest.mark.shared_data
def test_real_labels_have_the_published_shares(
    unpacked: Callable[[str], Path], real_cifar10: Path, tmp_path: Path
) -> None:
    """CIFAR-10N's shares of wrong labels, and how often CIFAR-10H's most frequent choice is the official class, counted
    in the published arrays by hand."""
    (tmp_path / "human").symlink_to(unpacked("human") / "human")
    (tmp_path / "cifar-10-batches-py").symlink_to(real_cifar10 / "cifar-10-batches-py")
    found = cifar(tmp_path, False, human_labels=True)
    train, test = found.splits["train"].labels, found.splits["test"]
    shares = [round(100 * (labels != train["class"]).mean(), 2) for labels in train.values()]
    assert shares == [0, 9.01, 40.21, 17.23, 18.12, 17.64]
    assert round(100 * (test.labels["cifar10h"] == test.labels["class"]).mean(), 2) == 99.21
    assert test.attributes["cifar10h-agreement"].min() > 0.2
