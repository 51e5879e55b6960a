"""Tiny ImageNet: 200 classes of ImageNet at 64 × 64 pixels, from the course's .zip or the folder unpacked from it.

The labels of its test images were never published. Papers test on the validation images, which are our ``test``.
"""

from pathlib import Path

import numpy as np

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import images
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

FOLDER, ARCHIVE = "tiny-imagenet-200", "tiny-imagenet-200.zip"
LISTED = "tiny-imagenet-200"
SIZE = 64
IMAGES = {TRAIN: 100_000, TEST: 10_000}
"""Images of each split, as published."""
ANNOTATIONS = "val/val_annotations.txt"
"""A line for each image: its name, class and the corners of a box, with tabs between them."""


def tiny_imagenet(root: Path, download: bool = True) -> Arrays:
    """100,000 training and 10,000 test images, 64 × 64; classes in the order of their WordNet ids."""
    about = published.table()["tiny_imagenet"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download)
    ids = sorted(shelf.text("wnids.txt").split())
    train = [name.split("/") for name in shelf.names() if name.startswith("train/") and name.endswith(".JPEG")]
    tests = [line.split("\t") for line in shelf.text(ANNOTATIONS).splitlines()]
    listed = {
        TRAIN: [("/".join(parts), parts[1]) for parts in train],
        TEST: [(f"val/images/{row[0]}", row[1] if len(row) > 1 else "") for row in tests],
    }
    splits = {}
    for part, found in listed.items():
        if len(found) != IMAGES[part] or {identifier for _, identifier in found} != set(ids):
            where = "train" if part == TRAIN else ANNOTATIONS
            raise HypersphereError(
                f"{shelf.place}/{where}: should have {IMAGES[part]:,} images of all classes that wnids.txt lists, and "
                f"of no others; it has {len(found):,} images"
            )
        names, classes = zip(*found, strict=True)
        labels = np.array([ids.index(identifier) for identifier in classes], np.int64)
        splits[part] = Split(images(shelf, names, SIZE), {CLASS: labels})
    # Different classes may share their first word or words, so the id stands beside them.
    words = dict(line.split("\t", 1) for line in shelf.text("words.txt").splitlines() if "\t" in line)
    shown = tuple(f"{identifier} {words.get(identifier, '').split(',')[0]}".strip() for identifier in ids)
    return Arrays(splits, {CLASS: shown}, about.about())
