"""ImageNet-100: the hundred classes of ImageNet that Tian, Krishnan and Isola (CMC, 2020) drew.

Wang and Isola (2020) use that list, and the norms paper follows them. LMCL does not say which hundred classes it uses.
data/imagenet100.txt holds the list. The images come from a folder of ImageNet (ILSVRC 2012) that the user has:
``train/<WordNet id>/<image>`` and ``val/<WordNet id>/<image>``. Folders of other classes in it are ignored.
"""

from pathlib import Path

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.image_files import labelled, split
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays
from hypersphere.errors import HypersphereError

LIST = published.DATA / "imagenet100.txt"
LISTED = "{path}"
FOLDERS = {TRAIN: "train", TEST: "val"}


def imagenet100(root: Path, download: bool = True, *, path: str = "imagenet", size: PositiveInt = 128) -> Arrays:
    """About 126,700 training images and 5,000 test images (ImageNet's validation images), in the order of WordNet ids.

    Args:
        path: the folder of ImageNet below ``root``.
        size: side of the square to which each image is cut and resized, pixels.
    """
    ids = class_ids()
    splits = {}
    for part, name in FOLDERS.items():
        folder = root / path / name
        if not folder.is_dir():
            raise HypersphereError(
                f"{folder}: no such folder; imagenet100 reads train/<WordNet id> and val/<WordNet id> there, which are "
                "not downloaded"
            )
        missing = [identifier for identifier in ids if not (folder / identifier).is_dir()]
        if missing:
            raise HypersphereError(f"{folder / missing[0]}: no such folder; {len(missing)} of {len(ids)} are missing")
        shelf = Shelf(folder)
        names = [f"{identifier}/{name}" for identifier in ids for name in Shelf(folder / identifier).names() or [""]]
        splits[part] = split(shelf, labelled(shelf, names, 0, ids), size)
    about = published.table()["imagenet100"].about()
    return Arrays(splits, {CLASS: tuple(ids)}, about)


def class_ids() -> list[str]:
    """WordNet ids of the hundred classes, sorted."""
    return sorted(LIST.read_text(encoding="ascii").split())
