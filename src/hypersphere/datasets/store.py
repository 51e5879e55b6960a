"""Prepared datasets: plain arrays on disk, written once, checked, and memory-mapped by whoever trains or measures.

``data/processed/<dataset.folder>/`` holds ``manifest.json`` and a folder for each split: ``images.npy``, a
``labels-<name>.npy`` and an ``attribute-<name>.npy`` for each array of that name, and ``index.npy`` (the kept images'
numbers in the source's split: the draws of views are keyed by them). The bytes depend on the dataset alone, not on
where it was prepared or from which copy of the source.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from jaxtyping import Int64, Shaped, UInt8

from hypersphere import files
from hypersphere.datasets import fitting, imbalance
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.declared import registry
from hypersphere.declared.run import Dataset, Imbalance
from hypersphere.errors import DamagedError, HypersphereError

MANIFEST = "manifest.json"
SCHEMA = 2
"""Of the folder and its manifest: a folder of another is prepared again."""
LABELS, ATTRIBUTE = "labels-{}", "attribute-{}"
"""How the files of named arrays are called."""


class Named(dict[str, Any]):
    """Things by name; asking for one that is not there is a sentence."""

    def __init__(self, things: Mapping[str, Any], kind: str) -> None:
        super().__init__(things)
        self.kind = kind

    def __missing__(self, name: str) -> Any:
        raise HypersphereError(
            f"{self.kind} '{name}': there is none of this name, only {', '.join(sorted(self)) or 'nothing'}"
        )


@dataclass(frozen=True)
class PreparedSplit:
    """One split, its arrays memory-mapped read-only (N kept images)."""

    images: UInt8[np.ndarray, "N H W 3"]
    labels: Mapping[str, Int64[np.ndarray, "N"]]
    """By name, the main ones under ``class``."""
    attributes: Mapping[str, Shaped[np.ndarray, "N"]]
    index: Int64[np.ndarray, "N"]
    """The images' numbers in the source's split, ascending."""


@dataclass(frozen=True)
class Prepared:
    """A prepared dataset whose files are whole."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def digest(self) -> str:
        """One sha256 for all bytes of all arrays."""
        return str(self.manifest["digest"])

    @property
    def split_names(self) -> tuple[str, ...]:
        """Of the splits there are, in alphabetical order."""
        return tuple(sorted(self.manifest["splits"]))

    def split(self, name: str) -> PreparedSplit:
        """Memory-map a split.

        Raises:
            HypersphereError: there is none of this name; or later, where an array is asked for that there is not.
        """
        dataset = f"dataset {self.manifest['name']}"
        about = Named(self.manifest["splits"], f"{dataset}: split")[name]
        labels = {label: self._map(name, LABELS.format(label)) for label in about["labels"]}
        attributes = {given: self._map(name, ATTRIBUTE.format(given)) for given in about["attributes"]}
        return PreparedSplit(
            images=self._map(name, "images"),
            labels=Named(labels, f"{dataset}: split {name}: labels"),
            attributes=Named(attributes, f"{dataset}: split {name}: attribute"),
            index=self._map(name, "index"),
        )

    def _map(self, split: str, array: str) -> np.ndarray:
        mapped: np.ndarray = np.load(self.folder / split / f"{array}.npy", mmap_mode="r", allow_pickle=False)
        return mapped

    def class_names(self, label: str = CLASS) -> tuple[str, ...]:
        """What the labels of this name stand for, from 0.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return tuple(Named(self.manifest["class_names"], f"dataset {self.manifest['name']}: labels")[label])

    def classes(self, label: str = CLASS) -> int:
        """Number of classes that the labels of this name tell apart.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return len(self.class_names(label))


