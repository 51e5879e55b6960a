"""What every source of datasets keeps to, whatever it reads: one table of small worlds, and the same tests for all."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import flowers102, imagenet100, mnist, stl10, store, tiny_imagenet
from hypersphere.datasets.reading import published
from hypersphere.errors import HypersphereError

from . import miniatures
from .test_mnist import idx


class World(NamedTuple):
    """A source at its smallest."""

    parameters: dict[str, Any]
    splits: dict[str, int]
    """Images of each split."""
    files: dict[str, bytes] = {}  # noqa: RUF012
    """Files of the data folder, by path."""
    published: str = ""
    """The row of data/datasets.csv whose files these are, where they can be fetched."""
    seeded: bool = False


FLOWERS, TABLES = miniatures.flowers102()
SCANS = {
    f"MNIST/raw/{name}.gz": idx(np.random.default_rng(n).integers(0, 10, (n, 28, 28) if "images" in name else n, "u1"))
    for n, names in zip((20, 10), mnist.FILES.values(), strict=True)
    for name in names
}
PHOTOGRAPHS = {name: miniatures.photograph(n, 30, 40) for n, name in enumerate(("a/1.jpg", "a/2.jpg", "b/3.jpg"))}
FACES = {"0.5pct/align/0/7_0_0.png", "0.5pct/conflict/1/2_1_0.png", "valid/4_0_1.png", "test/11_1_0.png"}
FEW = {"train_per_class": 2, "test_per_class": 1}
WORLDS = {
    "biased_ffhq": World(
        {"size": 8},
        {"train": 2, "valid": 1, "test": 1},
        {f"bffhq/{name}": miniatures.picture(miniatures.noise(1, 9, 9, 3)) for name in FACES},
    ),
    "cifar": World({"classes": 10}, {"train": 10, "test": 2}),
    "colored_mnist": World(
        {"base": "digits", "conflicting_percent": 50, **FEW}, {"train": 20, "test": 10}, seeded=True
    ),
    "control_task": World({"domain": "cartpole", "task": "swingup", "action_repeat": 250, "size": 12}, {"train": 5}),
    "corrupted_cifar": World(
        {"base": "digits", "conflicting_percent": 50, **FEW}, {"train": 20, "test": 10}, seeded=True
    ),
    "corruptions": World(
        {"base": "digits", "origin": "made", "only": "fog", **FEW},
        {"train": 20, "test": 10, **{f"fog-{severity}": 10 for severity in range(1, 6)}},
        seeded=True,
    ),
    "digits": World(FEW, {"train": 20, "test": 10}, seeded=True),
    "flowers102": World(
        {"size": 24},
        {"train": 2, "test": 4},
        {f"flowers-102/{name}": content for name, content in TABLES.items()}
        | {"flowers-102/102flowers.tgz": miniatures.tar_gz(FLOWERS, "jpg")},
        "flowers102",
    ),
    "folder": World(
        {"path": "mine", "size": 8}, {"train": 3}, {f"mine/{name}": content for name, content in PHOTOGRAPHS.items()}
    ),
    "imagenet100": World(
        {"size": 8},
        {"train": 3, "test": 3},
        {f"imagenet/{part}/{name}": content for part in ("train", "val") for name, content in PHOTOGRAPHS.items()},
    ),
    "mnist": World(
        {},
        {"train": 20, "test": 10},
        {name: gzip.compress(content, mtime=0) for name, content in SCANS.items()},
        "mnist",
    ),
    "multidigits": World(
        {"scans": "digits", "side": 8, "canvas": 32, "count": 2, "train": 9, "test": 5},
        {"train": 9, "test": 5, "probe": 9},
        seeded=True,
    ),
    "part": World({"base": "digits", **FEW}, {"train": 20, "test": 10}, seeded=True),
    "sentences": World({"corpus": "chapters", "vocabulary": 500, "length": 8}, {"train": 1617, "test": 85}),
    "stl10": World(
        {},
        miniatures.STL10_COUNTS,
        {stl10.ARCHIVE: miniatures.tar_gz(miniatures.stl10(), stl10.FOLDER)},
        "stl10",
    ),
    "text_task": World(
        {"task": "neighbours", "corpus": "chapters", "vocabulary": 500, "length": 8}, {"train": 400, "test": 200}
    ),
    "tiny_imagenet": World(
        {},
        {"train": 6, "test": 4},
        {tiny_imagenet.ARCHIVE: miniatures.zipped(miniatures.tiny_imagenet(), tiny_imagenet.FOLDER)},
        "tiny_imagenet",
    ),
}
FETCHED = [name for name, world in WORLDS.items() if world.published]


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the files of the world that the test is about, taken for the published ones."""
    name: str = request.node.callspec.params["name"]
    if reason := registry.unusable("datasets", name):
        pytest.skip(reason)
    if name == "cifar":
        return Path(request.getfixturevalue("tiny")).parent
    for part, count in miniatures.STL10_COUNTS.items():
        monkeypatch.setitem(stl10.IMAGES, part, count)
    monkeypatch.setattr(tiny_imagenet, "CLASSES", len(miniatures.TINY_IDS))
    monkeypatch.setattr(tiny_imagenet, "PER_CLASS", miniatures.TINY_PER_CLASS)
    monkeypatch.setattr(tiny_imagenet, "TESTED", miniatures.TINY_TESTED)
    monkeypatch.setattr(flowers102, "TOTAL", len(FLOWERS))
    monkeypatch.setattr(imagenet100, "class_ids", lambda: ["a", "b"])
    for file, content in SCANS.items():
        checksum = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(published.checksums(), file.removesuffix(".gz"), ("sha256", checksum))
    world = WORLDS[name]
    if world.published:
        server.publish(world.published, {Path(file).name: content for file, content in world.files.items()})
    return miniatures.write(tmp_path / "own", world.files)


