"""A set and its corrupted test images: CIFAR-10-C, CIFAR-100-C and Tiny-ImageNet-C, or the like of other images.

D. Hendrycks, T. Dietterich, Benchmarking neural network robustness to common corruptions and perturbations, ICLR 2019.
Official files are read byte for byte, unpacked or in the archive. Where they are not to be had, the corruptions can be
made by ``corrupting``, from their published definitions and parameters, with our random numbers, so that their bytes
are not the official ones.

CIFAR's official files are a .npy file for each corruption, with five times the test images, in the test set's order:
those of severity 1 first, those of 5 last. Tiny-ImageNet-C is JPEG files, ``<corruption>/<severity>/<class>/<image>``,
of the benchmark's fifteen corruptions. The images of one severity are 50 of each class, in the order of their names;
that is not the order of Tiny ImageNet's validation images, so each split has its own labels.
"""

import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.arguments import NonNegativeInt
from hypersphere.datasets.corrupting import BENCHMARK, FUNCTIONS, SEVERITIES, corrupt
from hypersphere.datasets.part import part
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import by_class
from hypersphere.datasets.types import CLASS, TEST, Arrays, Pieces, Split, changed
from hypersphere.errors import HypersphereError

LABELS = "labels"
FOLDERS = {"cifar10": "CIFAR-10-C", "cifar100": "CIFAR-100-C", "tiny_imagenet": "Tiny-ImageNet-C"}
"""The set's folder by its clean set; the archive is called after it."""
TINY_SIZE, TINY_PER_CLASS = 64, 50


def corruptions(
    root: Path,
    download: bool = True,
    *,
    base: Literal["cifar10", "cifar100", "tiny_imagenet", "digits"],
    origin: Literal["official", "made"] = "official",
    side: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Splits ``train`` and ``test``, clean, and ``<corruption>-<severity>``: the test images in 19 × 5 ways.

    Official ones of Tiny ImageNet are in 15 × 5 ways.

    Args:
        base: the clean set.
        origin: the benchmark's own files, or made here. Never one for the other: a set's bytes depend on its name.
        side: of an image, pixels, by area averages; 0: as the source has it. Only for made ones.
        train_per_class: training images per class; 0: all.
        test_per_class: test images per class; 0: all. Only for made ones.
        seed: of the choice of images and of all draws.
    """
    if origin == "official" and base not in FOLDERS:
        raise HypersphereError(f"corruptions: origin: there are no official files of {base}; it can be made")
    if origin == "official" and (side or test_per_class):
        raise HypersphereError("corruptions: side, test_per_class: official images are taken as they are; leave it out")
    plain = part(
        root, download, base=base, side=side, train_per_class=train_per_class, test_per_class=test_per_class, seed=seed
    )
    test, clean = plain.splits[TEST], plain.about
    tiny = base == "tiny_imagenet" and origin == "official"
    ways = [(name, severity) for name in (BENCHMARK if tiny else FUNCTIONS) for severity in SEVERITIES]
    if origin == "made":

        def made(name: str, severity: int) -> Pieces:
            return changed(test.images, lambda some, numbers: corrupt(some, name, severity, numbers, seed))

        corrupted = {way: Split(made(*way), test.labels) for way in ways}
        about = {
            "source": "corrupted here, as Hendrycks and Dietterich 2019 define it, not their files: " + clean["source"],
            "licence": clean["licence"],
            "citation": f"{published.table()['cifar10_c'].citation}; {clean['citation']}",
        }
    else:
        if tiny:
            ids = [name.split()[0] for name in plain.class_names[CLASS]]
            corrupted = official_tiny(root, download, ways, ids)
        else:
            images = official(root, download, base, test.labels[CLASS])

            def rows(name: str, severity: int) -> Pieces:
                first = (severity - 1) * len(test.images)
                return Pieces(test.images.shape, lambda numbers: images(name)[first + numbers])

            corrupted = {way: Split(rows(*way), test.labels) for way in ways}
        own = published.table()[f"{base}_c"].about()
        about = {
            "source": f"{own['source']}; clean images: {clean['source']}",
            "licence": f"{clean['licence']}; corrupted images: {own['licence']}",
            "citation": f"{own['citation']}; {clean['citation']}",
        }
    named = {f"{name}-{severity}": split for (name, severity), split in corrupted.items()}
    return plain._replace(splits={**plain.splits, **named}, about=about)


def official(
    root: Path, download: bool, base: str, tests: Int64[np.ndarray, "N"]
) -> Callable[[str], UInt8[np.ndarray, "5N 32 32 3"]]:
    """A function from a corruption's name to its images, which reads its file. The last one, 150 MB, is kept.

    The set's labels must repeat ``tests``, those of the clean test set ``base``.
    """
    shelf = _shelf(root, download, base)

    def array(name: str) -> UInt8[np.ndarray, "..."]:
        content = shelf.read(f"{name}.npy")
        if shelf.path.is_dir():  # an archive's checksum was compared as a whole
            content = published.checked(content, f"{FOLDERS[base]}/{name}.npy", f"{shelf.place}/{name}.npy", None)
        return np.load(io.BytesIO(content))

    if not np.array_equal(array(LABELS), np.tile(tests, len(SEVERITIES))):
        raise HypersphereError(f"{shelf.place}/{LABELS}.npy: does not repeat the labels of the test set of {base}")
    return lru_cache(maxsize=1)(array)


def official_tiny(
    root: Path, download: bool, ways: Sequence[tuple[str, int]], ids: Sequence[str]
) -> dict[tuple[str, int], Split]:
    """The splits of Tiny-ImageNet-C by corruption and severity; images are decoded when they are read.

    ``ids`` are the WordNet ids of the classes, in the order of the labels.
    """
    shelf = _shelf(root, download, "tiny_imagenet")
    names = shelf.names()
    splits = {}
    for name, severity in ways:
        members = [one for one in names if one.startswith(f"{name}/{severity}/")]
        if len(members) != TINY_PER_CLASS * len(ids):
            found = f"holds {len(members):,} images, and should hold {TINY_PER_CLASS * len(ids):,}"
            raise HypersphereError(f"{shelf.place}/{name}/{severity}: {found}")
        splits[name, severity] = by_class(shelf, members, ids, TINY_SIZE, depth=2)
    return splits


def _shelf(root: Path, download: bool, base: str) -> Shelf:
    folder = root / FOLDERS[base]
    return published.shelf(folder, published.table()[f"{base}_c"].files[f"{folder.name}.tar"], download)
