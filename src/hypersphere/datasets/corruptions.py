"""A set and its corrupted test images: CIFAR-10-C, CIFAR-100-C and Tiny-ImageNet-C, or the like of other images.

D. Hendrycks, T. Dietterich, Benchmarking neural network robustness to common corruptions and perturbations, ICLR 2019.
Official files are read byte for byte, in the archive. Where they are not to be had, ``corrupting`` can make the like,
whose bytes are not the official ones.

CIFAR's official files are a .npy file for each corruption, with five times the test images, in the test set's order:
those of severity 1 first, those of 5 last. Tiny-ImageNet-C is JPEG files, ``<corruption>/<severity>/<class>/<image>``,
of the benchmark's fifteen corruptions. The images of one severity are 50 of each class, in the order of their names;
that is not the order of Tiny ImageNet's validation images, so each split has its own labels.
"""

import io
from functools import lru_cache, partial
from itertools import product
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
TINY_SIZE = 64


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

    Official ones of Tiny ImageNet are in 15 × 5 ways. ``side``, ``train_per_class``, ``test_per_class`` and ``seed``
    are as in ``part``, ``side`` and ``test_per_class`` only for made ones; ``seed`` is also that of all draws.

    Args:
        base: the clean set.
        origin: the benchmark's own files, or made here. Never one for the other: a set's bytes depend on its name.
    """
    if origin == "official" and base not in FOLDERS:
        raise HypersphereError(
            f"corruptions: origin: there are no official files of {base}; it can be made"
        )
    if origin == "official" and (side or test_per_class):
        raise HypersphereError(
            "corruptions: side, test_per_class: official images are taken as they are; leave it out"
        )
    plain = part(
        root,
        download,
        base=base,
        side=side,
        train_per_class=train_per_class,
        test_per_class=test_per_class,
        seed=seed,
    )
    test, clean = plain.splits[TEST], plain.about
    if origin == "made":
        corrupted = {}
        for name, severity in product(FUNCTIONS, SEVERITIES):
            change = partial(corrupt, name=name, severity=severity, seed=seed)
            corrupted[f"{name}-{severity}"] = Split(changed(test.images, change), test.labels)
        about = {
            "source": "corrupted here, as Hendrycks and Dietterich 2019 define it, not their files: "
            + clean["source"],
            "licence": clean["licence"],
            "citation": f"{published.table()['cifar10_c'].citation}; {clean['citation']}",
        }
    else:
        folder, listed = root / FOLDERS[base], published.table()[f"{base}_c"]
        shelf = published.shelf(folder, listed.files[f"{folder.name}.tar"], download)
        if base == "tiny_imagenet":
            ids = [name.split()[0] for name in plain.class_names[CLASS]]  # of WordNet
            names, corrupted = shelf.names(), {}
            for name, severity in product(BENCHMARK, SEVERITIES):
                members = [one for one in names if one.startswith(f"{name}/{severity}/")]
                corrupted[f"{name}-{severity}"] = by_class(
                    shelf, members, ids, TINY_SIZE, f"{name}/{severity}"
                )
        else:
            corrupted = official(shelf, test)
        own = listed.about()
        about = {
            "source": f"{own['source']}; clean images: {clean['source']}",
            "licence": f"{clean['licence']}; corrupted images: {own['licence']}",
            "citation": f"{own['citation']}; {clean['citation']}",
        }
    return plain._replace(splits={**plain.splits, **corrupted}, about=about)


def official(shelf: Shelf, test: Split) -> dict[str, Split]:
    """The splits of CIFAR-C. A corruption's file is read when its images are; the last one, 150 MB, is kept.

    The set's labels must repeat those of ``test``, the clean test images.
    """

    @lru_cache(maxsize=1)
    def array(name: str) -> UInt8[np.ndarray, "..."]:
        return np.load(io.BytesIO(shelf.read(f"{name}.npy")))

    def rows(
        name: str, first: int, numbers: Int64[np.ndarray, "K"]
    ) -> UInt8[np.ndarray, "K 32 32 3"]:
        return array(name)[first + numbers]

    if not np.array_equal(array(LABELS), np.tile(test.labels[CLASS], len(SEVERITIES))):
        raise HypersphereError(
            f"{shelf.place}/{LABELS}.npy: does not repeat the labels of the test set"
        )
    splits = {}
    for name, severity in product(FUNCTIONS, SEVERITIES):
        images = Pieces(test.images.shape, partial(rows, name, (severity - 1) * len(test.images)))
        splits[f"{name}-{severity}"] = Split(images, test.labels)
    return splits
