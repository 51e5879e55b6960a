"""Preparing a dataset: written once and whole, checked, the same bytes wherever it is done."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pytest

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Dataset, Imbalance
from hypersphere.datasets import store
from hypersphere.datasets.types import Arrays, Pieces, Split
from hypersphere.errors import DamagedError, HypersphereError

from ...harm import HARMS, flip, truncate
from .miniatures import npy

SMALL: dict[str, Any] = {
    "name": "small_lt",
    "source": {"name": "digits", "train_per_class": 12, "test_per_class": 3},
    "imbalance": {"head": 12, "ratio": 1.2},
}
ARRAYS = [
    f"{split}/{array}.npy"
    for split in ("train", "test")
    for array in ("images", "labels-class", "index")
]
COUNTS = [12, 10, 8, 6, 5, 4, 4, 3, 2, 2]  # int(12 · 1.2^-i), by hand
DATASET = Dataset.model_validate(SMALL)


def test_the_manifest_describes_the_files(tmp_path: Path) -> None:
    folder = store.prepare(DATASET, tmp_path, None)
    assert folder == tmp_path / "processed" / DATASET.folder
    assert np.bincount(store.open(folder).split("train").labels["class"]).tolist() == COUNTS
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["name"], manifest["spec"], manifest["image_shape"]) == (
        "small_lt",
        SMALL,
        [12, 12, 3],
    )
    assert manifest["files"] == {
        name: {"sha256": files.sha256(folder / name), "bytes": (folder / name).stat().st_size}
        for name in ARRAYS
    }
    assert _files(folder).keys() == {*ARRAYS, "manifest.json"}
    assert len(manifest["digest"]) == 64


def test_where_the_source_is_told_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """data/raw may be downloaded to; a folder of the user's own may not."""
    source = Mock(side_effect=HypersphereError("stop here"))
    monkeypatch.setattr(registry, "load", lambda kind, name: source)
    for data_root in (None, tmp_path / "mine"):
        with pytest.raises(HypersphereError):
            store.prepare(DATASET, tmp_path, data_root)
    given: dict[str, Any] = {"train_per_class": 12, "test_per_class": 3}
    raw, mine = (
        call(tmp_path / "raw", download=True, **given),
        call(tmp_path / "mine", download=False, **given),
    )
    assert source.call_args_list == [raw, mine]
    assert [path for path in (tmp_path / "processed").iterdir() if path.suffix != ".lock"] == []


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def of_old(path: Path) -> None:
    """A manifest that is whole, and of a layout of before."""
    files.write_sealed(path, files.read_sealed(path) | {"schema": None})


DAMAGE = [
    *(("manifest.json", harm) for harm in (*HARMS.values(), of_old)),
    *((name, flip) for name in ARRAYS),
]


@pytest.mark.parametrize(
    ("name", "harm"), [*DAMAGE, ("train/images.npy", Path.unlink), ("test/index.npy", truncate)]
)
def test_damage_is_named_with_what_to_run_which_mends_it(
    tmp_path: Path, name: str, harm: Callable[[Path], object], names: Any
) -> None:
    folder = store.prepare(DATASET, tmp_path, None)
    before = _files(folder)
    harm(folder / name)
    with pytest.raises(DamagedError) as caught:
        store.open(folder)
    field = ["schema"] if harm is of_old else []
    names(caught.value, f"processed/small_lt-…/{name}", *field)
    # What Snakemake goes by is taken away, so that the next run prepares the dataset again.
    assert caught.value.proofs == (folder / "manifest.json",)
    store.prepare(DATASET, tmp_path, None)
    assert _files(folder) == before


def test_a_dataset_that_nothing_loads_is_a_sentence(tmp_path: Path, refused: Any) -> None:
    with refused("dataset imagenet", "source"):
        store.prepare(Dataset.model_validate({"name": "imagenet"}), tmp_path, None)
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_tidied_away(tmp_path: Path) -> None:
    left = tmp_path / "processed" / f".{DATASET.folder}.0123abcd.part"
    files.write_text(left / "train" / "images.npy", "half of")
    store.prepare(DATASET, tmp_path, None)
    assert not left.exists()