def prepare(dataset: Dataset, data: Path, data_root: Path | None) -> Path:
    """Make sure that ``data/processed/<dataset.folder>`` exists, and return it.

    Args:
        dataset: what to prepare.
        data: the repository's ``data`` folder; downloads go to ``data/raw``.
        data_root: a folder that holds the source already, which is only read; None: download.

    Raises:
        HypersphereError: nothing loads the dataset; or its source is missing or damaged, cannot be downloaded, has too
            few images, or returns arrays that do not fit together.
    """
    if dataset.source is None:
        raise HypersphereError(f"dataset {dataset.name}: source: nothing loads it yet, so it cannot be prepared")
    folder = data / "processed" / dataset.folder
    if _whole(folder):
        return folder
    with _locked(folder):
        if _whole(folder):  # another process prepared it while we waited
            return folder
        files.sweep(folder.parent, folder.name)
        source = registry.load("datasets", dataset.source.name)
        root, download = (data / "raw", True) if data_root is None else (data_root, False)
        arrays = source(root, download=download, **dataset.source.parameters)
        fitting.check(arrays, f"datasets/{dataset.source.name}")
        with files.replacing_folder(folder) as temporary:
            _write(temporary, dataset, arrays)
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    with files.writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _write(folder: Path, dataset: Dataset, arrays: Arrays) -> None:
    """Write the arrays, then the manifest that describes them."""
    kept = _kept(dataset, arrays)
    described = {}
    for name, split in arrays.splits.items():
        (folder / name).mkdir()
        for array, content in _content(split, kept[name]):
            path = folder / name / f"{array}.npy"
            np.save(path, np.ascontiguousarray(content), allow_pickle=False)
            file = path.relative_to(folder).as_posix()
            described[file] = {"sha256": files.sha256(path), "bytes": path.stat().st_size}
    manifest = {
        "schema": SCHEMA,
        "name": dataset.name,
        "spec": dataset.model_dump(mode="json", exclude_defaults=True),
        "splits": {
            name: {
                "images": len(kept[name]),
                "labels": sorted(split.labels),
                "attributes": sorted(split.attributes),
            }
            for name, split in arrays.splits.items()
        },
        "counts": {
            name: np.bincount(split.labels[CLASS][kept[name]], minlength=len(arrays.class_names[CLASS])).tolist()
            for name, split in arrays.splits.items()
            if CLASS in split.labels
        },
        "image_shape": list(arrays.splits[TRAIN].images.shape[1:]),
        "files": described,
        **{key: arrays.about[key] for key in ("source", "licence", "citation")},
        "class_names": {label: list(names) for label, names in arrays.class_names.items()},
        "digest": files.digest({name: about["sha256"] for name, about in described.items()}, 64),
    }
    files.write_sealed(folder / MANIFEST, manifest)


def _kept(dataset: Dataset, arrays: Arrays) -> dict[str, Int64[np.ndarray, "K"]]:
    """By split, the numbers of the images kept: all of them, where the dataset does not say otherwise."""
    asked = {TRAIN: dataset.imbalance}
    if dataset.test_per_class is not None:
        asked[TEST] = Imbalance(head=dataset.test_per_class, ratio=1)
    kept = {name: np.arange(len(split.images), dtype=np.int64) for name, split in arrays.splits.items()}
    for name, wanted in asked.items():
        if wanted is None:
            continue
        if name not in kept or CLASS not in arrays.splits[name].labels:
            raise HypersphereError(f"dataset {dataset.name}: split {name} has no classes to keep some images of each")
        kept[name] = imbalance.choose(arrays.splits[name].labels[CLASS], wanted, len(arrays.class_names[CLASS]))
    return kept


def _content(split: Split, kept: Int64[np.ndarray, "K"]) -> Iterator[tuple[str, np.ndarray]]:
    """A split's arrays by the names of their files, of the images kept; one after another, for they may be large."""
    yield "images", split.images[kept]
    for name, labels in split.labels.items():
        yield LABELS.format(name), labels[kept]
    for name, values in split.attributes.items():
        yield ATTRIBUTE.format(name), values[kept]
    yield "index", kept


def _whole(folder: Path) -> bool:
    """Whether the manifest is there and readable, and every file has the bytes it says."""
    try:
        verify(folder)
    except HypersphereError:
        return False
    return True


def read_manifest(folder: Path) -> dict[str, Any]:
    """A prepared dataset's manifest.

    Raises:
        DamagedError: missing, unreadable, altered, or of a folder that is laid out in another way.
    """
    path = folder / MANIFEST
    try:
        manifest = files.read_sealed(path)
    except HypersphereError as error:
        raise DamagedError(f"{error}; {_advice(folder)}", path) from None
    if manifest.get("schema") != SCHEMA:
        said = f"{path}: schema: {manifest.get('schema')}, where this version reads {SCHEMA}; {_advice(folder)}"
        raise DamagedError(said, path)
    return manifest


def _advice(folder: Path) -> str:
    return f"run again, or: hypersphere prepare {folder.name.rpartition('-')[0] or folder.name}"


def verify(folder: Path) -> dict[str, Any]:
    """The manifest of a prepared dataset whose files have the sizes and sha256 that it says.

    Raises:
        DamagedError: a file is missing or its bytes differ from the manifest's.
    """
    manifest = read_manifest(folder)
    for name, about in manifest["files"].items():
        problem = _problem(folder / name, about)
        if problem:
            raise DamagedError(f"{folder / name}: {problem}; {_advice(folder)}", folder / MANIFEST)
    return manifest


def _problem(path: Path, about: dict[str, Any]) -> str | None:
    status = path.stat() if path.is_file() else None
    if status is not None and status.st_size != about["bytes"]:
        return f"has {status.st_size} bytes, not {about['bytes']}"
    return _hashed(path, about["sha256"], status.st_mtime_ns if status else 0)


@cache
def _hashed(path: Path, expected: str, changed_ns: int) -> str | None:
    """What is wrong with a file as it is now; a job that opens a dataset for each of its runs reads its bytes once."""
    return files.problem(path, expected)


def open(folder: Path) -> Prepared:
    """Check a prepared dataset's files; its splits are memory-mapped when they are asked for.

    Raises:
        DamagedError: a file is missing or altered; says what to run.
    """
    return Prepared(folder, verify(folder))
