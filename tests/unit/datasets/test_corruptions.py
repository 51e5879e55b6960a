"""Sets with corrupted images: made in any pieces, of five severities, or read from the benchmark's own files."""

import gzip
import hashlib
import inspect
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_image

from hypersphere.datasets import part as part_module
from hypersphere.datasets.corrupting import official
from hypersphere.datasets.corrupting.apply import BENCHMARK, EXTRA, FUNCTIONS, SEVERITIES, corrupt, parameters
from hypersphere.datasets.corruptions import corruptions
from hypersphere.datasets.digits import digits
from hypersphere.datasets.part import shrunk
from hypersphere.datasets.reading.published import checksums
from hypersphere.datasets.types import Arrays, Split

from ...harm import flip
from .miniatures import npy, tar_gz, write

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "origin": "made", "train_per_class": 3, "test_per_class": 2}


def test_there_are_nineteen_times_five_corrupted_splits_of_the_test_images() -> None:
    made = corruptions(NOWHERE, **FEW)
    clean = digits(NOWHERE, train_per_class=3, test_per_class=2)
    assert len(FUNCTIONS) == 19
    assert set(made.splits) == {*clean.splits, *(f"{name}-{s}" for name in FUNCTIONS for s in range(1, 6))}
    for name, split in made.splits.items():
        part = clean.splits.get(name, clean.splits["test"])
        assert split.labels["class"].tolist() == part.labels["class"].tolist()
        if name in clean.splits:
            np.testing.assert_array_equal(split.images, part.images)
    found, numbers = made.splits["fog-4"].images, np.arange(20)
    np.testing.assert_array_equal(found[numbers], corrupt(clean.splits["test"].images, "fog", 4, numbers, 0))


@pytest.mark.usefixtures("tiny")
def test_official_rows_are_the_severities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows for two test images: rows 0 and 1 are severity 1, rows 8 and 9 severity 5."""
    rows = np.arange(10, dtype=np.uint8)[:, None, None, None] * np.ones((1, 32, 32, 3), np.uint8)
    monkeypatch.setattr(official, "load", lambda root, download, base, tests: lambda name: rows)
    found = corruptions(tmp_path / "tiny", False, base="cifar10", only="snow")
    for severity in range(1, 6):
        images = found.splits[f"snow-{severity}"].images[np.arange(2)]
        assert images[:, 0, 0, 0].tolist() == [2 * severity - 2, 2 * severity - 1]
    assert "CIFAR-10-C" in found.about["source"]
    made = corruptions(tmp_path / "tiny", False, base="cifar10", origin="made", only="snow")
    assert "not their files" in made.about["source"]


def test_official_tiny_imagenet_has_fifteen_ways_and_the_clean_sets_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"class": np.array([1, 0])}
    split = Split(np.zeros((2, 64, 64, 3), np.uint8), labels)
    names = {"class": ("n01 goldfish", "n02 bullfrog")}
    about = {"source": "made up", "licence": "none", "citation": "none"}
    monkeypatch.setattr(
        part_module, "tiny_imagenet", lambda root, download: Arrays({"train": split, "test": split}, names, about)
    )
    asked: list[Any] = []

    def load(root: Path, download: bool, names: Any, ids: Any) -> dict[tuple[str, int], Split]:
        asked.append((names, ids))
        return {(name, severity): split for name in names for severity in range(1, 6)}

    monkeypatch.setattr(official, "load_tiny", load)
    found = corruptions(NOWHERE, False, base="tiny_imagenet")
    assert asked == [(BENCHMARK, ["n01", "n02"])]
    assert len(found.splits) == 2 + 15 * 5
    assert "Tiny-ImageNet-C" in found.about["source"]


@pytest.mark.parametrize(
    "asked",
    [
        {**FEW, "only": "fog brigthness"},
        {"base": "digits"},
        {"base": "cifar10", "side": 16},
        {"base": "cifar10", "test_per_class": 5},
    ],
    ids=["unknown", "no official files", "side", "fewer"],
)
def test_an_impossible_wish_is_a_sentence(asked: dict[str, Any], refused: Any) -> None:
    with refused():
        corruptions(NOWHERE, False, **asked)


TESTS = np.array([3, 8], dtype=np.int64)
RNG = np.random.default_rng(0)
ARRAYS = {
    "fog": RNG.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8),
    "snow": RNG.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8),
    "labels": np.tile(TESTS, 5).astype(np.uint8),
}
NAMES = ["fog", "snow"]
Publish = Callable[[dict[str, np.ndarray]], Path]


def tar(contents: dict[str, bytes]) -> bytes:
    return gzip.decompress(tar_gz(contents, "CIFAR-10-C"))


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any) -> Publish:
    """Arrays as CIFAR-10-C's official folder; their checksums are taken for the published ones."""

    def published(arrays: dict[str, np.ndarray]) -> Path:
        contents = {f"{name}.npy": npy(array) for name, array in arrays.items()}
        for name, content in contents.items():
            checksum = hashlib.md5(content).hexdigest()
            monkeypatch.setitem(checksums(), f"CIFAR-10-C/{name}", ("md5", checksum))
        server.publish("cifar10_c", {"CIFAR-10-C.tar": tar(contents)})
        return write(tmp_path / "CIFAR-10-C", contents)

    return published


