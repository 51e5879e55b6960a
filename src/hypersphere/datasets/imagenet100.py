"""ImageNet-100: the hundred classes of ImageNet that Tian, Krishnan and Isola (CMC, 2020) drew.

Wang and Isola (2020) use that list, and the norms paper follows them. LMCL does not say which hundred classes it uses.
data/imagenet100.txt holds the list. The images come from a folder of ImageNet (ILSVRC 2012) that the user has:
``train/<WordNet id>/<image>`` and ``val/<WordNet id>/<image>``. Folders of other classes in it are ignored.
"""

from pathlib import Path

from hypersphere import files
from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import by_class
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays
from hypersphere.provenance import data_files

LIST = data_files.FOLDER / "imagenet100.txt"
"""WordNet ids of the hundred classes."""
LISTED = "{path}"


def imagenet100(
    root: Path, download: bool = True, *, path: str = "imagenet", size: PositiveInt = 128
) -> Arrays:
    """About 126,700 training images and 5,000 test images (ImageNet's validation images), in the order of WordNet ids.

    Args:
        path: the folder of ImageNet below ``root``; it is not downloaded.
        size: side of the square to which each image is cut and resized, pixels.
    """
    ids = sorted(files.read_text(LIST).split())
    splits = {}
    for part, folder in ((TRAIN, "train"), (TEST, "val")):
        shelf = Shelf(root / path / folder)
        names = []
        for identifier in ids:
            own = Shelf(shelf.path / identifier).names() or [""]
            names += [f"{identifier}/{name}" for name in own]
        splits[part] = by_class(shelf, names, ids, size)
    return Arrays(splits, {CLASS: tuple(ids)}, published.table()["imagenet100"].about())
