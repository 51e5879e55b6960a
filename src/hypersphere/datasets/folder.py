"""Images of one's own: a folder for each class, in folders for each split or in none.

``<split>/<class>/<image>`` if there is a folder ``train`` with folders in it; else ``<class>/<image>``, all of it
``train``. A split other than ``train`` may hold images without classes: ``<split>/<image>``.
"""

from pathlib import Path, PurePosixPath

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import ENDINGS, classes_of, images, labelled
from hypersphere.datasets.reading.image_files import split as split_of
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
    if not (root / path).is_dir():
        raise HypersphereError(f"{root / path}: no such folder; folder: path: names a folder below the data folder")
    shelf = Shelf(root / path)
    names = shelf.names()
    about = {"source": f"the folder {path}", "licence": licence, "citation": citation}
    if not any(name.startswith(f"{TRAIN}/") and name.count("/") > 1 for name in names):
        classes = classes_of(shelf, names, 0)
        if not classes:
            raise HypersphereError(f"{shelf.place}: holds neither <split>/<class>/<image> nor <class>/<image>")
        train = split_of(shelf, labelled(shelf, names, 0, classes), size)
        return Arrays({TRAIN: train}, {CLASS: tuple(classes)}, about)
    by_split: dict[str, list[str]] = {name: [] for name in classes_of(shelf, names, 0)}
    for name in names:
        by_split[name.split("/")[0]].append(name)
    classes = classes_of(shelf, by_split[TRAIN], 1)
    if test != TEST and test not in by_split:
        raise HypersphereError(f"{shelf.place}: has no folder {test}, which folder: test: names")
    if test != TEST and TEST in by_split:
        raise HypersphereError(f"{shelf.place}: has two folders for the split {TEST}: {test} and {TEST}")
    splits = {}
    for name, members in by_split.items():
        ours = TEST if name == test else name
        if name == TRAIN or any(member.count("/") > 1 for member in members):
            classes_of(shelf, members, 1)
            splits[ours] = split_of(shelf, labelled(shelf, members, 1, classes), size)
            continue
        if other := next((member for member in members if not member.lower().endswith(ENDINGS)), None):
            raise HypersphereError(f"{shelf.place}/{other}: is no image by its name ({', '.join(ENDINGS)})")
        splits[ours] = Split(images(shelf, members, size), {})
    return Arrays(splits, {CLASS: tuple(classes)}, about)
