"""Images of one's own: a folder for each class, in folders for each split or in none.

``<split>/<class>/<image>`` if there is a folder ``train`` with folders in it; else ``<class>/<image>``, all of it
``train``. A split other than ``train`` may hold images without classes: ``<split>/<image>``.
"""

from pathlib import Path, PurePosixPath

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import by_class, images
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

LISTED = "{path}"
"""The folder whose listing, sizes and times are an input of the prepared copy."""


def folder(
    root: Path,
    download: bool = True,
    *,
    path: str,
    size: PositiveInt,
    test: str = "test",
    licence: str = "not stated",
    citation: str = "none",
) -> Arrays:
    """Images of a folder, each cut to its central square and resized.

    Args:
        path: the images' folder below ``root``; hidden files in it are ignored.
        size: side of the square, pixels.
        test: name of the folder that is the split ``test``, ``val`` for example.
        licence: of the images, for the manifest.
        citation: of the images, for the manifest.
    """
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
        raise HypersphereError(f"folder: path: must be a folder below the data folder (given: {path})")
    shelf = Shelf(root / path)
    names = shelf.names()
    depth = int(any(name.startswith(f"{TRAIN}/") and name.count("/") > 1 for name in names))
    by_split: dict[str, list[str]] = {}
    for name in names:
        by_split.setdefault(name.split("/")[0] if depth else TRAIN, []).append(name)
    classes = sorted({name.split("/")[depth] for name in by_split.get(TRAIN, [])})
    if not classes:
        raise HypersphereError(f"{shelf.place}: holds neither <split>/<class>/<image> nor <class>/<image>")
    if depth and test != TEST and (test in by_split) == (TEST in by_split):
        raise HypersphereError(f"{shelf.place}: should have one of the folders {TEST} and {test} (folder: test)")
    splits = {}
    for name, members in by_split.items():
        if name == TRAIN or any(member.count("/") > 1 for member in members):
            split = by_class(shelf, members, classes, size, depth)
        else:
            split = Split(images(shelf, members, size), {})
        splits[TEST if name == test else name] = split
    about = {"source": f"the folder {path}", "licence": licence, "citation": citation}
    return Arrays(splits, {CLASS: tuple(classes)}, about)
