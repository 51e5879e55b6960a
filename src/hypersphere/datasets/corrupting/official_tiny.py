"""The benchmark's own Tiny-ImageNet-C: JPEG files, ``<corruption>/<severity>/<class>/<image>``, in a folder or a .tar.

It has the benchmark's fifteen corruptions. The other four are published in an archive of their own, whose folders may
lie beside these, unpacked. The images of one severity are 50 of each class, in the order of their names; that is not
the order of Tiny ImageNet's validation images, so each split has its own labels.
"""

from collections.abc import Sequence
from pathlib import Path

from hypersphere.datasets.corrupting.severities import SEVERITIES
from hypersphere.datasets.reading import class_folders, published
from hypersphere.datasets.reading.archives import Folder, PlainTar, Shelf
from hypersphere.datasets.types import Split
from hypersphere.errors import HypersphereError
from hypersphere.wording import counted

FOLDER, ARCHIVE = "Tiny-ImageNet-C", "Tiny-ImageNet-C.tar"
SIZE = 64
PER_CLASS = 50
DEPTH = 2
"""Place of the class among the parts of a name: ``fog/3/n01443537/x.JPEG``."""


def load(root: Path, download: bool, names: Sequence[str], ids: Sequence[str]) -> dict[tuple[str, int], Split]:
    """The splits by corruption and severity; images are decoded when they are read.

    Args:
        root: the folder that holds ``Tiny-ImageNet-C`` or else ``Tiny-ImageNet-C.tar``, which is read in place.
        download: fetch the archive if neither is there, or if it is damaged; False: only read.
        names: of the corruptions.
        ids: WordNet ids of the classes, in the order of the labels.

    Raises:
        HypersphereError: the source or a part of it is missing or damaged, or a class has another number of images than
            published.
    """
    ways = {(name, severity): f"{name}/{severity}" for name in names for severity in SEVERITIES}
    shelf: Shelf
    if (root / FOLDER).is_dir():
        shelf = Folder(root / FOLDER)
        files = {below: _in_folder(root / FOLDER, below) for below in ways.values()}
    else:
        file = published.table()["tiny_imagenet_c"].files[ARCHIVE]
        published.require(file, root / ARCHIVE, download, unpacked=FOLDER)
        shelf = PlainTar(root / ARCHIVE, FOLDER, lambda name: name.split("/")[0] in names)
        files = {below: [] for below in ways.values()}
        for name in shelf.names():
            files.setdefault("/".join(name.split("/")[:DEPTH]), []).append(name)
    return {way: _split(shelf, below, files[below], ids) for way, below in ways.items()}


def _in_folder(folder: Path, below: str) -> list[str]:
    return [f"{below}/{file}" for file in Folder(folder / below).names()] if (folder / below).is_dir() else []


def _split(shelf: Shelf, below: str, files: Sequence[str], ids: Sequence[str]) -> Split:
    if not files:
        raise HypersphereError(f"{shelf.place}/{below}: the folder is missing or empty")
    found = class_folders.labelled(shelf, files, DEPTH, ids)
    for number, identifier in enumerate(ids):
        count = found.labels.count(number)
        if count != PER_CLASS:
            raise HypersphereError(
                f"{shelf.place}/{below}/{identifier}: holds {counted(count, 'image')}, and should hold {PER_CLASS}"
            )
    return class_folders.split(shelf, found, SIZE)