def dataset(name: str, **parameters: Any) -> Dataset:
    source = {"name": name, **WORLDS[name].parameters, **parameters}
    return Dataset.model_validate({"name": name, "source": source})


def digest(folder: Path, root: Path | None, name: str, **parameters: Any) -> str:
    return store.open(store.prepare(dataset(name, **parameters), folder, root)).digest


every = pytest.mark.parametrize("name", registry.names("datasets"))


@every
def test_its_splits_and_types_are_as_declared_and_a_piece_has_the_bytes_of_the_whole(
    name: str, root: Path, tmp_path: Path
) -> None:
    arrays = registry.load("datasets", name)(root, False, **WORLDS[name].parameters)
    store.check(arrays, name)
    assert {part: len(split.images) for part, split in arrays.splits.items()} == WORLDS[name].splits
    assert arrays.about.keys() == {"source", "licence", "citation"}
    prepared = store.open(store.prepare(dataset(name), tmp_path, root))
    for part, split in arrays.splits.items():
        some = np.array([0, len(split.images) - 1])
        np.testing.assert_array_equal(prepared.split(part).images[some], split.images[some])


@every
def test_equal_keys_make_equal_bytes_and_another_seed_others(name: str, root: Path, tmp_path: Path) -> None:
    first = digest(tmp_path / "1", root, name)
    assert digest(tmp_path / "2", root, name) == first
    if WORLDS[name].seeded:
        assert digest(tmp_path / "3", root, name, seed=1) != first


@pytest.mark.parametrize("harm", ["flipped", "truncated", "missing"])
@pytest.mark.parametrize("name", [*FETCHED, "cifar"])
def test_a_damaged_file_is_a_sentence_that_names_it_and_stays(name: str, harm: str, root: Path) -> None:
    """One byte of each file in turn; the control is that whole files are read above."""
    for path in [path for path in root.rglob("*") if path.is_file()]:
        whole = path.read_bytes()
        middle = len(whole) // 2
        harmed = {"flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :], "truncated": whole[:-1]}
        path.write_bytes(harmed.get(harm, b""))
        if harm == "missing":
            path.unlink()
        with pytest.raises(HypersphereError, match=path.name) as caught:
            registry.load("datasets", name)(root, False, **WORLDS[name].parameters)
        assert "\n" not in str(caught.value)
        assert harm == "missing" or path.read_bytes() == harmed[harm]
        path.write_bytes(whole)


@pytest.mark.parametrize("fault", ["404", "wrong byte", "half a file", "closed"])
@pytest.mark.parametrize("name", FETCHED)
def test_a_failed_download_prepares_nothing_and_the_next_run_recovers(
    name: str, fault: str, root: Path, tmp_path: Path, server: Any
) -> None:
    visible: Callable[[Path], list[str]] = lambda folder: [path.name for path in folder.rglob("[!.]*")]  # noqa: E731
    server.habits.fault = fault
    with pytest.raises(HypersphereError) as caught:
        store.prepare(dataset(name), tmp_path, None)
    assert server.address in str(caught.value)
    assert "\n" not in str(caught.value)
    assert visible(tmp_path / "processed") == []
    server.habits.fault = ""
    assert digest(tmp_path, None, name) == digest(tmp_path / "other", root, name)
    fetched = [path for path in (tmp_path / "raw").rglob("[!.]*") if path.is_file()]
    fetched[0].write_bytes(b"damaged")
    (tmp_path / "processed" / dataset(name).folder / "manifest.json").unlink()
    asked = len(server.log)
    digest(tmp_path, None, name)  # the damaged file alone is fetched again
    assert len(server.log) == asked + 1


def test_every_source_has_its_world() -> None:
    assert set(WORLDS) == set(registry.names("datasets"))
