"""Prepared datasets: plain arrays on disk, written once, checked, and memory-mapped by whoever trains.

``data/processed/<dataset.folder>/`` holds four arrays, ``train_index.npy`` (the kept images' numbers in the source: the
draws of views are keyed by them) and ``manifest.json``. The bytes depend on the dataset alone, not on where it was
prepared or from which copy of the source.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from jaxtyping import Int64, UInt8

from hypersphere import files
from hypersphere.datasets import imbalance
from hypersphere.datasets.types import Arrays
from hypersphere.declared import registry
from hypersphere.declared.run import Dataset, Imbalance
from hypersphere.errors import DamagedError, HypersphereError

MANIFEST = "manifest.json"
ARRAYS = ("train_images", "train_labels", "train_index", "test_images", "test_labels")


@dataclass(frozen=True)
class Prepared:
    """A prepared dataset, its arrays memory-mapped read-only (N kept training images, M test images)."""

    folder: Path
    manifest: dict[str, Any]
    train_images: UInt8[np.ndarray, "N H W 3"]
    train_labels: Int64[np.ndarray, "N"]
    train_index: Int64[np.ndarray, "N"]
    test_images: UInt8[np.ndarray, "M H W 3"]
    test_labels: Int64[np.ndarray, "M"]

    @property
    def digest(self) -> str:
        """One sha256 for all bytes of all arrays."""
        return str(self.manifest["digest"])

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of their labels."""
        return tuple(self.manifest["class_names"])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)


def prepare(dataset: Dataset, data: Path, data_root: Path | None) -> Path:
    """Make sure that ``data/processed/<dataset.folder>`` exists, and return it.

    Args:
        dataset: what to prepare.
        data: the repository's ``data`` folder; downloads go to ``data/raw``.
        data_root: a folder that holds the source already, which is only read; None: download.

    Raises:
        HypersphereError: the source is missing or damaged, cannot be downloaded, or has too few images.
    """
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
    classes = len(arrays.class_names)
    index = np.arange(len(arrays.train_labels), dtype=np.int64)
    if dataset.imbalance is not None:
        index = imbalance.choose(arrays.train_labels, dataset.imbalance, classes)
    test = np.arange(len(arrays.test_labels), dtype=np.int64)
    if dataset.test_per_class is not None:
        balanced = Imbalance(head=dataset.test_per_class, ratio=1)
        test = imbalance.choose(arrays.test_labels, balanced, classes)
    content = (
        arrays.train_images[index],
        arrays.train_labels[index],
        index,
        arrays.test_images[test],
        arrays.test_labels[test],
    )
    described = {}
    for name, array in zip(ARRAYS, content, strict=True):
        path = folder / f"{name}.npy"
        np.save(path, np.ascontiguousarray(array), allow_pickle=False)
        described[path.name] = {"sha256": files.sha256(path), "bytes": path.stat().st_size}
    counted = {"train": arrays.train_labels[index], "test": arrays.test_labels[test]}
    manifest = {
        "name": dataset.name,
        "spec": dataset.model_dump(mode="json", exclude_defaults=True),
        "counts": {part: np.bincount(labels, minlength=classes).tolist() for part, labels in counted.items()},
        "image_shape": list(arrays.train_images.shape[1:]),
        "files": described,
        **{key: arrays.about[key] for key in ("source", "licence", "citation")},
        "class_names": list(arrays.class_names),
        "digest": files.digest({name: about["sha256"] for name, about in described.items()}, 64),
    }
    files.write_sealed(folder / MANIFEST, manifest)


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
        DamagedError: missing, unreadable, or altered.
    """
    path = folder / MANIFEST
    try:
        return files.read_sealed(path)
    except HypersphereError as error:
        raise DamagedError(f"{error}; {_advice(folder)}", path) from None


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
    """Memory-map a prepared dataset.

    Raises:
        DamagedError: a file is missing or altered; says what to run.
    """
    manifest = verify(folder)
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
    return Prepared(folder=folder, manifest=manifest, **arrays)
