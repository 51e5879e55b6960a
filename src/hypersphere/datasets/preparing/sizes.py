"""How many images a dataset has, and of what size, before any of it is on disk.

Numbers are those that the sources' own files and docstrings state; tests compare them with the loaders' arrays where
the data can be had. A source without an entry here (a folder of one's own) has a size only once it is prepared.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.datasets import flowers102, multidigits, stl10, tiny_imagenet
from hypersphere.datasets.composing import bases
from hypersphere.datasets.corrupting.severities import BENCHMARK, FUNCTIONS, SEVERITIES
from hypersphere.datasets.preparing import imbalance
from hypersphere.datasets.types import CLASS, TEST, TRAIN
from hypersphere.declared import registry
from hypersphere.declared.plan import MANIFEST
from hypersphere.declared.run import Dataset

CHANNELS = 3
FLOWERS = {"train": 1_020, "val": 1_020, "test": 6_149}
"""Images of the authors' parts of Flowers102."""


class Sizes(NamedTuple):
    """Square images of one side, RGB, one byte a channel."""

    side: int
    """Pixels."""
    classes: int
    """Of the main labels."""
    splits: Mapping[str, int]
    """Images by split."""
    about: bool = False
    """Whether a number of images is known only roughly."""

    @property
    def train(self) -> int:
        """Training images."""
        return self.splits[TRAIN]

    @property
    def bytes(self) -> int:
        """Of all prepared images; labels add less than a hundredth."""
        return sum(self.splits.values()) * self.side**2 * CHANNELS


def of(dataset: Dataset, folder: Path) -> Sizes | None:
    """A dataset's sizes: of its prepared copy in ``folder``, else as its source declares them; None: not known."""
    return _prepared(folder / MANIFEST) or declared(dataset)


def _prepared(manifest: Path) -> Sizes | None:
    if not manifest.is_file():
        return None
    about = files.read_mapping(manifest)
    try:
        if len(about["image_shape"]) != 3:
            return None  # of sentences, whose cost is not counted
        splits = {name: int(split["images"]) for name, split in about["splits"].items()}
        return Sizes(int(about["image_shape"][0]), len(about["class_names"][CLASS]), splits)
    except (KeyError, TypeError, ValueError, IndexError):
        return None  # of another version: it will be prepared again


def declared(dataset: Dataset) -> Sizes | None:
    """A dataset's sizes without a look at the disk; None: its source declares none."""
    source = dataset.source
    if source is None or source.name not in _SOURCES:
        return None
    sizes = _SOURCES[source.name](registry.schema("datasets", source.name).model_validate(source.parameters))
    splits = dict(sizes.splits)
    if dataset.imbalance is not None:
        splits[TRAIN] = sum(imbalance.counts(dataset.imbalance, sizes.classes))
    if dataset.test_per_class is not None:
        splits[TEST] = dataset.test_per_class * sizes.classes
    return sizes._replace(splits=splits)


def _base(parameters: Any) -> Sizes:
    """Of a set that ``composing.bases`` loads: all or some images of each class, perhaps shrunk."""
    whole = {
        "cifar10": Sizes(32, 10, {TRAIN: 50_000, TEST: 10_000}),
        "cifar100": Sizes(32, 100, {TRAIN: 50_000, TEST: 10_000}),
        "mnist": Sizes(28, 10, {TRAIN: 60_000, TEST: 10_000}),
        "tiny_imagenet": _tiny_imagenet(parameters),
        "digits": Sizes(bases.CANVAS, 10, {TRAIN: 10 * bases.TRAIN_DIGITS, TEST: 10 * bases.TEST_DIGITS}),
    }[parameters.base]
    per_class = {TRAIN: parameters.train_per_class, TEST: parameters.test_per_class}
    splits = {name: per_class[name] * whole.classes or images for name, images in whole.splits.items()}
    return Sizes(parameters.side or whole.side, whole.classes, splits)


def _part(parameters: Any) -> Sizes:
    sizes = _base(parameters)
    return sizes if parameters.labels == CLASS else sizes._replace(classes=20)


def _corruptions(parameters: Any) -> Sizes:
    """Beside the clean images, the test images in every way."""
    sizes = _base(parameters)
    official = parameters.base == "tiny_imagenet" and parameters.origin == "official"
    names = dict.fromkeys(parameters.only.split()) or (BENCHMARK if official else FUNCTIONS)
    ways = {f"{name}-{severity}": sizes.splits[TEST] for name in names for severity in SEVERITIES}
    return sizes._replace(splits={**sizes.splits, **ways})


def _cifar(parameters: Any) -> Sizes:
    return Sizes(32, parameters.classes, {TRAIN: 50_000, TEST: 10_000})


def _digits(parameters: Any) -> Sizes:
    classes = 10 if parameters.task == "upright" else 16
    splits = {TRAIN: classes * parameters.train_per_class, TEST: classes * parameters.test_per_class}
    return Sizes(parameters.canvas, classes, splits)


def _multidigits(parameters: Any) -> Sizes:
    train, test = (getattr(parameters, part) or multidigits.SIZES[part] for part in (TRAIN, TEST))
    probe = {} if parameters.second_side else {multidigits.PROBE: train}
    return Sizes(parameters.canvas, 10, {TRAIN: train, TEST: test, **probe})


def _stl10(parameters: Any) -> Sizes:
    left_out = () if parameters.unlabeled else (stl10.UNLABELED,)
    splits = {name: images for name, images in stl10.IMAGES.items() if name not in left_out}
    return Sizes(parameters.size, stl10.CLASSES, splits)


def _tiny_imagenet(parameters: Any) -> Sizes:
    splits = {TRAIN: tiny_imagenet.CLASSES * tiny_imagenet.PER_CLASS, TEST: tiny_imagenet.TESTED}
    return Sizes(tiny_imagenet.SIZE, tiny_imagenet.CLASSES, splits)


def _flowers102(parameters: Any) -> Sizes:
    splits = {TRAIN: FLOWERS[parameters.train], TEST: FLOWERS[parameters.test]}
    return Sizes(parameters.size, flowers102.CLASSES, splits)


_SOURCES: dict[str, Callable[[Any], Sizes]] = {
    "biased_ffhq": lambda parameters: Sizes(parameters.size, 2, {TRAIN: 19_200, "valid": 1_000, TEST: 1_000}),
    "cifar": _cifar,
    "colored_mnist": _base,
    "corrupted_cifar": _base,
    "corruptions": _corruptions,
    "digits": _digits,
    "flowers102": _flowers102,
    "imagenet100": lambda parameters: Sizes(parameters.size, 100, {TRAIN: 126_700, TEST: 5_000}, about=True),
    "mnist": lambda parameters: Sizes(28, 10, {TRAIN: 60_000, TEST: 10_000}),
    "multidigits": _multidigits,
    "part": _part,
    "stl10": _stl10,
    "tiny_imagenet": _tiny_imagenet,
}
"""By source, given its parameters with their defaults."""
