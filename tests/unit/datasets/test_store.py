"""Preparing a dataset: written once and whole, checked, the same bytes wherever it is done."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.digits import digits
from hypersphere.errors import DamagedError, HypersphereError

SMALL: dict[str, Any] = {
    "name": "small_lt",
    "source": {"name": "digits", "train_per_class": 12, "test_per_class": 3},
    "imbalance": {"head": 12, "ratio": 1.2},
}
ARRAYS = [f"{split}/{array}.npy" for split in ("train", "test") for array in ("images", "labels-class", "index")]
COUNTS = [12, 10, 8, 6, 5, 4, 4, 3, 2, 2]  # int(12 · 1.2^-i), by hand


@pytest.fixture
def dataset() -> Dataset:
    return Dataset.model_validate(SMALL)


@pytest.fixture
def folder(dataset: Dataset, tmp_path: Path) -> Path:
    return store.prepare(dataset, tmp_path, None)


def test_prepared_arrays_are_the_sources(folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    assert folder == tmp_path / "processed" / dataset.folder
    prepared, source = store.open(folder), digits(tmp_path, train_per_class=12, test_per_class=3)
    assert prepared.split_names == ("test", "train")
    for name in ("train", "test"):
        split, whole = prepared.split(name), source.splits[name]
        np.testing.assert_array_equal(split.images, whole.images[split.index])
        np.testing.assert_array_equal(split.labels["class"], whole.labels["class"][split.index])
        assert isinstance(split.images, np.memmap)
    assert np.bincount(prepared.split("train").labels["class"]).tolist() == COUNTS
    assert prepared.split("test").index.tolist() == list(range(30))
    assert prepared.classes() == 10
    assert prepared.class_names() == tuple("0123456789")


def test_a_folder_laid_out_in_another_way_is_prepared_again(folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    """As an earlier version left it: sealed and whole, but of another schema."""
    before = (folder / "manifest.json").read_bytes()
    manifest = files.read_sealed(folder / "manifest.json")
    files.write_sealed(folder / "manifest.json", {key: value for key, value in manifest.items() if key != "schema"})
    with pytest.raises(DamagedError, match=r"manifest\.json: schema: is None, but this version reads 2; run again"):
        store.open(folder)
    store.prepare(dataset, tmp_path, None)
    assert (folder / "manifest.json").read_bytes() == before


def test_manifest_describes_the_files(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["name"] == "small_lt"
    assert manifest["spec"] == SMALL
    assert manifest["counts"] == {"train": COUNTS, "test": [3] * 10}
    assert manifest["image_shape"] == [12, 12, 3]
    assert _files(folder).keys() == {*manifest["files"], "manifest.json"}
    for name, about in manifest["files"].items():
        assert about == {"sha256": files.sha256(folder / name), "bytes": (folder / name).stat().st_size}
    assert set(manifest["files"]) == set(ARRAYS)
    assert len(manifest["digest"]) == 64


def test_a_smaller_test_set_keeps_as_many_images_of_each_class(tmp_path: Path) -> None:
    whole = store.open(store.prepare(Dataset.model_validate(SMALL), tmp_path, None))
    fewer = store.open(store.prepare(Dataset.model_validate({**SMALL, "test_per_class": 2}), tmp_path, None))
    test = fewer.split("test")
    assert np.bincount(test.labels["class"]).tolist() == [2] * 10
    kept = {image.tobytes() for image in test.images}
    assert len(kept) == 20
    assert kept < {image.tobytes() for image in whole.split("test").images}
    np.testing.assert_array_equal(test.images, whole.split("test").images[test.index])
    np.testing.assert_array_equal(fewer.split("train").images, whole.split("train").images)


def test_a_whole_copy_is_left_alone_and_a_damaged_one_is_made_again(
    folder: Path, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = store.open(folder).digest
    calls = []
    load = registry.load
    monkeypatch.setattr(registry, "load", lambda *a: calls.append(a) or load(*a))
    store.prepare(dataset, tmp_path, None)
    assert calls == []
    with (folder / "test" / "images.npy").open("ab") as handle:
        handle.write(b"x")
    assert store.open(store.prepare(dataset, tmp_path, None)).digest == digest
    assert calls == [("datasets", "digits")]


def test_where_the_source_is_told_to_look(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """data/raw may be downloaded to; a folder of the user's own may not."""
    told = []

    def source(root: Path, download: bool = True, **parameters: Any) -> Any:
        told.append((root, download, parameters))
        raise HypersphereError("stop here")

    monkeypatch.setattr(registry, "load", lambda kind, name: source)
    for data_root in (None, tmp_path / "mine"):
        with pytest.raises(HypersphereError, match="stop here"):
            store.prepare(dataset, tmp_path, data_root)
    parameters = {"train_per_class": 12, "test_per_class": 3}
    assert told == [(tmp_path / "raw", True, parameters), (tmp_path / "mine", False, parameters)]
    left = [path.name for path in (tmp_path / "processed").iterdir() if not path.name.endswith(".lock")]
    assert left == []


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _drop_key(path: Path) -> None:
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "counts"}))


