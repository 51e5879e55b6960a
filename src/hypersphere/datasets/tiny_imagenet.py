"""Tiny ImageNet: 200 classes of ImageNet at 64 × 64 pixels, from the course's .zip or the folder unpacked from it.

The labels of its test images were never published. Papers test on the validation images, which are our ``test``.
"""

from pathlib import Path

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import Labelled, split
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays
from hypersphere.errors import HypersphereError
from hypersphere.wording import counted

FOLDER, ARCHIVE = "tiny-imagenet-200", "tiny-imagenet-200.zip"
LISTED = "tiny-imagenet-200"
SIZE = 64
CLASSES, PER_CLASS, TESTED = 200, 500, 10_000
"""Classes, training images of each, and validation images, as published."""
ANNOTATIONS = "val/val_annotations.txt"


def tiny_imagenet(root: Path, download: bool = True) -> Arrays:
    """100,000 training and 10,000 test images, 64 × 64; classes in the order of their WordNet ids."""
    about = published.table()["tiny_imagenet"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download)
    ids = sorted(_lines(shelf, "wnids.txt"))
    if len(set(ids)) != CLASSES:
        raise HypersphereError(
            f"{shelf.place}/wnids.txt: lists {len(set(ids))} classes, and Tiny ImageNet has {CLASSES}"
        )
    names = shelf.names()
    splits = {
        TRAIN: split(shelf, _train(shelf, names, ids), SIZE),
        TEST: split(shelf, _test(shelf, names, ids), SIZE),
    }
    # Different classes may share their first word or words, so the id stands beside them.
    words = dict(line.split("\t", 1) for line in _lines(shelf, "words.txt") if "\t" in line)
    classes = tuple(f"{identifier} {words.get(identifier, '').split(',')[0]}".strip() for identifier in ids)
    return Arrays(splits, {CLASS: classes}, about.about())


def _train(shelf: Shelf, names: list[str], ids: list[str]) -> Labelled:
    found = Labelled([], [])
    by_folder: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".JPEG"):
            by_folder.setdefault(f"{name.rpartition('/')[0]}/", []).append(name)
    for number, identifier in enumerate(ids):
        prefix = f"train/{identifier}/images/"
        members = by_folder.get(prefix, [])
        found.names.extend(members)
        found.labels.extend([number] * len(members))
        if len(members) != PER_CLASS:
            raise HypersphereError(
                f"{shelf.place}/{prefix}: holds {counted(len(members), 'image')}, and should hold {PER_CLASS}"
            )
    return found


def _test(shelf: Shelf, names: list[str], ids: list[str]) -> Labelled:
    """The validation images in the order of the annotations: tab-separated name, class and corners of a box."""
    numbers = {identifier: number for number, identifier in enumerate(ids)}
    there = set(names)
    found = Labelled([], [])
    for row, line in enumerate(_lines(shelf, ANNOTATIONS), start=1):
        fields = line.split("\t")
        if len(fields) < 2 or fields[1] not in numbers:
            raise HypersphereError(f"{shelf.place}/{ANNOTATIONS}: row {row}: names no image and class of wnids.txt")
        found.names.append(f"val/images/{fields[0]}")
        found.labels.append(numbers[fields[1]])
        if found.names[-1] not in there:
            raise HypersphereError(f"{shelf.place}/{found.names[-1]}: the file is missing; {ANNOTATIONS} lists it")
    if len(found.names) != TESTED:
        raise HypersphereError(
            f"{shelf.place}/{ANNOTATIONS}: lists {len(found.names)} images, and should list {TESTED}"
        )
    return found


def _lines(shelf: Shelf, name: str) -> list[str]:
    try:
        return shelf.read(name).decode().splitlines()
    except UnicodeDecodeError:
        raise HypersphereError(f"{shelf.place}/{name}: is not text in UTF-8") from None
