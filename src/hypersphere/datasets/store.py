"""Prepared datasets: plain arrays on disk, written once, checked, and memory-mapped by training and probes.

``data/processed/<dataset.folder>/`` holds ``manifest.json`` and a folder for each split: ``images.npy`` (images as
bytes, or the tokens of S sentences of L words, int32 [N, S, L], in which 0 is no word and 1 an unknown one),
``labels-<name>.npy`` and ``attribute-<name>.npy`` for each array of labels and attributes, and ``index.npy`` (the kept
images' numbers in the source's split, which key the draws of views). The bytes depend on the dataset alone, not on the
machine that prepared it or on the copy of the source.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from jaxtyping import Int32, Int64, Shaped, UInt8

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Dataset, Imbalance
from hypersphere.datasets.preparing import fitting, imbalance, pieces
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import listing

MANIFEST = "manifest.json"
SCHEMA = 2
"""Version of the folder's layout: a folder with another version is prepared again."""
LABELS, ATTRIBUTE = "labels-{}", "attribute-{}"
"""File names of named arrays, without ``.npy``."""


class Named(dict[str, Any]):
    """Things by name. A missing name raises a HypersphereError that lists the names there are."""

    def __init__(self, things: Mapping[str, Any], kind: str) -> None:
        super().__init__(things)
        self.kind = kind

    def __missing__(self, name: str) -> Any:
        raise HypersphereError(f"{self.kind} '{name}': no such name; there is {', '.join(sorted(self)) or 'none'}")


@dataclass(frozen=True)
class PreparedSplit:
    """One split of N kept images; arrays are memory-mapped and read-only."""

    images: UInt8[np.ndarray, "N H W 3"] | Int32[np.ndarray, "N S L"]
    """Or tokens."""
    labels: Mapping[str, Int64[np.ndarray, "N"]]
    """By name; the main labels are called ``class``."""
    attributes: Mapping[str, Shaped[np.ndarray, "N"]]
    index: Int64[np.ndarray, "N"]
    """The images' numbers in the source's split, ascending."""


