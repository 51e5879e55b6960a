"""ImageNet (ILSVRC 2012): photographs of 1,000 classes, from a folder that the user has. It is not downloaded.

The folder holds ``train/<WordNet id>/<image>`` and ``val/<WordNet id>/<image>``, or else the three official archives,
which are read in place.
"""

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Nested, Shelf
from hypersphere.datasets.reading.image_files import by_class, images
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

TRAINING, VALIDATION = "ILSVRC2012_img_train.tar", "ILSVRC2012_img_val.tar"
KIT, KIT_FOLDER = "ILSVRC2012_devkit_t12.tar.gz", "ILSVRC2012_devkit_t12"
"""The development kit, which says the class of each validation image."""
CLASSES = 1_000
IMAGES = {"train": 1_281_167, "val": 50_000}
LISTED = "{path}"


def imagenet(
    root: Path, download: bool = True, *, path: str = "imagenet", size: PositiveInt = 224
) -> Arrays:
    """1,281,167 training and 50,000 test images, which are ImageNet's validation images; classes by their ids.

    Args:
        path: the folder of ImageNet below ``root``.
        size: side of the square to which each image is cut and resized, pixels. At 224 pixels the prepared images take
            200 GB.
    """
    folder = root / path
    about = published.table()["imagenet"]
    if (folder / "train").is_dir():
        classes, splits = _of_folders(folder, size)
    elif (folder / TRAINING).is_file():
        for file in about.files.values():
            published.require(file, folder / file.name, download=False)
        classes, splits = _of_archives(folder, size)
    else:
        raise HypersphereError(f"{folder}: has neither the folders train and val nor {TRAINING}")
    return Arrays(splits, {CLASS: classes}, about.about())


def _of_folders(folder: Path, size: int) -> tuple[tuple[str, ...], dict[str, Split]]:
    """The classes and splits of a folder for each part and class."""
    names = {part: Shelf(folder / part).names() for part in IMAGES}
    classes = _classes(names["train"], folder / "train")
    splits = {}
    for ours, part in ((TRAIN, "train"), (TEST, "val")):
        splits[ours] = by_class(Shelf(folder / part), names[part], classes, size)
        _check_number(splits[ours], part, folder / part)
    return classes, splits


def _of_archives(folder: Path, size: int) -> tuple[tuple[str, ...], dict[str, Split]]:
    """The classes and splits of the official archives: a tar of a tar for each class, and one of validation images."""
    training, validation = Nested(folder / TRAINING), Shelf(folder / VALIDATION)
    classes = _classes(training.names(), folder / TRAINING)
    kit = Shelf(folder / KIT, KIT_FOLDER, in_order=True)
    truth = [int(line) for line in kit.read("data/ILSVRC2012_validation_ground_truth.txt").split()]
    numbers = {identifier: number for number, identifier in enumerate(classes)}
    named = _leaves(kit.read("data/meta.mat"))
    labels = np.array([numbers[named[one]] for one in truth], np.int64)
    train = by_class(training, training.names(), classes, size)
    test = Split(images(validation, validation.names(), size), {CLASS: labels})
    _check_number(train, "train", folder / TRAINING)
    _check_number(test, "val", folder / VALIDATION)
    return classes, {TRAIN: train, TEST: test}


def _classes(names: Iterable[str], place: Path) -> tuple[str, ...]:
    """The WordNet ids of the classes: the folders of training images."""
    classes = tuple(sorted({name.partition("/")[0] for name in names}))
    if len(classes) != CLASSES:
        raise HypersphereError(
            f"{place}: has {len(classes):,} folders of classes; ImageNet has {CLASSES:,}"
        )
    return classes


def _check_number(split: Split, part: str, place: Path) -> None:
    if len(split.images) != IMAGES[part]:
        raise HypersphereError(
            f"{place}: has {len(split.images):,} images; ImageNet has {IMAGES[part]:,} there"
        )


def _leaves(meta: bytes) -> dict[int, str]:
    """The WordNet id of each class by its number in the development kit; it lists their hypernyms, too."""
    identifiers = {}
    for synset in loadmat(io.BytesIO(meta), squeeze_me=True)["synsets"]:
        number, identifier, _, _, children, *_ = synset.tolist()
        if children == 0:
            identifiers[int(number)] = str(identifier)
    return identifiers
