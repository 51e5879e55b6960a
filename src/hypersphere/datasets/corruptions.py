"""A set and its corrupted test images: CIFAR-10-C, CIFAR-100-C, or the like made from other images.

D. Hendrycks, T. Dietterich, Benchmarking neural network robustness to common corruptions and perturbations, ICLR 2019.
Official files are read byte for byte. Where they are not to be had, the corruptions can be made by ``corrupting``, from
their published definitions and parameters, with our random numbers, so that their bytes are not the official ones.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import UInt8

from hypersphere.arguments import NonNegativeInt
from hypersphere.config.validation import not_one_of
from hypersphere.datasets.corrupting import official
from hypersphere.datasets.corrupting.apply import BENCHMARK, FUNCTIONS, SEVERITIES, corrupt
from hypersphere.datasets.part import part
from hypersphere.datasets.reading import published
from hypersphere.datasets.types import CLASS, TEST, Arrays, Pieces, Split, changed
from hypersphere.errors import HypersphereError


def corruptions(
    root: Path,
    download: bool = True,
    *,
    base: Literal["cifar10", "cifar100", "tiny_imagenet", "digits"],
    origin: Literal["official", "made"] = "official",
    only: str = "",
    side: NonNegativeInt = 0,
    train_per_class: NonNegativeInt = 0,
    test_per_class: NonNegativeInt = 0,
    seed: NonNegativeInt = 0,
) -> Arrays:
    """Splits ``train`` and ``test``, clean, and ``<corruption>-<severity>``: the test images in 19 × 5 ways.

    Args:
        base: the clean set.
        origin: the benchmark's own files, or made here. Never one for the other: a set's bytes depend on its name.
        only: corruptions, separated by spaces; empty: all 19, or the 15 of Tiny-ImageNet-C.
        side: of an image, pixels, by area averages; 0: as the source has it. Only for made ones.
        train_per_class: training images per class; 0: all.
        test_per_class: test images per class; 0: all. Only for made ones.
        seed: of the choice of images and of all draws.
    """
    tiny = base == "tiny_imagenet" and origin == "official"
    names = tuple(dict.fromkeys(only.split())) or (BENCHMARK if tiny else tuple(FUNCTIONS))
    if unknown := [name for name in names if name not in FUNCTIONS]:
        raise HypersphereError(f"corruptions: only: {not_one_of(unknown[0], FUNCTIONS)}")
    if origin == "official" and not tiny and base not in official.FOLDERS:
        raise HypersphereError(f"corruptions: origin: there are no official files of {base}; it can be made")
    if origin == "official" and (side or test_per_class):
        raise HypersphereError("corruptions: side, test_per_class: official images are taken as they are; leave it out")
    plain = part(
        root, download, base=base, side=side, train_per_class=train_per_class, test_per_class=test_per_class, seed=seed
    )
    test, clean = plain.splits[TEST], plain.about
    ways = [(name, severity) for name in names for severity in SEVERITIES]
    if origin == "made":
        corrupted = {way: Split(_made(test.images, *way, seed), test.labels) for way in ways}
        about = {
            "source": "corrupted here, as Hendrycks and Dietterich 2019 define it, not their files: " + clean["source"],
            "licence": clean["licence"],
            "citation": f"{published.table()['cifar10_c'].citation}; {clean['citation']}",
        }
    else:
        if tiny:
            ids = [name.split()[0] for name in plain.class_names[CLASS]]
            corrupted = official.load_tiny(root, download, names, ids)
        else:
            images = official.load(root, download, base, test.labels[CLASS])
            corrupted = {way: Split(_rows(images, test.images, *way), test.labels) for way in ways}
        own = published.table()[f"{base}_c"].about()
        about = {
            "source": f"{own['source']}; clean images: {clean['source']}",
            "licence": f"{clean['licence']}; corrupted images: {own['licence']}",
            "citation": f"{own['citation']}; {clean['citation']}",
        }
    named = {f"{name}-{severity}": split for (name, severity), split in corrupted.items()}
    return plain._replace(splits={**plain.splits, **named}, about=about)


def _rows(
    images: Callable[[str], UInt8[np.ndarray, "5N H W 3"]],
    clean: UInt8[np.ndarray, "N H W 3"] | Pieces,
    name: str,
    severity: int,
) -> Pieces:
    """The official images of one corruption and severity: as many, and as large, as the clean ones."""
    first = (severity - 1) * len(clean)
    return Pieces((len(clean), *clean.shape[1:]), lambda numbers: images(name)[first + numbers])


def _made(images: UInt8[np.ndarray, "N H W 3"] | Pieces, name: str, severity: int, seed: int) -> Pieces:
    return changed(images, lambda some, numbers: corrupt(some, name, severity, numbers, seed))
