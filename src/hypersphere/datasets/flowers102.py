"""Flowers102: 8,189 photographs of 102 kinds of flowers, from the official archive and its two MATLAB files.

They are in ``flowers-102`` of a data folder: ``102flowers.tgz``, ``imagelabels.mat`` and ``setid.mat``.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from scipy.io import loadmat

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import images
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

FOLDER, ARCHIVE, IMAGES = "flowers-102", "102flowers.tgz", "jpg"
CLASSES = 102
OFFICIAL = {"train": "trnid", "val": "valid", "test": "tstid"}
"""The authors' parts -> their names in setid.mat: 1,020, 1,020 and 6,149 images."""


def flowers102(
    root: Path,
    download: bool = True,
    *,
    size: PositiveInt = 128,
    train: Literal["train", "val", "test"] = "train",
    test: Literal["train", "val", "test"] = "test",
) -> Arrays:
    """Photographs, each cut to its central square and resized; within a split in the order of their official numbers.

    Args:
        size: side of the square, pixels.
        train: the authors' part that is our ``train``. Theirs of that name has ten images of each class, and their
            ``test`` between 20 and 238: on the latter the norms paper's code trains, and evaluates on ``val``.
        test: the authors' part that is our ``test``.
    """
    if train == test:
        raise HypersphereError(
            f"flowers102: train and test: name the same part, {train}; training images are no test"
        )
    about = published.table()["flowers102"]
    folder = root / FOLDER
    tables: dict[str, np.ndarray] = {}
    for name in ("imagelabels.mat", "setid.mat"):
        published.require(about.files[name], folder / name, download)
        tables |= loadmat(folder / name)
    labels = tables["labels"].reshape(-1).astype(np.int64) - 1
    shelf = published.shelf(folder / IMAGES, about.files[ARCHIVE], download)
    splits = {}
    for ours, theirs in ((TRAIN, train), (TEST, test)):
        numbers = np.sort(tables[OFFICIAL[theirs]].reshape(-1)).astype(np.int64)
        names = [f"image_{number:05d}.jpg" for number in numbers]
        splits[ours] = Split(images(shelf, names, size), {CLASS: labels[numbers - 1]})
    classes = tuple(f"flower {number}" for number in range(1, CLASSES + 1))
    return Arrays(splits, {CLASS: classes}, about.about())
