"""Prepared datasets: plain arrays on disk, written once, checked, and memory-mapped by training and probes.

``data/processed/<dataset.folder>/`` holds ``manifest.json`` and a folder for each split: ``images.npy`` (images as
bytes, or the tokens of S sentences of L words, int32 [N, S, L], in which 0 is no word and 1 an unknown one),
``labels-<name>.npy`` and ``attribute-<name>.npy`` for each array of labels and attributes, and ``index.npy`` (the kept
images' numbers in the source's split, which key the draws of views). The bytes depend on the dataset alone, not on the
machine that prepared it or on the copy of the source.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from jaxtyping import Int32, Int64, Shaped, UInt8

from hypersphere import files, prng
from hypersphere.config import registry
from hypersphere.config.run import Dataset, Imbalance
from hypersphere.datasets import repeated
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Pieces
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import data_files, digests
from hypersphere.rounding import settle

MANIFEST = "manifest.json"
SCHEMA = 2
"""The version of the folder's layout. A folder with another version is prepared again."""
CODE = "code"
"""The manifest's key for the digest of the code and checksums that prepared the dataset."""
LABELS, ATTRIBUTE = "labels-{}", "attribute-{}"
"""File names of named arrays, without ``.npy``."""
WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Allowed names of splits, labels and attributes, because files are named after them."""
CONTENT = {3: np.dtype(np.uint8), 2: np.dtype(np.int32)}
"""Type of a split's content, by the dimensions of one example: images [H, W, 3], or tokens [S, L]."""
PIECE = 2**25
"""The number of bytes of images that are read at once."""


class Named(dict[str, Any]):
    """Things by name. A missing name raises a HypersphereError that lists the names there are."""

    def __init__(self, things: Mapping[str, Any], kind: str) -> None:
        super().__init__(things)
        self.kind = kind

    def __missing__(self, name: str) -> Any:
        raise HypersphereError(
            f"{self.kind} '{name}': no such name; there is {', '.join(sorted(self)) or 'none'}"
        )


@dataclass(frozen=True)
class PreparedSplit:
    """One split of N kept images; arrays are memory-mapped and read-only."""

    images: UInt8[np.ndarray, "N H W 3"] | Int32[np.ndarray, "N S L"]
    """Images as bytes, or tokens."""
    labels: Mapping[str, Int64[np.ndarray, "N"]]
    """Arrays of labels by name; the main labels are called ``class``."""
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
    def repeated(self) -> dict[str, Any] | None:
        """How many images occur more than once; None: an earlier version prepared the dataset and did not count."""
        return self.manifest.get("repeated")

    @property
    def split_names(self) -> tuple[str, ...]:
        """Names of the splits, in alphabetical order."""
        return tuple(sorted(self.manifest["splits"]))

    def split(self, name: str) -> PreparedSplit:
        """Memory-map a split."""
        dataset = f"dataset {self.manifest['name']}"
        about = Named(self.manifest["splits"], f"{dataset}: split")[name]
        mapped = partial(_mapped, self.folder / name)
        labels = {label: mapped(LABELS.format(label)) for label in about["labels"]}
        attributes = {word: mapped(ATTRIBUTE.format(word)) for word in about["attributes"]}
        return PreparedSplit(
            images=mapped("images"),
            labels=Named(labels, f"{dataset}: split {name}: labels"),
            attributes=Named(attributes, f"{dataset}: split {name}: attribute"),
            index=mapped("index"),
        )

    def class_names(self, label: str = CLASS) -> tuple[str, ...]:
        """Names of the classes of these labels, from label 0 on."""
        dataset = f"dataset {self.manifest['name']}"
        return tuple(Named(self.manifest["class_names"], f"{dataset}: labels")[label])


def _mapped(folder: Path, array: str) -> np.ndarray:
    """An array of a split's folder, memory-mapped."""
    content: np.ndarray = np.load(folder / f"{array}.npy", mmap_mode="r", allow_pickle=False)
    return content


def prepare(dataset: Dataset, data: Path, data_root: Path | None) -> Path:
    """Make sure that ``data/processed/<dataset.folder>`` exists, and return it.

    The dataset is prepared again if it is damaged, if other code prepared it, or if the source reads a folder without
    checksums whose listing has changed. A dataset from an earlier version, which does not name its code, is taken as it
    is. ``data_root`` is a folder that already holds the source, and is only read. Without it downloads go to
    ``data/raw``.
    """
    if dataset.source is None:
        raise HypersphereError(
            f"dataset {dataset.name}: source: it has no loader yet, so it cannot be prepared"
        )
    folder = data / "processed" / dataset.folder
    download = data_root is None
    root = data_root or data / "raw"
    made_of = {
        data_files.LISTING: data_files.folder_digest(dataset.source, root),
        CODE: digests.dataset_digest(dataset),
    }
    if _whole(folder, made_of):
        return folder
    with files.writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(folder.with_name(f".{folder.name}.lock")).acquire()
    with held:
        if _whole(folder, made_of):  # another process prepared it while we waited
            return folder
        files.sweep(folder.parent, folder.name)
        source = registry.load("datasets", dataset.source.name)
        arrays = source(root, download=download, **dataset.source.parameters)
        check(arrays, f"datasets/{dataset.source.name}")
        with files.replacing(folder, folder=True) as temporary:
            _write(temporary, dataset, arrays, made_of)
    return folder


