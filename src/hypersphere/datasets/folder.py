"""Images of one's own: ``<split>/<class>/<image>``, of which one split is ``train``."""

from collections import defaultdict
from pathlib import Path, PurePosixPath

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import by_class
from hypersphere.datasets.types import CLASS, TRAIN, Arrays
from hypersphere.errors import HypersphereError

LISTED = "{path}"
"""The folder whose listing, sizes and times are an input of the prepared copy."""
SPLITS = "{path}"
"""The folder whose folders are the splits, which a plan looks at before anything is prepared."""


def folder(root: Path, download: bool = True, *, path: str, size: PositiveInt) -> Arrays:
    """Images of a folder, each cut to its central square and resized. Every split has the classes of ``train``.

    Args:
        path: the images' folder below ``root``; hidden files in it are ignored.
        size: side of the square, pixels.
    """
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
        raise HypersphereError(
            f"folder: path: must be a folder below the data folder (given: {path})"
        )
    shelf = Shelf(root / path)
    by_split: dict[str, list[str]] = defaultdict(list)
    classes: set[str] = set()
    for name in shelf.names():
        split, *below = name.split("/")
        by_split[split].append(name)
        if split == TRAIN and len(below) == 2:
            classes.add(below[0])
    if not classes:
        raise HypersphereError(f"{shelf.place}: must hold {TRAIN}/<class>/<image>")
    # a class without training images is blamed on them
    in_order = sorted(by_split, key=lambda part: part != TRAIN)
    names = tuple(sorted(classes))
    splits = {part: by_class(shelf, by_split[part], names, size, part) for part in in_order}
    about = {"source": f"the folder {path}", "licence": "not stated", "citation": "none"}
    return Arrays(splits, {CLASS: names}, about)
