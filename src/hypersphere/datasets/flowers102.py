"""Flowers102: 8,189 photographs of 102 kinds of flowers, from the official archive and its two MATLAB files.

They are in ``flowers-102`` of a data folder, as torchvision has them: ``102flowers.tgz`` or, unpacked, ``jpg/``, and
beside it ``imagelabels.mat`` and ``setid.mat``. ``scipy.io.loadmat`` builds arrays from such a file, and runs no code.
"""

import io
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Int64
from scipy.io import loadmat

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import Labelled, split
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays
from hypersphere.errors import HypersphereError

FOLDER, ARCHIVE, IMAGES = "flowers-102", "102flowers.tgz", "jpg"
LABELS, PARTS = "imagelabels.mat", "setid.mat"
LISTED = "flowers-102"
CLASSES, TOTAL = 102, 8_189
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
        raise HypersphereError(f"flowers102: train and test: name the same part, {train}; training images are no test")
    about, folder = published.table()["flowers102"], root / FOLDER
    labels = _matrix(folder / LABELS, "labels", about, download) - 1
    if len(labels) != TOTAL or not ((labels >= 0) & (labels < CLASSES)).all():
        raise HypersphereError(f"{folder / LABELS}: labels: must be {TOTAL} numbers from 1 to {CLASSES}")
    shelf = published.shelf(folder / IMAGES, about.files[ARCHIVE], download)
    known = set(shelf.names())
    splits = {}
    for ours, theirs in ((TRAIN, train), (TEST, test)):
        numbers = np.sort(_matrix(folder / PARTS, OFFICIAL[theirs], about, download))
        if len(numbers) == 0 or numbers[0] < 1 or numbers[-1] > TOTAL:
            raise HypersphereError(f"{folder / PARTS}: {OFFICIAL[theirs]}: must be numbers from 1 to {TOTAL}")
        names = [f"image_{number:05d}.jpg" for number in numbers]
        if missing := next((name for name in names if name not in known), None):
            raise HypersphereError(f"{shelf.place}/{missing}: the file is missing; {PARTS} lists it")
        splits[ours] = split(shelf, Labelled(names, labels[numbers - 1].tolist()), size)
    classes = tuple(f"flower {number}" for number in range(1, CLASSES + 1))
    return Arrays(splits, {CLASS: classes}, about.about())


def _matrix(path: Path, name: str, about: published.Published, download: bool) -> Int64[np.ndarray, "N"]:
    """A row of whole numbers in a MATLAB file, whose bytes are checked first."""
    published.require(about.files[path.name], path, download)
    try:
        content: dict[str, Any] = loadmat(io.BytesIO(path.read_bytes()), variable_names=[name])
        values = np.asarray(content[name]).reshape(-1)
        if values.dtype.kind not in "iuf":
            raise ValueError(f"it holds {values.dtype}")
        return values.astype(np.int64)
    except KeyError:
        raise HypersphereError(f"{path}: holds no {name}") from None
    except Exception as error:  # loadmat raises many kinds for a file that is not MATLAB's
        raise HypersphereError(f"{path}: {name}: cannot be read ({' '.join(str(error).split())})") from None
