"""Prepared datasets: plain arrays on disk, written once, checked, and memory-mapped by whoever trains.

``data/processed/<dataset.folder>/`` holds four arrays, ``train_index.npy`` (the kept images' numbers in the source: the
draws of views are keyed by them) and ``manifest.json``. The bytes depend on the dataset alone, not on where it was
prepared or from which copy of the source.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from jaxtyping import Int64, UInt8

from hypersphere import files, registry
from hypersphere.datasets import imbalance
from hypersphere.datasets.types import Arrays
from hypersphere.errors import HypersphereError
from hypersphere.spec import Dataset, Imbalance

MANIFEST = "manifest.json"
ARRAYS = ("train_images", "train_labels", "train_index", "test_images", "test_labels")
KEYS = {"name", "spec", "counts", "image_shape", "files", "source", "licence", "citation", "class_names", "digest"}


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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if _whole(folder):  # another process prepared it while we waited
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # a damaged copy
        source = registry.load("datasets", dataset.source.name)
        root, download = (data / "raw", True) if data_root is None else (data_root, False)
        arrays = source(root, download=download, **dataset.source.parameters)
        with files.replacing_folder(folder) as temporary:
            _write(temporary, dataset, arrays)
    return folder


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
        "digest": _digest(described),
    }
    files.write_json(folder / MANIFEST, manifest)


def _digest(described: dict[str, Any]) -> str:
    """sha256 over the files' hashes."""
    return files.digest({name: about["sha256"] for name, about in described.items()}, 64)


def _whole(folder: Path) -> bool:
    """Whether the manifest is there and readable, and every file has the size it says."""
    try:
        _check_sizes(folder, read_manifest(folder))
    except HypersphereError:
        return False
    return True


def read_manifest(folder: Path) -> dict[str, Any]:
    """A prepared dataset's manifest.

    Raises:
        HypersphereError: missing, unreadable, or lacking a key.
    """
    path = folder / MANIFEST
    try:
        manifest = files.read_json(path)
    except (HypersphereError, OSError) as error:
        problem = str(error) if isinstance(error, HypersphereError) else f"{path}: {error.strerror}"
        raise HypersphereError(f"{problem}; {_advice(folder)}") from None
    if not isinstance(manifest, dict) or not manifest.keys() >= KEYS:
        raise HypersphereError(f"{path}: not a dataset's manifest; {_advice(folder)}")
    expected = {f"{name}.npy" for name in ARRAYS}
    described = manifest["files"]
    if not isinstance(described, dict) or described.keys() != expected or _digest(described) != manifest["digest"]:
        raise HypersphereError(f"{path}: its list of files was changed; {_advice(folder)}")
    return manifest


def _advice(folder: Path) -> str:
    return f"run: hypersphere prepare {folder.name.rpartition('-')[0] or folder.name}"


def _check_sizes(folder: Path, manifest: dict[str, Any]) -> None:
    for name, about in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            raise HypersphereError(f"{path}: the file is missing; {_advice(folder)}")
        if path.stat().st_size != about["bytes"]:
            raise HypersphereError(f"{path}: has {path.stat().st_size} bytes, not {about['bytes']}; {_advice(folder)}")


def open(folder: Path) -> Prepared:
    """Memory-map a prepared dataset.

    Raises:
        HypersphereError: a file is missing, unreadable, or of the wrong size or shape; says what to run.
    """
    manifest = read_manifest(folder)
    _check_sizes(folder, manifest)
    arrays = {name: _map(folder / f"{name}.npy", folder) for name in ARRAYS}
    for name, array in arrays.items():
        count = sum(manifest["counts"][name.partition("_")[0]])
        images = name.endswith("images")
        shape = (count, *manifest["image_shape"]) if images else (count,)
        kind = np.uint8 if images else np.int64
        if array.shape != shape or array.dtype != kind:
            raise HypersphereError(
                f"{folder / name}.npy: holds {array.dtype} {array.shape}, not {np.dtype(kind)} {shape}; "
                f"{_advice(folder)}"
            )
    return Prepared(folder=folder, manifest=manifest, **arrays)


def _map(path: Path, folder: Path) -> np.ndarray:
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise HypersphereError(f"{path}: not a readable array ({error}); {_advice(folder)}") from None
    assert isinstance(mapped, np.ndarray)
    return mapped


def verify(folder: Path) -> None:
    """Recompute every file's sha256.

    Raises:
        HypersphereError: a file is missing or its bytes differ from the manifest's.
    """
    manifest = read_manifest(folder)
    _check_sizes(folder, manifest)
    for name, about in manifest["files"].items():
        if files.sha256(folder / name) != about["sha256"]:
            raise HypersphereError(
                f"{folder / name}: its sha256 is not the manifest's; delete {folder} and {_advice(folder)}"
            )