def test_two_at_once_prepare_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are let go together; without the lock both would build."""
    load, together, builds = registry.load, threading.Barrier(2), []

    def slow(kind: str, name: str) -> Any:
        builds.append(name)
        time.sleep(0.3)  # longer than the other takes to arrive
        return load(kind, name)

    def prepare(place: int) -> str:
        together.wait()
        return store.open(store.prepare(DATASET, tmp_path, None)).digest

    monkeypatch.setattr(registry, "load", slow)
    with ThreadPoolExecutor(2) as pool:
        assert len({*pool.map(prepare, range(2))}) == 1
    assert builds == ["digits"]


def rich() -> Arrays:
    """Three splits of made-up images: two sorts of labels, attributes of three types, one split without labels."""
    pixels = np.random.default_rng(0).integers(0, 256, (9, 2, 2, 3), dtype=np.uint8)
    return Arrays(
        {
            "train": Split(
                pixels[:4],
                {"class": np.array([0, 1, 0, 1]), "coarse": np.array([2, 0, 1, 2])},
                {
                    "conflicting": np.array([True, False, True, True]),
                    "angle": np.array([0.0, 0.5, 1.0, 1.5]),
                },
            ),
            "test": Split(
                pixels[4:7],
                {"class": np.array([1, 0, 1])},
                {"colour": np.array(["red", "blue", "red"])},
            ),
            "unlabelled": Split(pixels[7:], {}),
        },
        {"class": ("cat", "dog"), "coarse": ("a", "b", "c")},
        {"source": "made up", "licence": "none", "citation": "none"},
    )


@pytest.fixture
def prepare_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., store.Prepared]:
    """Prepare given arrays as dataset ``made_up``, and open it."""

    def prepared(arrays: Arrays, **kept: Any) -> store.Prepared:
        monkeypatch.setattr(registry, "load", lambda kind, name: lambda root, download: arrays)
        dataset = Dataset.model_validate({"name": "made_up", "source": {"name": "digits"}, **kept})
        return store.open(store.prepare(dataset, tmp_path, None))

    return prepared


def test_splits_labels_and_attributes_come_back_and_other_names_are_sentences_with_what_there_is(
    prepare_made_up: Any, refused: Any
) -> None:
    prepared = prepare_made_up(rich())
    assert prepared.split_names == ("test", "train", "unlabelled")
    for name, source in rich().splits.items():
        split = prepared.split(name)
        np.testing.assert_array_equal(split.images, source.images)
        assert isinstance(split.images, np.memmap)
        for found, expected in (
            (split.labels, source.labels),
            (split.attributes, source.attributes),
        ):
            assert found.keys() == expected.keys()
            for array, values in expected.items():
                assert found[array].dtype == values.dtype
                assert found[array].tolist() == values.tolist()
        assert split.index.tolist() == list(range(len(source.images)))
    assert (prepared.class_names(), prepared.class_names("coarse")) == (
        ("cat", "dog"),
        ("a", "b", "c"),
    )
    assert prepared.manifest["splits"]["unlabelled"] == {
        "images": 2,
        "labels": [],
        "attributes": [],
    }
    assert {"train/attribute-conflicting.npy", "train/labels-coarse.npy"} <= prepared.manifest[
        "files"
    ].keys()
    with refused("dataset made_up", "split 'val'"):
        prepared.split("val")
    with refused("dataset made_up"):
        prepared.class_names("fine")
    with refused("dataset made_up", "split test"):
        prepared.split("test").attributes["angle"]
    with refused("dataset made_up", "split unlabelled"):
        prepared.split("unlabelled").labels["class"]


def test_images_are_dropped_with_all_that_is_known_of_them(prepare_made_up: Any) -> None:
    """One image of each class kept: whichever they are, their labels and attributes are theirs."""
    source = rich()
    prepared = prepare_made_up(source, imbalance={"head": 1, "ratio": 1}, test_per_class=1)
    for name, arrays in (("train", "conflicting angle"), ("test", "colour")):
        split, whole = prepared.split(name), source.splits[name]
        assert sorted(split.labels["class"]) == [0, 1]
        assert len(split.index) == 2
        np.testing.assert_array_equal(split.images, whole.images[split.index])
        for array in arrays.split():
            assert split.attributes[array].tolist() == whole.attributes[array][split.index].tolist()
        for label, values in whole.labels.items():
            assert split.labels[label].tolist() == values[split.index].tolist()
    assert prepared.split("unlabelled").index.tolist() == [0, 1]


IMAGES = np.random.default_rng(0).integers(0, 256, (11, 4, 4, 3), dtype=np.uint8)
BARE = Split(IMAGES, {})


def announcing(change: Callable[[np.ndarray], np.ndarray]) -> Split:
    return Split(
        Pieces(IMAGES.shape, lambda numbers: change(IMAGES[numbers])), {"class": np.arange(11) % 2}
    )


TWO = np.zeros((2, 2, 2, 3), np.uint8)
MISFITS: dict[str, tuple[str, dict[str, Split]]] = {
    "image shape": ("split test", {"test": Split(TWO[:, :1], {})}),
    "image type": ("split test", {"test": Split(TWO.astype(float), {})}),
    "label range": ("split test", {"test": Split(TWO, {"class": np.array([0, 2])})}),
    "label sign": ("split test", {"test": Split(TWO, {"class": np.array([0, -1])})}),
    "label type": ("split test", {"test": Split(TWO, {"class": np.array([0.0, 1.0])})}),
    "unnamed": ("split test", {"test": Split(TWO, {"fine": np.array([0, 1])})}),
    "length": ("split test: class", {"test": Split(TWO, {"class": np.array([0])})}),
    "name": ("split test: '../a'", {"test": Split(TWO, {"../a": np.array([0, 1])})}),
    "split": ("split ../a: '../a'", {"../a": Split(TWO, {})}),
}
# Beside those: some of each class where there are no classes; more of one than there are, or none; no split to train
# on; other images than the source announced.
UNFIT: dict[str, tuple[str, dict[str, Split], dict[str, Any]]] = {
    **{
        name: (f"datasets/digits: {place}", {"train": Split(TWO, {}), **splits}, {})
        for name, (place, splits) in MISFITS.items()
    },
    "test_per_class": ("dataset made_up: test_per_class", {"train": BARE}, {"test_per_class": 1}),
    "imbalance": (
        "dataset made_up: imbalance",
        {"train": BARE},
        {"imbalance": {"head": 1, "ratio": 1}},
    ),
    "more": (
        "imbalance",
        {"train": announcing(lambda piece: piece)},
        {"imbalance": {"head": 7, "ratio": 1}},
    ),
    "none": (
        "imbalance",
        {"train": announcing(lambda piece: piece)},
        {"imbalance": {"head": 2, "ratio": 4}},
    ),
    "no train": ("datasets/digits", {"test": BARE}, {}),
    "fewer": ("train", {"train": announcing(lambda piece: piece[:-1])}, {}),
    "smaller": ("train", {"train": announcing(lambda piece: piece[:, :2])}, {}),
    "type": ("train", {"train": announcing(lambda piece: piece.astype(np.int16))}, {}),
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_what_does_not_fit_together_is_refused_and_not_written(
    unfit: str, tmp_path: Path, prepare_made_up: Any, refused: Any
) -> None:
    place, splits, kept = UNFIT[unfit]
    with refused(place):
        prepare_made_up(Arrays(splits, {"class": ("one", "two")}, rich().about), **kept)
    assert not list((tmp_path / "processed").glob("*made_up-????????")) + list(
        tmp_path.rglob("*.part")
    )


LABELS = np.repeat(np.arange(5), 40)[np.random.default_rng(0).permutation(200)]


# Worked out by hand from int(head · ratio^-i), i from 0; the sums are "roughly 15K" in Sec. 6 of the norms paper.
@pytest.mark.parametrize(
    ("head", "ratio", "classes", "total", "first", "last", "few"),
    [
        (5000, 1.5, 10, 14_736, [5000, 3333, 2222], 130, 2),  # 5000 / 1.5^9 = 130.06
        (500, 1.034, 100, 14_620, [500, 483, 467], 18, 72),  # 500 / 1.034^99 = 18.26
        (500, 1.03365, 100, 14_750, [500, 483, 467], 18, 72),  # the authors' ratio
    ],
)
def test_n20_and_n21_counts_are_the_papers(
    head: int, ratio: float, classes: int, total: int, first: list[int], last: int, few: int
) -> None:
    """``few`` classes have fewer images than k = 200, the neighbours that kNN looks at."""
    counts = store.images_per_class(Imbalance(head=head, ratio=ratio), classes)
    assert (sum(counts), counts[:3], counts[-1], len(counts)) == (total, first, last, classes)
    assert sum(count < 200 for count in counts) == few


@pytest.mark.parametrize(
    ("head", "ratio", "classes", "total"), [(5000, 1.5, 10, 9_826), (500, 1.034, 100, 14_186)]
)
def test_n21_i_from_one_would_not_give_the_totals(
    head: int, ratio: float, classes: int, total: int
) -> None:
    """The other reading of the formula (control), before rounding."""
    assert int(sum(head * ratio**-i for i in range(1, classes + 1))) == total
    assert sum(store.images_per_class(Imbalance(head=head, ratio=ratio), classes)) > total


def test_one_class_does_not_disturb_another() -> None:
    """Class 0's images are chosen alike whatever the other labels are; a smaller head keeps a subset."""
    few = store.choose_images(LABELS, Imbalance(head=10, ratio=1), 5)
    merged = store.choose_images(np.minimum(LABELS, 1), Imbalance(head=10, ratio=1), 2)
    assert set(few[LABELS[few] == 0]) == set(merged[LABELS[merged] == 0])
    assert set(few) < set(store.choose_images(LABELS, Imbalance(head=20, ratio=1), 5))