def packed(folder: Path) -> Path:
    """The folder's archive instead of it."""
    archive = folder.with_suffix(".tar")
    archive.write_bytes(tar({f"{name}.npy": (folder / f"{name}.npy").read_bytes() for name in ARRAYS}))
    shutil.rmtree(folder)
    return archive


def load(root: Path, download: bool = False) -> dict[str, np.ndarray]:
    images = official.load(root, download, "cifar10", TESTS)
    return {name: images(name) for name in NAMES}


def test_a_folder_is_read_byte_for_byte_and_an_archive_in_place(publish: Publish, tmp_path: Path) -> None:
    folder = publish(ARRAYS)
    for form in (lambda of: of, packed):
        form(folder)
        found = load(tmp_path)
        assert list(found) == NAMES
        for name, images in found.items():
            np.testing.assert_array_equal(images, ARRAYS[name])
    assert [path.name for path in tmp_path.iterdir()] == ["CIFAR-10-C.tar"]


@pytest.mark.parametrize("as_archive", [False, True], ids=["folder", "archive"])
def test_labels_in_another_order_are_a_sentence(
    publish: Publish, tmp_path: Path, as_archive: bool, refused: Any
) -> None:
    """Though the checksum is right: nothing published says that the order is the test set's."""
    folder = publish(ARRAYS | {"labels": ARRAYS["labels"][::-1].copy()})
    if as_archive:
        packed(folder)
    with refused():
        load(tmp_path)


def test_a_damaged_file_and_an_archive_that_lacks_one_are_sentences(
    publish: Publish, tmp_path: Path, server: Any, refused: Any
) -> None:
    folder = publish(ARRAYS)
    flip(folder / "snow.npy")
    with refused():
        load(tmp_path)
    archive = packed(folder)
    lacking = tar({f"{name}.npy": npy(array) for name, array in ARRAYS.items() if name != "fog"})
    archive.write_bytes(lacking)
    server.publish("cifar10_c", {"CIFAR-10-C.tar": lacking})
    with refused():
        load(tmp_path)


IDS = ("n01", "n02")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes of two images each, at every severity of two corruptions."""
    monkeypatch.setattr(official, "TINY_PER_CLASS", 2)
    for name in NAMES:
        for severity in range(1, 6):
            for identifier in IDS:
                below = tmp_path / "own" / "Tiny-ImageNet-C" / name / str(severity) / identifier
                below.mkdir(parents=True)
                for file in ("test_7.JPEG", "test_12.JPEG"):
                    image = RNG.integers(0, 256, (8, 8, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)
                    Image.fromarray(image).save(below / file, quality=85)
    return tmp_path / "own" / "Tiny-ImageNet-C"


@pytest.fixture
def archive(folder: Path, tmp_path: Path, server: Any) -> Path:
    """The folder packed, in no order, as the server has it: with its folders and a hidden file of the packer's."""
    path = tmp_path / "packed" / "Tiny-ImageNet-C.tar"
    path.parent.mkdir()
    (folder / "fog" / "1" / "._n01").write_bytes(b"of another system")
    with tarfile.open(path, "w") as tar:
        for one in sorted(folder.rglob("*"), key=lambda one: one.name):
            tar.add(one, f"Tiny-ImageNet-C/{one.relative_to(folder)}", recursive=False)
    server.publish("tiny_imagenet_c", {path.name: path.read_bytes()})
    return path


def test_every_way_is_a_split_with_its_own_labels(folder: Path, archive: Path, tmp_path: Path, server: Any) -> None:
    """From the folder, from the archive, which is read in place, and from the server."""
    for root, download in ((folder.parent, False), (archive.parent, False), (tmp_path / "raw", True)):
        found = official.load_tiny(root, download, NAMES, IDS)
        assert list(found) == [(name, severity) for name in NAMES for severity in range(1, 6)]
        for (name, severity), split in found.items():
            assert split.labels["class"].tolist() == [0, 0, 1, 1]
            files = [folder / name / str(severity) / i / f for i in IDS for f in ("test_12.JPEG", "test_7.JPEG")]
            expected = np.stack([np.asarray(Image.open(file)) for file in files])
            np.testing.assert_array_equal(split.images[np.arange(4)], expected)
    assert len(server.log) == 1
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


