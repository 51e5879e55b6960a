"""Tiny ImageNet: 200 classes of ImageNet at 64 × 64 pixels, from the course's .zip, which is read in place.

The labels of its test images were never published. Papers test on the validation images, which are our ``test``.
"""

from pathlib import Path

import numpy as np

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import images
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split

FOLDER, ARCHIVE = "tiny-imagenet-200", "tiny-imagenet-200.zip"
SIZE = 64
ANNOTATIONS = "val/val_annotations.txt"
"""A line for each image: its name, class and the corners of a box, with tabs between them."""


def tiny_imagenet(root: Path, download: bool = True) -> Arrays:
    """100,000 training and 10,000 test images, 64 × 64; classes in the order of their WordNet ids."""
    about = published.table()["tiny_imagenet"]
    shelf = published.shelf(root / FOLDER, about.files[ARCHIVE], download)
    ids = sorted(shelf.read("wnids.txt").decode().split())
    train: dict[str, str] = {}
    for name in shelf.names():
        folder, *below = name.split("/")
        if folder == "train" and name.endswith(".JPEG"):
            train[name] = below[0]
    test: dict[str, str] = {}
    for line in shelf.read(ANNOTATIONS).decode().splitlines():
        image, identifier, *_ = line.split("\t")
        test[f"val/images/{image}"] = identifier
    splits = {}
    for part, class_of in ((TRAIN, train), (TEST, test)):
        labels = [ids.index(identifier) for identifier in class_of.values()]
        pixels = images(shelf, list(class_of), SIZE)
        splits[part] = Split(pixels, {CLASS: np.array(labels, np.int64)})
    # Different classes may share their first word or words, so the id stands beside them.
    lines = shelf.read("words.txt").decode().splitlines()
    words = dict(line.split("\t", 1) for line in lines)
    shown = tuple(f"{identifier} {words[identifier].split(',')[0]}" for identifier in ids)
    return Arrays(splits, {CLASS: shown}, about.about())
