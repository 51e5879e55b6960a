"""The benchmark's own Tiny-ImageNet-C: a folder of JPEG files, ``<corruption>/<severity>/<class>/<image>``.

It has the benchmark's fifteen corruptions. The other four are published in an archive of their own, whose folders may
lie beside these. The images of one severity are 50 of each class, in the order of their names; that is not the order of
Tiny ImageNet's validation images, so each split has its own labels.
"""

from collections.abc import Sequence
from pathlib import Path

from hypersphere.datasets import class_folders
from hypersphere.datasets.archives import Folder
from hypersphere.datasets.corrupting.severities import SEVERITIES
from hypersphere.datasets.types import Split
from hypersphere.errors import HypersphereError
from hypersphere.nouns import counted

FOLDER = "Tiny-ImageNet-C"
HOMEPAGE = "https://zenodo.org/records/2536630"
SIZE = 64
PER_CLASS = 50
DEPTH = 2
"""Place of the class among the parts of a name: ``fog/3/n01443537/x.JPEG``."""


def load(root: Path, names: Sequence[str], ids: Sequence[str]) -> dict[tuple[str, int], Split]:
    """The splits by corruption and severity; images are decoded when they are read.

    Args:
        root: the folder that holds ``Tiny-ImageNet-C``, unpacked.
        names: of the corruptions.
        ids: WordNet ids of the classes, in the order of the labels.

    Raises:
        HypersphereError: the folder or a part of it is missing, or a class has another number of images than published.
    """
    folder = root / FOLDER
    if not folder.is_dir():
        raise HypersphereError(f"{root}: holds no folder {FOLDER}, which is published at {HOMEPAGE}; unpack it there")
    return {(name, severity): _split(folder, name, severity, ids) for name in names for severity in SEVERITIES}


def _split(folder: Path, name: str, severity: int, ids: Sequence[str]) -> Split:
    below = f"{name}/{severity}"
    if not (folder / below).is_dir():
        raise HypersphereError(f"{folder / below}: the folder is missing")
    shelf = Folder(folder)
    files = [f"{below}/{file}" for file in Folder(folder / below).names()]
    found = class_folders.labelled(shelf, files, DEPTH, ids)
    for number, identifier in enumerate(ids):
        count = found.labels.count(number)
        if count != PER_CLASS:
            raise HypersphereError(
                f"{folder / below / identifier}: holds {counted(count, 'image')}, and should hold {PER_CLASS}"
            )
    return class_folders.split(shelf, found, SIZE)