@dataclass(frozen=True)
class Prepared:
    """A prepared dataset whose files have been checked."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def digest(self) -> str:
        """One sha256 for all bytes of all arrays."""
        return str(self.manifest["digest"])

    @property
    def split_names(self) -> tuple[str, ...]:
        """Names of the splits, in alphabetical order."""
        return tuple(sorted(self.manifest["splits"]))

    def split(self, name: str) -> PreparedSplit:
        """Memory-map a split.

        Raises:
            HypersphereError: no such split; or later, on access to labels or an attribute that it does not have.
        """
        dataset = f"dataset {self.manifest['name']}"
        about = Named(self.manifest["splits"], f"{dataset}: split")[name]
        labels = {label: self._map(name, LABELS.format(label)) for label in about["labels"]}
        attributes = {attribute: self._map(name, ATTRIBUTE.format(attribute)) for attribute in about["attributes"]}
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
        """Names of the classes of these labels, from label 0 on.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return tuple(Named(self.manifest["class_names"], f"dataset {self.manifest['name']}: labels")[label])

    def classes(self, label: str = CLASS) -> int:
        """Number of classes of these labels.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return len(self.class_names(label))


def prepare(dataset: Dataset, data: Path, data_root: Path | None) -> Path:
    """Make sure that ``data/processed/<dataset.folder>`` exists, and return it.

    It is prepared again if it is damaged, or if the source reads a folder without checksums whose listing has changed.

    Args:
        dataset: what to prepare.
        data: the repository's ``data`` folder; downloads go to ``data/raw``.
        data_root: a folder that already holds the source, and is only read; None: download.

    Raises:
        HypersphereError: the dataset has no loader; or its source is missing or damaged, cannot be downloaded, has too
            few images, or returns inconsistent arrays.
    """
    if dataset.source is None:
        raise HypersphereError(f"dataset {dataset.name}: source: it has no loader yet, so it cannot be prepared")
    folder = data / "processed" / dataset.folder
    root, download = (data / "raw", True) if data_root is None else (data_root, False)
    listed = listing.of_source(dataset.source, root)
    if _whole(folder, listed):
        return folder
    with _locked(folder):
        if _whole(folder, listed):  # another process prepared it while we waited
            return folder
        files.sweep(folder.parent, folder.name)
        source = registry.load("datasets", dataset.source.name)
        arrays = source(root, download=download, **dataset.source.parameters)
        fitting.check(arrays, f"datasets/{dataset.source.name}")
        with files.replacing_folder(folder) as temporary:
            _write(temporary, dataset, arrays, listed)
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


def _write(folder: Path, dataset: Dataset, arrays: Arrays, listed: str | None) -> None:
    """Write the arrays, then the manifest that describes them."""
    kept = _kept(dataset, arrays)
    described = {}
    for name, split in arrays.splits.items():
        for file in _write_split(folder / name, split, kept[name]):
            path = folder / name / file
            described[f"{name}/{file}"] = {"sha256": files.sha256(path), "bytes": path.stat().st_size}
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
        **({listing.KEY: listed} if listed else {}),
    }
    files.write_sealed(folder / MANIFEST, manifest)


def _kept(dataset: Dataset, arrays: Arrays) -> dict[str, Int64[np.ndarray, "K"]]:
    """Numbers of the kept images by split: all images, unless the dataset has an imbalance or a test_per_class."""
    limits = {TRAIN: dataset.imbalance}
    if dataset.test_per_class is not None:
        limits[TEST] = Imbalance(head=dataset.test_per_class, ratio=1)
    kept = {name: np.arange(len(split.images), dtype=np.int64) for name, split in arrays.splits.items()}
    for name, limit in limits.items():
        if limit is None:
            continue
        if name not in kept or CLASS not in arrays.splits[name].labels:
            field = "imbalance" if name == TRAIN else "test_per_class"
            raise HypersphereError(f"dataset {dataset.name}: {field}: needs a split {name} with labels {CLASS}")
        kept[name] = imbalance.choose(arrays.splits[name].labels[CLASS], limit, len(arrays.class_names[CLASS]))
    return kept


def _write_split(folder: Path, split: Split, kept: Int64[np.ndarray, "K"]) -> list[str]:
    """Write the kept images' arrays, and return the names of their files."""
    folder.mkdir()
    pieces.write(folder / "images.npy", split.images, kept)
    arrays = {LABELS.format(name): labels[kept] for name, labels in split.labels.items()}
    arrays |= {ATTRIBUTE.format(name): values[kept] for name, values in split.attributes.items()}
    arrays["index"] = kept
    for name, content in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(content), allow_pickle=False)
    return ["images.npy", *(f"{name}.npy" for name in arrays)]


def _whole(folder: Path, listed: str | None) -> bool:
    """Whether every file has the bytes that the manifest lists, and the source's folder is listed as it was then.

    A source's folder that is gone (None) does not count as changed.
    """
    try:
        manifest = verify(folder)
    except HypersphereError:
        return False
    return listed in (None, manifest.get(listing.KEY))


def read_manifest(folder: Path) -> dict[str, Any]:
    """A prepared dataset's manifest.

    Raises:
        DamagedError: it is missing, unreadable or altered, or the folder's layout is of another version.
    """
    path = folder / MANIFEST
    try:
        manifest = files.read_sealed(path)
    except HypersphereError as error:
        raise DamagedError(f"{error}; {_advice(folder)}", path) from None
    if manifest.get("schema") != SCHEMA:
        problem = f"schema: is {manifest.get('schema')}, but this version reads {SCHEMA}"
        raise DamagedError(f"{path}: {problem}; {_advice(folder)}", path)
    return manifest


def _advice(folder: Path) -> str:
    return f"run again, or: hypersphere prepare {folder.name.rpartition('-')[0] or folder.name}"


def verify(folder: Path) -> dict[str, Any]:
    """Check that a prepared dataset's files have the sizes and sha256 of its manifest, and return the manifest.

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
    """The file's problem, or None. Cached until it changes: a job opens a dataset for every run, and hashes it once."""
    return files.problem(path, expected)


def open(folder: Path) -> Prepared:
    """Check a prepared dataset's files and return it; splits are memory-mapped on access.

    Raises:
        DamagedError: a file is missing or altered; the sentence says what to run.
    """
    return Prepared(folder, verify(folder))