def test_what_is_missing_is_a_sentence(folder: Path, archive: Path, refused: Any) -> None:
    for root in (folder.parent, archive.parent):
        with refused():
            official.load_tiny(root, False, ["frost"], IDS)
    (folder / "snow" / "4" / "n02" / "test_7.JPEG").unlink()
    with refused():
        official.load_tiny(folder.parent, False, ["snow"], IDS)
    official.load_tiny(folder.parent, False, ["fog"], IDS)  # the control: the other corruption is whole


NOT_WORSE = {"saturate", "spatter", "elastic_transform", "glass_blur"}
"""Their tables do not grow: less or more colour, water or mud, wide or narrow waves, copies less or more blurred."""
ALIKE = {"frost", "motion_blur"}
"""Their severities 3 and 4 differ little: less of the image under the same ice, and a longer tail of small weights."""
WITHOUT_DRAWS = "brightness contrast defocus_blur gaussian_blur jpeg_compression pixelate saturate zoom_blur"
NUMBERS = np.arange(24)


def photographs(side: int) -> np.ndarray:
    """Pieces of scikit-learn's two photographs, shrunk to squares of ``side`` pixels."""
    size = 128
    pieces = [
        load_sample_image(name)[row : row + size, column : column + size]
        for name in ("china.jpg", "flower.jpg")
        for row in (20, 140, 280)
        for column in (0, 130, 260, 390)
    ]
    return shrunk(np.stack(pieces), side)


SMALL, MEDIUM = photographs(32), photographs(64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_piece_has_the_bytes_of_the_whole_and_another_key_others(name: str) -> None:
    """Another seed, number or purpose changes what is drawn, and nothing else."""
    whole = corrupt(SMALL, name, 3, NUMBERS, 0)
    assert (whole.dtype, whole.shape) == (np.uint8, SMALL.shape)
    for piece in (NUMBERS[7:8], NUMBERS[[2, 5, 6, 23]], NUMBERS[::-1], NUMBERS[:0]):
        np.testing.assert_array_equal(corrupt(SMALL[piece], name, 3, piece, 0), whole[piece])
    few, numbers = SMALL[:3], NUMBERS[:3]
    others = (
        corrupt(few, name, 3, numbers, 1),
        corrupt(few, name, 3, numbers + 3, 0),
        corrupt(few, name, 3, numbers, 0, "train"),
    )
    for other in others:
        assert np.array_equal(other, whole[:3]) == (name in WITHOUT_DRAWS.split())


@pytest.mark.parametrize("images", [SMALL, MEDIUM], ids=["32px", "64px"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - NOT_WORSE))
def test_each_severity_is_further_from_the_clean_image(name: str, images: np.ndarray) -> None:
    severities = (1, 2, 3, 5) if name in ALIKE else (1, 2, 3, 4, 5)
    errors = [((corrupt(images, name, s, NUMBERS, 0) / 255 - images / 255) ** 2).mean() for s in severities]
    assert errors[0] > 0
    assert errors == sorted(errors)


def test_large_batches_are_cut_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = corrupt(SMALL, "shot_noise", 2, NUMBERS, 0)
    monkeypatch.setattr("hypersphere.datasets.corrupting.apply.BATCH", 5)
    np.testing.assert_array_equal(corrupt(SMALL, "shot_noise", 2, NUMBERS, 0), whole)


def test_names_are_the_benchmarks() -> None:
    """Hendrycks and Dietterich 2019, Fig. 1 and Appendix B, as the benchmark's files are called."""
    published = (
        "gaussian_noise shot_noise impulse_noise defocus_blur glass_blur motion_blur zoom_blur snow frost fog "
        "brightness contrast elastic_transform pixelate jpeg_compression"
    )
    held_out = "speckle_noise gaussian_blur spatter saturate"
    assert (list(BENCHMARK), list(EXTRA)) == (published.split(), held_out.split())
    assert list(FUNCTIONS) == [*BENCHMARK, *EXTRA]


@pytest.mark.parametrize("size", ["small", "medium"])
def test_each_has_five_severities_with_its_functions_arguments(size: str) -> None:
    table = parameters()
    assert {name for of, name, _ in table if of == size} == set(FUNCTIONS)
    for name, function in FUNCTIONS.items():
        takes = [p for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY]
        rows = [table[size, name, severity] for severity in SEVERITIES]
        assert all(list(row) == [p.name for p in takes] for row in rows), name
        assert len({tuple(row.values()) for row in rows}) == 5, name
        for p in takes:  # a fraction where a whole number is asked for would change what is drawn
            kinds = {type(row[p.name]) for row in rows}
            assert kinds == {p.annotation} or (p.annotation is float and kinds <= {int, float}), (name, p.name)


def test_small_and_medium_images_differ_where_the_benchmark_says() -> None:
    """Only the zoom's factors are the same for CIFAR and Tiny-ImageNet."""
    table = parameters()
    same = [name for name in FUNCTIONS if all(table["small", name, s] == table["medium", name, s] for s in SEVERITIES)]
    assert same == ["zoom_blur"]
