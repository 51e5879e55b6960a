"""How many images or sentences a dataset has, and of what size, before any of it is on disk.

Numbers are those that the sources' own files and docstrings state; tests compare them with the loaders' arrays where
the data can be had. A source without an entry here (a folder of one's own) has a size only once it is prepared.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.plan import MANIFEST
from hypersphere.config.run import Dataset
from hypersphere.control.environment import EPISODE
from hypersphere.datasets import flowers102, multidigits, part, stl10, store, tiny_imagenet
from hypersphere.datasets.corrupting.apply import BENCHMARK, FUNCTIONS, SEVERITIES
from hypersphere.datasets.reading import corpora, text_tasks
from hypersphere.datasets.types import CLASS, TEST, TRAIN

CHANNELS = 3
TOKEN = 4
"""Bytes of a word's number."""
FLOWERS = {"train": 1_020, "val": 1_020, "test": 6_149}
"""Images of the authors' parts of Flowers102."""


class Corpus(NamedTuple):
    """Texts, and their pairs of neighbouring sentences."""

    texts: int
    train: int
    test: int
    words: float
    """Of a sentence, on average, of those that 30 places leave."""
    about: bool = False


CORPORA = {
    corpora.NOVELS: Corpus(14, 171_174, 9_004, 19.26),
    corpora.EMBEDDED: Corpus(1, 1_617, 85, 20.08),
    # A copy of BookCorpus. Zhu et al. 2015, Table 2: 11,038 books, 74,004,228 sentences of 13 words; a twentieth of
    # each book is held out.
    "text/bookcorpus": Corpus(11_038, 70_293_000, 3_689_000, 13, about=True),
}
"""By the parameter ``corpus``."""


class Sizes(NamedTuple):
    """Square images of one side, RGB, one byte a channel; or sentences, four bytes a word."""

    side: int
    """Pixels; of sentences, words that are kept of each."""
    classes: int
    """Of the main labels."""
    splits: Mapping[str, int]
    """Images, or examples of sentences, by split."""
    about: bool = False
    """Whether a number of images is known only roughly."""
    sentences: int = 0
    """In an example; 0: examples are images."""
    words: float = 0
    """Kept of a training sentence, on average."""

    @property
    def train(self) -> int:
        """Training images or examples."""
        return self.splits[TRAIN]

    @property
    def bytes(self) -> int:
        """Of all prepared images or sentences; labels of images add less than a hundredth."""
        each = self.sentences * self.side * TOKEN if self.sentences else self.side**2 * CHANNELS
        return sum(self.splits.values()) * each


def of(dataset: Dataset, folder: Path) -> Sizes | None:
    """A dataset's sizes: of its prepared copy in ``folder``, else as its source declares them; None: not known."""
    return _prepared(folder / MANIFEST) or declared(dataset)


def _prepared(manifest: Path) -> Sizes | None:
    if not manifest.is_file():
        return None
    about = files.read_mapping(manifest)
    try:
        splits = {name: int(split["images"]) for name, split in about["splits"].items()}
        first, *others = (int(number) for number in about["image_shape"])
        sizes = Sizes(first, len(about["class_names"][CLASS]), splits)
        if len(others) == 1:  # sentences of words
            words = np.load(manifest.parent / TRAIN / "attribute-words.npy", mmap_mode="r")
            mean = float(np.minimum(words, others[0]).mean())
            return sizes._replace(side=others[0], sentences=first, words=mean)
        return sizes
    except (KeyError, TypeError, ValueError, IndexError, OSError):
        return None  # of another version: it will be prepared again


def declared(dataset: Dataset) -> Sizes | None:
    """A dataset's sizes without a look at the disk; None: its source declares none."""
    source = dataset.source
    if source is None or source.name not in _SOURCES:
        return None
    sizes = _SOURCES[source.name](registry.schema("datasets", source.name).model_validate(source.parameters))
    if sizes is None:
        return None
    splits = dict(sizes.splits)
    if dataset.imbalance is not None:
        splits[TRAIN] = sum(store.images_per_class(dataset.imbalance, sizes.classes))
    if dataset.test_per_class is not None:
        splits[TEST] = dataset.test_per_class * sizes.classes
    return sizes._replace(splits=splits)


def _base(parameters: Any) -> Sizes:
    """Of a set that ``part`` loads: all or some images of each class, perhaps shrunk."""
    whole = {
        "cifar10": Sizes(32, 10, {TRAIN: 50_000, TEST: 10_000}),
        "cifar100": Sizes(32, 100, {TRAIN: 50_000, TEST: 10_000}),
        "mnist": Sizes(28, 10, {TRAIN: 60_000, TEST: 10_000}),
        "tiny_imagenet": _tiny_imagenet(parameters),
        "digits": Sizes(part.CANVAS, 10, {TRAIN: 10 * part.TRAIN_DIGITS, TEST: 10 * part.TEST_DIGITS}),
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


def _control_task(parameters: Any) -> Sizes:
    """The frames of one episode."""
    return Sizes(parameters.size, 1, {TRAIN: EPISODE // parameters.action_repeat + 1})


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


def _sentences(parameters: Any) -> Sizes | None:
    if parameters.corpus not in CORPORA:
        return None
    of, length = CORPORA[parameters.corpus], parameters.length
    return Sizes(length, of.texts, {TRAIN: of.train, TEST: of.test}, of.about, 2, min(length, of.words))


def _text_task(parameters: Any) -> Sizes:
    """No encoder is trained on them, so that their words do not count."""
    name = parameters.task
    splits = {
        **{task: {TRAIN: sum(of.counts)} for task, of in text_tasks.SORTED.items()},
        "trec": {split: count for split, (_, count, _) in text_tasks.TREC.items()},
        "msrp": {split: count for split, (_, count) in text_tasks.MSRP.items()},
        "speech": {TRAIN: 2 * text_tasks.MADE},
        "neighbours": {TRAIN: 4 * text_tasks.MADE * 2 // 3, TEST: 4 * text_tasks.MADE // 3},
    }[name]
    classes = len(text_tasks.QUESTIONS) if name == "trec" else 2
    return Sizes(parameters.length, classes, splits, sentences=2 if name in ("msrp", "neighbours") else 1)


_SOURCES: dict[str, Callable[[Any], Sizes | None]] = {
    "biased_ffhq": lambda parameters: Sizes(parameters.size, 2, {TRAIN: 19_200, "valid": 1_000, TEST: 1_000}),
    "cifar": _cifar,
    "control_task": _control_task,
    "colored_mnist": _base,
    "corrupted_cifar": _base,
    "corruptions": _corruptions,
    "digits": _digits,
    "flowers102": _flowers102,
    "imagenet100": lambda parameters: Sizes(parameters.size, 100, {TRAIN: 126_700, TEST: 5_000}, about=True),
    "mnist": lambda parameters: Sizes(28, 10, {TRAIN: 60_000, TEST: 10_000}),
    "multidigits": _multidigits,
    "part": _part,
    "sentences": _sentences,
    "stl10": _stl10,
    "text_task": _text_task,
    "tiny_imagenet": _tiny_imagenet,
}
"""By source, given its parameters with their defaults."""
