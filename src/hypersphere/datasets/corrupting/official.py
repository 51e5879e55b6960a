"""The benchmark's own files: CIFAR-10-C, CIFAR-100-C and Tiny-ImageNet-C, unpacked or in the archive, read in place.

CIFAR's are a .npy file for each corruption, with five times the test images, in the test set's order: those of severity
1 first, those of 5 last. Tiny-ImageNet-C is JPEG files, ``<corruption>/<severity>/<class>/<image>``, of the benchmark's
fifteen corruptions. The other four are published in an archive of their own, whose folders may lie beside these,
unpacked. The images of one severity are 50 of each class, in the order of their names; that is not the order of Tiny
ImageNet's validation images, so each split has its own labels.
"""

import io
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.datasets.corrupting.apply import SEVERITIES
from hypersphere.datasets.reading import image_files, published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.types import Split
from hypersphere.errors import HypersphereError
from hypersphere.wording import counted

LABELS = "labels"
FOLDERS = {"cifar10": "CIFAR-10-C", "cifar100": "CIFAR-100-C"}
"""The set's folder by its clean set; the archive is called after it."""
TINY, TINY_ARCHIVE = "Tiny-ImageNet-C", "Tiny-ImageNet-C.tar"
TINY_SIZE, TINY_PER_CLASS = 64, 50
TINY_DEPTH = 2
"""Place of the class among the parts of a name: ``fog/3/n01443537/x.JPEG``."""


def load(
    root: Path, download: bool, base: str, tests: Int64[np.ndarray, "N"]
) -> Callable[[str], UInt8[np.ndarray, "5N 32 32 3"]]:
    """A function from a corruption's name to its images, which reads its file. The last one, 150 MB, is kept.

    The set's labels must repeat ``tests``, those of the clean test set ``base``.
    """
    folder = root / FOLDERS[base]
    shelf = published.shelf(folder, published.table()[f"{base}_c"].files[f"{folder.name}.tar"], download)
    if not np.array_equal(_array(shelf, LABELS), np.tile(tests, len(SEVERITIES))):
        raise HypersphereError(f"{shelf.place}/{LABELS}.npy: does not repeat the labels of the test set of {base}")
    return lru_cache(maxsize=1)(partial(_array, shelf))


def _array(shelf: Shelf, name: str) -> UInt8[np.ndarray, "..."]:
    """What a .npy file holds, after its checksum is compared; an archive's was compared as a whole."""
    content = shelf.read(f"{name}.npy")
    if shelf.path.is_dir() and (problem := published.damage(content, f"{shelf.path.name}/{name}.npy")):
        raise HypersphereError(f"{shelf.place}/{name}.npy: {problem}; put the official file there")
    return np.load(io.BytesIO(content))


def load_tiny(root: Path, download: bool, names: Sequence[str], ids: Sequence[str]) -> dict[tuple[str, int], Split]:
    """The splits of Tiny-ImageNet-C by corruption and severity; images are decoded when they are read.

    ``ids`` are the WordNet ids of the classes, in the order of the labels.
    """
    shelf = published.shelf(root / TINY, published.table()["tiny_imagenet_c"].files[TINY_ARCHIVE], download)
    ways = {f"{name}/{severity}": (name, severity) for name in names for severity in SEVERITIES}
    members: dict[str, list[str]] = {below: [] for below in ways}
    for name in shelf.names():
        below = "/".join(name.split("/")[:TINY_DEPTH])
        if below in members:
            members[below].append(name)
    splits = {}
    for below, way in ways.items():
        place = f"{shelf.place}/{below}"
        if not members[below]:
            raise HypersphereError(f"{place}: the folder is missing or empty")
        found = image_files.labelled(shelf, members[below], TINY_DEPTH, ids)
        for number, identifier in enumerate(ids):
            if (count := found.labels.count(number)) != TINY_PER_CLASS:
                wrong = f"holds {counted(count, 'image')}, and should hold {TINY_PER_CLASS}"
                raise HypersphereError(f"{place}/{identifier}: {wrong}")
        splits[way] = image_files.split(shelf, found, TINY_SIZE)
    return splits
