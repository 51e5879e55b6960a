"""The images to measure an encoder on: a dataset that is known by its name, or a folder of images by class."""

from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.config.run import Component, Dataset
from hypersphere.config.validation import not_one_of
from hypersphere.datasets import store
from hypersphere.datasets.training_sizes import stated
from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError

KNOWN: dict[str, Any] = files.read_yaml(Path(__file__).with_name("datasets.yaml"))
OPTION = "--dataset"
OWN = "own_images"
"""The name of the prepared copy of a folder of images."""


class Images(NamedTuple):
    """What to prepare, and where its files are."""

    dataset: Dataset
    side: int
    """Of an image, pixels."""
    data_root: Path | None
    """The folder that holds the source; None: it is downloaded if it is missing."""


def find(name: str, size: int | None, data_root: Path | None) -> Images:
    """The images of a name or of a folder; nothing is read yet.

    Args:
        name: a dataset, or a folder with ``train/<class>/<image>`` and ``test/<class>/<image>``.
        size: the side to which the images of a folder are resized.
    """
    if name in KNOWN:
        dataset = Dataset(name=name, source=Component(**KNOWN[name]["source"]))
        size_of_it = stated(dataset)
        assert size_of_it is not None  # a test looks at each that is known
        return Images(dataset, int(size_of_it.side), data_root)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise HypersphereError(f"{OPTION}: {not_one_of(name, KNOWN)}, nor a folder")
    for split in ("train", "test"):
        if not (folder / split).is_dir():
            raise HypersphereError(f"{folder}: must hold {split}/<class>/<image>")
    if size is None:
        raise HypersphereError("--size: is needed for a folder of images, for example --size 32")
    place = folder.resolve()
    source = Component(name="folder", path=place.name, size=size)
    return Images(Dataset(name=OWN, source=source), size, place.parent)


def prepare(images: Images, data: Path) -> store.Prepared:
    """The images as arrays below ``data``, where a later call finds them."""
    prepared = store.open(store.prepare(images.dataset, data, images.data_root))
    if TEST not in prepared.split_names:
        raise HypersphereError(f"{OPTION}: {images.dataset.name} has no split {TEST}")
    return prepared