def ready(dataset: Dataset, data: Path, data_root: Path | None) -> Prepared:
    """Open a prepared dataset; prepare it first, if it is missing. A damaged dataset is an error."""
    folder = data / "processed" / dataset.folder
    if not (folder / MANIFEST).exists():
        prepare(dataset, data, data_root)
    return open(folder)


def check(arrays: Arrays, source: str) -> None:
    """Refuse arrays of a source that do not belong together; the sentence names ``source``, split and array."""
    if TRAIN not in arrays.splits:
        raise HypersphereError(
            f"{source}: has no split {TRAIN}, only {', '.join(sorted(arrays.splits)) or 'nothing'}"
        )
    shape = arrays.splits[TRAIN].images.shape[1:]
    expected = CONTENT.get(len(shape), np.dtype(np.uint8))
    for part, split in arrays.splits.items():
        images = split.images
        where = f"{source}: split {part}"
        for word in (part, *split.labels, *split.attributes):
            if not WORD.fullmatch(word):
                raise HypersphereError(
                    f"{where}: '{word}': a name consists of lower-case letters, digits, - and _"
                )
        if images.shape[1:] != shape or images.dtype != expected:
            raise HypersphereError(
                f"{where}: images are {images.dtype} {images.shape[1:]}, not {expected} {shape}"
            )
        for name, values in (*split.labels.items(), *split.attributes.items()):
            if values.shape != images.shape[:1]:
                problem = f"has shape {values.shape}, but there are {len(images)} images"
                raise HypersphereError(f"{where}: {name}: {problem}")
        for name, values in split.labels.items():
            classes = len(arrays.class_names.get(name, ()))
            are_classes = ((values >= 0) & (values < classes)).all()
            if values.dtype != np.int64 or not are_classes:
                wish = f"integers (int64) from 0 to below {classes}, the number of class_names"
                raise HypersphereError(f"{where}: labels {name}: must be {wish}")


def images_per_class(imbalance: Imbalance, classes: int) -> list[int]:
    """How many training images of each class an imbalance keeps, largest first (norms paper, Sec. 6).

    Read as "class i keeps int(head · ratio^-i) images, i from 0", the paper's numbers give 14,736 images of CIFAR-10
    (head 5,000, ratio 1.5) and 14,620 of CIFAR-100 (500, 1.034): the "roughly 15K" of its text.
    """
    return [int(settle(imbalance.head * imbalance.ratio**-i)) for i in range(classes)]


def choose_images(
    labels: Int64[np.ndarray, "N"], imbalance: Imbalance, classes: int
) -> Int64[np.ndarray, "K"]:
    """Original numbers of the images that an imbalance keeps, ascending.

    The paper does not say which are kept; here a keyed permutation per class decides, or, with ``keep: first``, the
    official order, as in the authors' code. Either way a smaller head or a larger ratio keeps a subset.
    """
    chosen = []
    for label, count in enumerate(images_per_class(imbalance, classes)):
        members = np.flatnonzero(labels == label)
        if not 1 <= count <= len(members):
            raise HypersphereError(
                f"imbalance: head {imbalance.head} and ratio {imbalance.ratio:g} keep {count} images of class {label}; "
                f"it has {len(members)}, and must keep at least one"
            )
        if imbalance.keep == "drawn":
            members = members[prng.permutation(len(members), imbalance.seed, "imbalance", label)]
        chosen.append(members[:count])
    return np.sort(np.concatenate(chosen)).astype(np.int64)


def _write(
    folder: Path, dataset: Dataset, arrays: Arrays, made_of: Mapping[str, str | None]
) -> None:
    """Write the kept images with what is known of them, then the manifest that describes the files."""
    splits: dict[str, dict[str, Any]] = {}
    described: dict[str, dict[str, Any]] = {}
    compared: dict[str, repeated.Content] = {}
    for part, split in arrays.splits.items():
        place = folder / part
        place.mkdir()
        numbers = kept_numbers(dataset, arrays, part)
        labels = {name: split.labels[name][numbers] for name in sorted(split.labels)}
        attributes = {name: split.attributes[name][numbers] for name in sorted(split.attributes)}
        named: dict[str, np.ndarray] = {}
        for name, values in labels.items():
            named[LABELS.format(name)] = values
        for name, values in attributes.items():
            named[ATTRIBUTE.format(name)] = values
        named["index"] = numbers
        write_images(place / "images.npy", split.images, numbers)
        for name, content in named.items():
            np.save(place / f"{name}.npy", np.ascontiguousarray(content), allow_pickle=False)
        for name in ("images", *named):
            path = place / f"{name}.npy"
            described[f"{part}/{path.name}"] = {
                "sha256": files.sha256(path),
                "bytes": path.stat().st_size,
            }
        splits[part] = {
            "images": len(numbers),
            "labels": list(labels),
            "attributes": list(attributes),
        }
        compared[part] = repeated.Content(_mapped(place, "images"), labels)
    sums = {name: about["sha256"] for name, about in described.items()}
    manifest = {
        "schema": SCHEMA,
        "name": dataset.name,
        "spec": dataset.model_dump(mode="json", exclude_defaults=True),
        "splits": splits,
        "image_shape": list(arrays.splits[TRAIN].images.shape[1:]),
        "files": described,
        "source": arrays.about["source"],
        "licence": arrays.about["licence"],
        "citation": arrays.about["citation"],
        "class_names": {label: list(names) for label, names in arrays.class_names.items()},
        "digest": files.digest(sums, 64),
        "repeated": repeated.count(compared),
    }
    manifest |= {key: digest for key, digest in made_of.items() if digest}
    files.write_sealed(folder / MANIFEST, manifest)