def _other_hash(path: Path) -> None:
    manifest = json.loads(path.read_text())
    manifest["files"]["test/labels-class.npy"]["sha256"] = "0" * 64
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("name", "harm", "words"),
    [
        ("manifest.json", Path.unlink, "the file is missing"),
        ("manifest.json", _truncate, "not valid JSON"),
        ("manifest.json", lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8 text"),
        ("manifest.json", lambda path: path.write_text("[]"), "was altered"),
        ("manifest.json", _drop_key, "was altered"),
        ("manifest.json", _other_hash, "was altered"),
        ("train/images.npy", Path.unlink, "the file is missing"),
        ("train/labels-class.npy", _truncate, "bytes are not those of its manifest"),
        *[(name, _flip, "bytes are not those of its manifest") for name in ARRAYS],
    ],
)
def test_open_says_which_file_is_wrong_and_what_to_run(folder: Path, name: str, harm: Any, words: str) -> None:
    store.open(folder)  # control: it opens
    harm(folder / name)
    with pytest.raises(HypersphereError, match=words) as caught:
        store.open(folder)
    assert str(folder / name) in str(caught.value)
    assert "hypersphere prepare small_lt" in str(caught.value)
    assert "\n" not in str(caught.value)
    # What Snakemake goes by is taken away, so that the next run prepares the dataset again.
    assert isinstance(caught.value, DamagedError)
    assert caught.value.proofs == (folder / "manifest.json",)


@pytest.mark.parametrize("name", ["manifest.json", *ARRAYS])
@pytest.mark.parametrize("harm", [Path.unlink, _truncate, _flip])
def test_preparing_again_mends_any_damage(
    folder: Path, dataset: Dataset, tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    before = _files(folder)
    harm(folder / name)
    store.prepare(dataset, tmp_path, None)
    assert _files(folder) == before


def test_a_dataset_that_nothing_loads_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match="dataset imagenet: source: it has no loader yet"):
        store.prepare(Dataset.model_validate({"name": "imagenet"}), tmp_path, None)
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_tidied_away(dataset: Dataset, tmp_path: Path) -> None:
    left = tmp_path / "processed" / f".{dataset.folder}.0123abcd.part"
    files.write_text(left / "train" / "images.npy", "half of")
    store.prepare(dataset, tmp_path, None)
    assert not left.exists()


def test_a_folder_that_was_never_prepared_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        HypersphereError, match=r"manifest\.json: the file is missing; run again, or: hypersphere prepare digits_lt"
    ):
        store.open(tmp_path / "digits_lt-0a1b2c3d")


PREPARER = """
import json, sys, time
from pathlib import Path
from hypersphere.config import registry
from hypersphere.datasets import store
from hypersphere.config.run import Dataset

data, spec = Path(sys.argv[1]), json.loads(sys.argv[2])
load = registry.load

def slow(kind, name):
    with (data / "builds").open("a") as log:
        log.write("built\\n")
    time.sleep(1)  # longer than the other process takes to arrive
    return load(kind, name)

registry.load = slow
(data / f"ready-{sys.argv[3]}").touch()
while not (data / "go").exists():
    time.sleep(0.01)
print(store.open(store.prepare(Dataset.model_validate(spec), data, None)).digest)
"""


def test_two_processes_at_once_prepare_it_once(dataset: Dataset, tmp_path: Path) -> None:
    """Both are held at a gate and let go together; without the lock both would build (`builds` would say so)."""
    command = [sys.executable, "-c", PREPARER, str(tmp_path), json.dumps(SMALL)]
    pair = [subprocess.Popen([*command, str(i)], stdout=subprocess.PIPE, text=True) for i in (0, 1)]
    deadline = time.monotonic() + 60
    while not all((tmp_path / f"ready-{i}").exists() for i in (0, 1)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (tmp_path / "go").touch()
    digests = {process.communicate(timeout=60)[0].strip() for process in pair}
    assert [process.returncode for process in pair] == [0, 0]
    assert (tmp_path / "builds").read_text() == "built\n"
    assert digests == {store.open(tmp_path / "processed" / dataset.folder).digest}
    store.verify(tmp_path / "processed" / dataset.folder)
