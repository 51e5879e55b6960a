"""Biased FFHQ: faces whose age nearly always tells their gender in training, from the authors' folder.

J. Lee, E. Kim, J. Lee, J. Lee, J. Choo, Learning Debiased Representation via Disentangled Feature Augmentation, NeurIPS
2021. Their archive unpacks to ``bffhq``: ``0.5pct/align/<age>/<image>``, ``0.5pct/conflict/<age>/<image>``, and
``valid`` and ``test`` without folders of class. An image is called ``<number>_<age>_<gender>.png``; its class is the
age (0 or 1), and it conflicts with the bias if its gender is another number.
"""

import re
from pathlib import Path

import numpy as np

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import images
from hypersphere.datasets.types import CLASS, CONFLICTING, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

LISTED = "{path}"
NAME = re.compile(r".*_(?P<age>[01])_(?P<gender>[01])\.(?:png|jpg|jpeg)", re.IGNORECASE)
SHARE = "0.5pct"


def biased_ffhq(
    root: Path, download: bool = True, *, path: str = "bffhq", size: PositiveInt = 128
) -> Arrays:
    """19,200 training images, of which 96 conflict, 1,000 validation and 1,000 test images; attribute ``conflicting``.

    Args:
        path: the authors' folder below ``root``.
        size: side of the square to which images (128 × 128) are resized, pixels.
    """
    splits = {}
    for part, folder in ((TRAIN, SHARE), ("valid", "valid"), (TEST, "test")):
        shelf = Shelf(root / path / folder)
        names = [name for name in shelf.names() if not name.endswith("/")]
        biases = []
        for name in names or [""]:
            match = NAME.fullmatch(name)
            if match is None:
                raise HypersphereError(
                    f"{shelf.place}/{name}: should hold images called <number>_<age>_<gender>.png"
                )
            biases.append((int(match["age"]), int(match["gender"])))
        age, gender = np.array(biases, np.int64).T
        splits[part] = Split(images(shelf, names, size), {CLASS: age}, {CONFLICTING: age != gender})
    about = published.table()["biased_ffhq"].about()
    return Arrays(splits, {CLASS: ("age 0", "age 1")}, about)