def kept_numbers(dataset: Dataset, arrays: Arrays, part: str) -> Int64[np.ndarray, "K"]:
    """Original numbers of the images of a split that a dataset keeps, ascending: all, unless it says how many.

    Raises:
        HypersphereError: the dataset limits a split that the source lacks, or that has no classes.
    """
    limits = {TRAIN: ("imbalance", dataset.imbalance)}
    if dataset.test_per_class is not None:
        few = Imbalance(head=dataset.test_per_class, ratio=1)
        limits[TEST] = ("test_per_class", few)
    for name, (field, limit) in limits.items():
        has_classes = name in arrays.splits and CLASS in arrays.splits[name].labels
        if limit is not None and not has_classes:
            raise HypersphereError(
                f"dataset {dataset.name}: {field}: needs a split {name} with labels {CLASS}"
            )
    split = arrays.splits[part]
    _, limit = limits.get(part, ("", None))
    if limit is None:
        return np.arange(len(split.images), dtype=np.int64)
    return choose_images(split.labels[CLASS], limit, len(arrays.class_names[CLASS]))


def write_images(
    path: Path, images: UInt8[np.ndarray, "N H W 3"] | Pieces, kept: Int64[np.ndarray, "K"]
) -> None:
    """Write the images of these numbers, which ascend, as an array [K, H, W, 3]; tokens as [K, S, L], int32.

    The bytes are those of ``numpy.save``. They are written a piece at a time, so that memory never holds a split, and
    not through a memory map, because on a full disk a map kills the process where a write is an error.
    """
    shape = images.shape[1:]
    bytes_of_image = int(np.prod(shape)) * images.dtype.itemsize
    step = max(1, PIECE // max(1, bytes_of_image))
    with path.open("wb") as handle:
        descr = np.lib.format.dtype_to_descr(images.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (len(kept), *shape)}
        np.lib.format.write_array_header_1_0(handle, header)
        for start in range(0, len(kept), step):
            numbers = kept[start : start + step]
            expected = (len(numbers), *shape)
            piece = images[numbers]
            if piece.shape != expected or piece.dtype != images.dtype:
                problem = f"images are {piece.dtype} {piece.shape}, not {images.dtype} {expected}"
                raise HypersphereError(f"{path.parent.name}: {problem}, as the source announced")
            handle.write(np.ascontiguousarray(piece).data)


def _whole(folder: Path, made_of: Mapping[str, str | None]) -> bool:
    """Whether every file has the bytes that the manifest lists, and is made of what it would be made of now.

    A source's folder that is gone (None) does not count as changed.
    """
    try:
        manifest = verify(folder)
    except HypersphereError:
        return False
    if made_of[data_files.LISTING] not in (None, manifest.get(data_files.LISTING)):
        return False
    return manifest.get(CODE, made_of[CODE]) == made_of[CODE]


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a prepared dataset; a DamagedError if it is missing, altered or of another version."""
    path = folder / MANIFEST
    try:
        manifest = files.read_sealed(path)
        version = manifest.get("schema")
        if version != SCHEMA:
            raise HypersphereError(f"{path}: schema: is {version}, but this version reads {SCHEMA}")
        return manifest
    except HypersphereError as error:
        raise DamagedError(f"{error}; {_advice(folder)}", path) from None


def _advice(folder: Path) -> str:
    return f"run again, or: hypersphere prepare {folder.name.rpartition('-')[0] or folder.name}"


def verify(folder: Path) -> dict[str, Any]:
    """Check that a prepared dataset's files have the sha256 of its manifest, and return the manifest.

    Raises:
        DamagedError: a file is missing or altered.
    """
    manifest = read_manifest(folder)
    for name, about in manifest["files"].items():
        path = folder / name
        changed_ns = path.stat().st_mtime_ns if path.is_file() else 0
        problem = _hashed(path, about["sha256"], changed_ns)
        if problem:
            raise DamagedError(f"{path}: {problem}; {_advice(folder)}", folder / MANIFEST)
    return manifest


@cache
def _hashed(path: Path, expected: str, changed_ns: int) -> str | None:
    """The file's problem, or None. Cached until it changes: a job opens a dataset for every run, and hashes it once."""
    return files.problem(path, expected)


def open(folder: Path) -> Prepared:
    """Check a prepared dataset's files and return it; splits are memory-mapped on access."""
    return Prepared(folder, verify(folder))
