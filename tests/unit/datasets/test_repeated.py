"""Images that are there more than once: counted exactly, said by `prepare`, kept in the manifest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.repeated import Content, count
from hypersphere.datasets.types import Arrays, Pieces, Split
from hypersphere.statistics.repeated import NOT_COUNTED, in_a_line, in_words

SHAPES = {"images": (2, 1, 3), "sentences": (2, 3)}


def few(seed: int, of: str) -> dict[str, Content]:
    """Splits of so few different images that many are equal; ``val`` lacks labels, ``coarse`` is in train alone."""
    draw = np.random.default_rng(seed)

    def content(n: int, **classes: int) -> Content:
        images = (
            draw.integers(0, 5, (n, 1))
            .repeat(int(np.prod(SHAPES[of])), axis=1)
            .reshape(n, *SHAPES[of])
        )
        images = images.astype(np.uint8 if of == "images" else np.int32)
        return Content(images, {name: draw.integers(0, k, n) for name, k in classes.items()})

    return {
        "train": content(6, **{"class": 2, "coarse": 2}),
        "test": content(4, **{"class": 2}),
        "val": content(3),
    }


def by_pairs(splits: dict[str, Content]) -> dict[str, Any]:
    """The same counts, image against image."""
    found = {}
    for name, split in splits.items():
        trained = splits["train"]
        two_labels = dict.fromkeys(split.labels, 0)
        again = in_train = 0
        for i, image in enumerate(split.images):
            equal = [np.array_equal(image, other) for other in split.images]
            equal_in_train = (
                [np.array_equal(image, other) for other in trained.images]
                if name != "train"
                else []
            )
            again += any(equal[:i])
            in_train += any(equal_in_train)
            for label, values in split.labels.items():
                labels = {value for value, same in zip(values, equal, strict=True) if same}
                if label in trained.labels and name != "train":
                    labels |= {
                        v
                        for v, same in zip(trained.labels[label], equal_in_train, strict=True)
                        if same
                    }
                two_labels[label] += len(labels) > 1
        found[name] = {
            "images": len(split.images),
            "again": again,
            "in_train": in_train,
            "two_labels": two_labels,
        }
    return found


@pytest.mark.parametrize("of", SHAPES)
def test_counts_are_those_of_comparing_each_image_with_each(of: str) -> None:
    totals = dict.fromkeys(("again", "in_train"), 0)
    for seed in range(20):
        splits = few(seed, of)
        assert count(splits) == {"of": of, "splits": by_pairs(splits)}
        for key in totals:
            totals[key] += sum(split[key] for split in count(splits)["splits"].values())
    assert min(totals.values()) > 20  # there was something to count


def test_one_bit_makes_another_image() -> None:
    images = np.zeros((2, 32, 32, 3), np.uint8)
    for equal in (True, False):
        images[1, 31, 31, 2] = not equal
        counts = count({"train": Content(images, {}), "test": Content(images[1:], {})})["splits"]
        assert (counts["train"]["again"], counts["test"]["in_train"]) == (equal, 1)


def arrays(in_pieces: bool) -> Arrays:
    """Of 4 test images one is in train; of 6 training images, two are equal under two labels."""
    pixels = np.random.default_rng(0).integers(0, 256, (10, 2, 2, 3), dtype=np.uint8)
    pixels[1], pixels[8] = pixels[0], pixels[4]
    split = {"train": pixels[:6], "test": pixels[6:]}
    read: dict[str, Any] = {
        name: Pieces(one.shape, lambda numbers, one=one: one[numbers]) if in_pieces else one
        for name, one in split.items()
    }
    labels = {"train": np.array([0, 1, 0, 1, 0, 1]), "test": np.array([0, 0, 0, 1])}
    splits = {name: Split(one, {"class": labels[name]}) for name, one in read.items()}
    return Arrays(splits, {"class": ("a", "b")}, {"source": "", "licence": "", "citation": ""})


SAID = "made_up: images also in train: 1 of 4 in test; equal to one under another label: 2 of 6 in train"
SAID += "; equal to an earlier one of the split: 1 of 6 in train"
DATASET = Dataset.model_validate({"name": "made_up", "source": {"name": "digits"}})


@pytest.mark.parametrize("in_pieces", [False, True])
def test_the_manifest_has_the_counts_whether_images_are_in_memory_or_in_pieces(
    in_pieces: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        registry, "load", lambda kind, name: lambda root, download: arrays(in_pieces)
    )
    prepared = store.open(store.prepare(DATASET, tmp_path, None))
    assert in_a_line("made_up", prepared.repeated) == SAID
    assert prepared.manifest["repeated"]["splits"]["test"]["two_labels"] == {"class": 0}


def test_what_is_not_kept_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test image of each class is kept, and the one that is in train is not among them."""
    monkeypatch.setattr(
        registry, "load", lambda kind, name: lambda root, download: arrays(in_pieces=False)
    )
    monkeypatch.setattr(store, "choose_images", lambda *_: np.array([0, 3]))
    kept = DATASET.model_copy(update={"test_per_class": 1})
    counted = store.open(store.prepare(kept, tmp_path, None)).repeated
    assert counted is not None
    assert (counted["splits"]["test"]["images"], counted["splits"]["test"]["in_train"]) == (2, 0)


def uncounted(folder: Path) -> None:
    """As a version that did not count left it."""
    manifest = files.read_sealed(folder / "manifest.json")
    del manifest["repeated"]
    files.write_sealed(folder / "manifest.json", manifest)


def test_a_dataset_of_before_is_read_and_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        registry, "load", lambda kind, name: lambda root, download: arrays(in_pieces=False)
    )
    folder = store.prepare(DATASET, tmp_path, None)
    digest = store.open(folder).digest
    uncounted(folder)
    before = (folder / "manifest.json").read_bytes()
    prepared = store.open(store.prepare(DATASET, tmp_path, None))
    assert (prepared.digest, prepared.repeated) == (digest, None)
    assert in_words(prepared.repeated) == NOT_COUNTED
    assert (folder / "manifest.json").read_bytes() == before