@pytest.mark.parametrize(("head", "ratio", "classes"), [(40, 2, 5), (7, 1, 5), (30, 1.5, 3)])
def test_n21_the_authors_choice_is_the_first_images_of_each_class(
    head: int, ratio: float, classes: int
) -> None:
    """Found here by walking through the images in order, as the norms paper's code does."""
    spec = Imbalance(head=head, ratio=ratio, keep="first")
    left = dict(enumerate(store.images_per_class(spec, classes)))
    expected = []
    for number, label in enumerate(LABELS.tolist()):
        if left.get(label, 0) > 0:
            left[label] -= 1
            expected.append(number)
    assert store.choose_images(LABELS, spec, classes).tolist() == expected
    drawn = store.choose_images(LABELS, Imbalance(head=head, ratio=ratio), classes)
    assert drawn.tolist() != expected
    assert (np.diff(drawn) > 0).all()
    assert np.bincount(LABELS[drawn]).tolist() == np.bincount(LABELS[expected]).tolist()


def test_the_first_images_need_no_seed_and_the_drawn_ones_keep_their_name() -> None:
    """A dataset that says what is the default anyway has the folder that it had before there was a choice."""
    plain, said, first = (
        Dataset.model_validate(SMALL | {"imbalance": SMALL["imbalance"] | keep}).folder
        for keep in ({}, {"keep": "drawn"}, {"keep": "first"})
    )
    assert plain == said != first


KEPT = np.array([0, 1, 4, 5, 6, 10])


# an image has 48 bytes
@pytest.mark.parametrize(("budget", "most"), [(1, 1), (48, 1), (100, 2), (2**25, 11)])
@pytest.mark.parametrize("in_pieces", [False, True])
def test_bytes_are_those_of_numpys_own_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int, most: int, in_pieces: bool
) -> None:
    """And at most as many images as fit the budget are asked for at once."""
    monkeypatch.setattr(store, "PIECE", budget)
    asked: list[int] = []
    for images in (IMAGES, IMAGES[:, :, ::-1]):  # the latter is not contiguous

        def read(numbers: np.ndarray, images: np.ndarray = images) -> np.ndarray:
            asked.append(len(numbers))
            return images[numbers]

        for kept in (KEPT, np.arange(11), np.arange(0)):
            store.write_images(
                tmp_path / "images.npy", Pieces(images.shape, read) if in_pieces else images, kept
            )
            assert (tmp_path / "images.npy").read_bytes() == npy(np.ascontiguousarray(images[kept]))
    assert not in_pieces or max(asked) == most
