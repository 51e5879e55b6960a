"""What every source of datasets keeps to, whatever it reads: one table of small worlds, and the same tests for all."""

import codecs
import gzip
import hashlib
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from torchvision.datasets import MNIST, STL10, Flowers102, ImageFolder
from torchvision.transforms import CenterCrop, Compose, Grayscale, Resize

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import cifar, imagenet, imagenet100, mnist, stl10, store, tiny_imagenet
from hypersphere.datasets.corrupting import FUNCTIONS
from hypersphere.datasets.reading import published
from hypersphere.errors import HypersphereError

from ...harm import HARMS
from . import miniatures
from .conftest import take_for_published
from .miniatures import SPLITS, below

Files = dict[str, bytes]
Labelled = Iterable[tuple[Image.Image, int]]


class World(NamedTuple):
    """A source at its smallest."""

    parameters: dict[str, Any]
    splits: dict[str, int]
    """Images of each split."""
    files: Files = {}  # noqa: RUF012
    """Files of the data folder, by path."""
    unpacked: Files = {}  # noqa: RUF012
    """The same, unpacked for torchvision's readers, where ``files`` are packed and can be fetched."""


def idx(array: np.ndarray) -> bytes:
    """An IDX file, from the format's description on MNIST's page: 0, 0, 8 (unsigned bytes), number of axes, sizes."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


FLOWERS, TABLES = miniatures.flowers102()
SCANS = {
    f"MNIST/raw/{name}": idx(
        np.random.default_rng(n).integers(0, 10, (n, 28, 28) if "images" in name else n, "u1")
    )
    for n, names in zip((20, 10), mnist.FILES.values(), strict=True)
    for name in names
}
PHOTOGRAPHS = {
    f"{place}.jpg": miniatures.photograph(n, 30, 40)
    for n, place in enumerate(("a/1", "a/2", "b/3", "c/4"))
}
FACES = (
    "0.5pct/align/0/7_0_0.png",
    "0.5pct/conflict/1/2_1_0.png",
    "valid/4_0_1.png",
    "test/11_1_0.png",
)
FEW = {"train_per_class": 2, "test_per_class": 1}
WORLDS = {
    "biased_ffhq": World(
        {"size": 8},
        {"train": 2, "valid": 1, "test": 1},
        {
            f"bffhq/{name}": miniatures.picture(miniatures.noise(n, 9, 9, 3))
            for n, name in enumerate(FACES)
        },
    ),
    "cifar": World(
        {"classes": 10}, {"train": 10, "test": 2}, below("cifar-10-batches-py", miniatures.CIFAR10)
    ),
    "colored_mnist": World(
        {"base": "digits", "conflicting_percent": 50, **FEW}, {"train": 20, "test": 10}
    ),
    "control_task": World(
        {"domain": "cartpole", "task": "swingup", "action_repeat": 250, "size": 12}, {"train": 5}
    ),
    "corrupted_cifar": World(
        {"base": "digits", "conflicting_percent": 50, **FEW}, {"train": 20, "test": 10}
    ),
    "corruptions": World(
        {"base": "digits", "origin": "made", **FEW},
        {
            "train": 20,
            "test": 10,
            **{f"{name}-{severity}": 10 for name in FUNCTIONS for severity in range(1, 6)},
        },
    ),
    "digits": World(FEW, {"train": 20, "test": 10}),
    "flowers102": World(
        {"size": 24, "train": "test", "test": "val"},
        {"train": 4, "test": 2},
        below("flowers-102", TABLES | {"102flowers.tgz": miniatures.tar_gz(FLOWERS, "jpg")}),
        below("flowers-102", TABLES | below("jpg", FLOWERS)),
    ),
    "folder": World(
        {"path": "of/mine", "size": 20}, {"train": 5, "test": 3}, below("of/mine", SPLITS)
    ),
    "imagenet": World(
        {"size": 8},
        {"train": 4, "test": 4},
        {**below("imagenet/train", PHOTOGRAPHS), **below("imagenet/val", PHOTOGRAPHS)},
    ),
    "imagenet100": World(
        {"size": 8},
        {"train": 3, "test": 3},
        # c is no class of the list
        {**below("imagenet/train", PHOTOGRAPHS), **below("imagenet/val", PHOTOGRAPHS)},
    ),
    "mnist": World(
        {},
        {"train": 20, "test": 10},
        {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in SCANS.items()},
        SCANS,
    ),
    "multidigits": World(
        {"scans": "digits", "side": 8, "canvas": 32, "second_side": 20, "train": 9, "test": 5},
        {"train": 9, "test": 5},
    ),
    "part": World({"base": "digits", **FEW}, {"train": 20, "test": 10}),
    "sentences": World(
        {"corpus": "chapters", "vocabulary": 500, "length": 8}, {"train": 1617, "test": 85}
    ),
    "stl10": World(
        {},
        miniatures.STL10_COUNTS,
        {stl10.ARCHIVE: miniatures.tar_gz(miniatures.stl10(), stl10.FOLDER)},
        below(stl10.FOLDER, miniatures.stl10()),
    ),
    "text_task": World(
        {"task": "neighbours", "corpus": "chapters", "vocabulary": 500, "length": 8},
        {"train": 400, "test": 200},
    ),
    "tiny_imagenet": World(
        {},
        {"train": 6, "test": 4},
        {
            tiny_imagenet.ARCHIVE: miniatures.zipped(
                miniatures.tiny_imagenet(), tiny_imagenet.FOLDER
            )
        },
        below(tiny_imagenet.FOLDER, miniatures.tiny_imagenet()),
    ),
}
FETCHED = [name for name, world in WORLDS.items() if world.unpacked]


@pytest.fixture
def root(
    request: pytest.FixtureRequest, tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A data folder with the files of the world that the test is about, taken for the published ones."""
    name: str = request.node.callspec.params["name"]
    if reason := registry.unusable("datasets", name):
        pytest.skip(reason)
    monkeypatch.setattr(imagenet100, "LIST", tmp_path / "classes.txt")
    imagenet100.LIST.write_text("b\na\n")
    of_few(monkeypatch)
    take_for_published(monkeypatch, SCANS | WORLDS["cifar"].files)
    if name in FETCHED:
        server.publish(
            name, {Path(file).name: content for file, content in WORLDS[name].files.items()}
        )
    return miniatures.write(tmp_path / "own", WORLDS[name].files)


def of_few(patch: pytest.MonkeyPatch) -> None:
    """Take ``PHOTOGRAPHS`` for all of ImageNet."""
    patch.setattr(imagenet, "CLASSES", 3)
    patch.setattr(imagenet, "IMAGES", {"train": 4, "val": 4})


def load(name: str, root: Path) -> Any:
    return registry.load("datasets", name)(root, False, **WORLDS[name].parameters)


def dataset(name: str, **parameters: Any) -> Dataset:
    source = {"name": name, **WORLDS[name].parameters, **parameters}
    return Dataset.model_validate({"name": name, "source": source})


def digest(folder: Path, root: Path | None, name: str, **parameters: Any) -> str:
    return store.open(store.prepare(dataset(name, **parameters), folder, root)).digest


@pytest.mark.parametrize("name", sorted({*registry.names("datasets"), *WORLDS}))
def test_its_splits_and_types_are_as_declared_and_a_piece_has_the_bytes_of_the_whole(
    name: str, root: Path, tmp_path: Path
) -> None:
    """And equal keys make equal bytes, another seed others."""
    arrays = load(name, root)
    store.check(arrays, name)
    assert {part: len(split.images) for part, split in arrays.splits.items()} == WORLDS[name].splits
    assert arrays.about.keys() == {"source", "licence", "citation"}
    prepared = store.open(store.prepare(dataset(name), tmp_path / "1", root))
    for part, split in arrays.splits.items():
        some = np.array([0, len(split.images) - 1])
        np.testing.assert_array_equal(prepared.split(part).images[some], split.images[some])
    assert digest(tmp_path / "2", root, name) == prepared.digest
    if "seed" in registry.schema("datasets", name).model_fields:
        assert digest(tmp_path / "3", root, name, seed=1) != prepared.digest


# Independent readers


def square(size: int) -> Callable[[Image.Image], Image.Image]:
    return lambda image: Compose([CenterCrop(min(image.size)), Resize(size)])(image)


def faces(root: Path, part: str) -> Labelled:
    """The authors' reader takes the class from the name: number, age, gender."""
    for path in sorted((root / "bffhq" / {"train": "0.5pct"}.get(part, part)).rglob("*.png")):
        yield Resize(8)(Image.open(path)), int(path.stem.split("_")[1])


def flowers(root: Path, part: str) -> Labelled:
    """In the order of their numbers, which torchvision's is not."""
    reader = Flowers102(root, split=WORLDS["flowers102"].parameters[part], transform=square(24))
    return (reader[place] for place in np.argsort([str(path) for path in reader._image_files]))


def of_imagenet(root: Path, part: str) -> Labelled:
    found = ImageFolder(root / "imagenet" / {"test": "val"}.get(part, part), square(8))
    return ((image, label) for image, label in found if label < 2)


def of_folder(root: Path, part: str) -> Labelled:
    return ImageFolder(
        root / "of" / "mine" / part, square(20), is_valid_file=lambda path: "/." not in path
    )


def of_tiny_imagenet(root: Path, part: str) -> Labelled:
    """Training images by their folders; validation images by the annotations, read here line by line."""
    folder = root / tiny_imagenet.FOLDER
    if part == "train":
        yield from ImageFolder(folder / "train")
        return
    for line in (folder / "val" / "val_annotations.txt").read_text().splitlines():
        name, identifier, *_ = line.split("\t")
        image = Image.open(folder / "val" / "images" / name).convert("RGB")
        yield image, sorted(miniatures.TINY_IDS).index(identifier)


READERS: dict[str, Callable[[Path, str], Labelled]] = {
    "biased_ffhq": faces,
    "cifar": lambda root, part: cifar.SETS[10](root, train=part == "train"),
    "flowers102": flowers,
    "folder": of_folder,
    "imagenet": lambda root, part: ImageFolder(
        root / "imagenet" / {"test": "val"}.get(part, part), square(8)
    ),
    "imagenet100": of_imagenet,
    "mnist": lambda root, part: MNIST(root, train=part == "train", transform=Grayscale(3)),
    "stl10": lambda root, part: STL10(root, split=part),
    "tiny_imagenet": of_tiny_imagenet,
}


@pytest.mark.parametrize("name", READERS)
def test_images_and_classes_are_those_of_an_independent_reader(
    name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torchvision reads it unpacked, and is told not to compare checksums; MNIST may be unpacked for us too."""
    monkeypatch.setattr("torchvision.datasets.cifar.check_integrity", lambda *given: True)
    for reader in (STL10, Flowers102):
        monkeypatch.setattr(reader, "_check_integrity", lambda self: True)
    unpacked = (
        miniatures.write(tmp_path / "unpacked", WORLDS[name].unpacked)
        if WORLDS[name].unpacked
        else root
    )
    for folder in {root, unpacked} if name == "mnist" else {root}:
        for part, split in load(name, folder).splits.items():
            expected = list(READERS[name](unpacked, part))
            found = split.images[np.arange(len(split.images))]
            np.testing.assert_array_equal(
                found, np.stack([np.asarray(image) for image, _ in expected])
            )
            assert split.labels["class"].tolist() == [label for _, label in expected]


# Damage


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", [*FETCHED, "cifar"])
def test_a_damaged_file_is_a_sentence_that_names_it_and_stays(
    name: str, harm: str, root: Path, tmp_path: Path
) -> None:
    """One byte of each file in turn of a folder of the user's own; the control is that whole files are read above."""
    for path in [path for path in root.rglob("*") if path.is_file()]:
        whole = path.read_bytes()
        HARMS[harm](path)
        harmed = path.exists() and path.read_bytes()
        with pytest.raises(HypersphereError) as caught:
            store.prepare(dataset(name), tmp_path / "made", root)
        assert path.name in str(caught.value)
        assert (path.exists() and path.read_bytes()) == harmed != whole
        path.write_bytes(whole)


@pytest.mark.parametrize("fault", ["404", "half a file"])
@pytest.mark.parametrize("name", FETCHED)
def test_a_failed_download_prepares_nothing_and_the_next_run_recovers(
    name: str, fault: str, root: Path, tmp_path: Path, server: Any
) -> None:
    server.fault = fault
    with pytest.raises(HypersphereError) as caught:
        store.prepare(dataset(name), tmp_path, None)
    assert server.address in str(caught.value)
    assert list((tmp_path / "processed").rglob("[!.]*")) == []
    server.fault = ""
    assert digest(tmp_path, None, name) == digest(tmp_path / "other", root, name)
    fetched = [path for path in (tmp_path / "raw").rglob("[!.]*") if path.is_file()]
    fetched[0].write_bytes(b"damaged")
    (tmp_path / "processed" / dataset(name).folder / "manifest.json").unlink()
    asked = len(server.log)
    digest(tmp_path, None, name)  # the damaged file alone is fetched again
    assert len(server.log) == asked + 1


# source, file, its other content (None: it is missing; a name that ends in / is a folder)
OTHERS: list[tuple[str, str, str, bytes | None]] = [
    ("bffhq/test/1_2_0.png", "biased_ffhq", "bffhq/test/1_2_0.png", b"x"),
    ("bffhq/valid/1_0_0.txt", "biased_ffhq", "bffhq/valid/1_0_0.txt", b"x"),
    ("bffhq/valid", "biased_ffhq", "bffhq/valid/", None),
    ("bffhq/valid/", "biased_ffhq", "bffhq/valid/4_0_1.png", None),
    ("imagenet", "imagenet", "imagenet/train/", None),
    ("imagenet/train", "imagenet", "imagenet/train/a/", None),
    ("imagenet/val", "imagenet", "imagenet/val/b/", None),
    ("imagenet/val", "imagenet", "imagenet/val/a/1.jpg", None),
    ("imagenet/val", "imagenet100", "imagenet/val/", None),
    ("imagenet/train/b", "imagenet100", "imagenet/train/b/", None),
    ("imagenet/train/b", "imagenet100", "imagenet/train/b/3.jpg", None),
    (
        "MNIST/raw/t10k-images-idx3-ubyte",
        "mnist",
        "MNIST/raw/t10k-images-idx3-ubyte",
        SCANS["MNIST/raw/t10k-images-idx3-ubyte"][:-1],
    ),
    ("MNIST/raw/t10k-images-idx3-ubyte.gz", "mnist", "MNIST/raw/t10k-images-idx3-ubyte", None),
]


@pytest.mark.parametrize(
    ("place", "name", "file", "content"),
    OTHERS,
    ids=[f"{name} {Path(file).name}" for _, name, file, _ in OTHERS],
)
def test_what_is_not_as_published_is_a_sentence_that_names_the_place(
    place: str,
    name: str,
    file: str,
    content: bytes | None,
    root: Path,
    tmp_path: Path,
    server: Any,
    names: Any,
) -> None:
    """Where the user has the set unpacked."""
    whole = WORLDS[name].unpacked or WORLDS[name].files
    there = {
        f"{Path(file).parent}/": b"",
        **{one: whole[one] for one in whole if not one.startswith(file)},
    }
    folder = miniatures.write(
        tmp_path / "unpacked", there if content is None else there | {file: content}
    )
    with pytest.raises(HypersphereError) as caught:
        digest(tmp_path, folder, name)
    names(caught.value, f"unpacked/{place}")


WISHES: list[tuple[str, str, dict[str, Any]]] = [
    ("conflicting_percent", "colored_mnist", {"base": "digits", "conflicting_percent": 100.5}),
    ("corruptions: origin", "corruptions", {"base": "digits"}),
    ("corruptions", "corruptions", {"base": "cifar10", "side": 16}),
    ("corruptions", "corruptions", {"base": "cifar10", "test_per_class": 5}),
    ("digits: canvas", "digits", {"canvas": 7}),
    ("flowers102", "flowers102", {"train": "val", "test": "val"}),
    ("multidigits: canvas", "multidigits", {"canvas": 20}),
    ("multidigits: count", "multidigits", {"count": 17, "placement": "grid"}),
    ("multidigits: canvas", "multidigits", {"side": 20, "second_side": 93}),
    ("multidigits: second_side", "multidigits", {"second_side": 30, "placement": "grid"}),
    ("multidigits: second_side", "multidigits", {"second_side": 30, "count": 3}),
    ("part: human_labels", "part", {"base": "digits", "human_labels": True}),
    ("part: labels", "part", {"base": "digits", "labels": "coarse"}),
]


@pytest.mark.parametrize(
    ("place", "source", "asked"),
    WISHES,
    ids=[f"{name} {number}" for number, (_, name, _) in enumerate(WISHES)],
)
def test_an_impossible_wish_is_a_sentence(
    place: str, source: str, asked: dict[str, Any], refused: Any
) -> None:
    with refused(place):
        registry.load("datasets", source)(Path("/nonexistent"), False, **asked)


# What one set alone has


def test_a_face_conflicts_where_its_gender_is_another_number_than_its_age(tmp_path: Path) -> None:
    splits = load("biased_ffhq", miniatures.write(tmp_path, WORLDS["biased_ffhq"].files)).splits
    conflicting = {part: split.attributes["conflicting"].tolist() for part, split in splits.items()}
    assert conflicting == {"train": [False, True], "valid": [True], "test": [True]}


def archives_of_imagenet() -> Files:
    """The official archives of ``PHOTOGRAPHS``: validation images have no folders, and the kit has hypernyms, too."""
    by_class: dict[str, Files] = {}
    for name, content in PHOTOGRAPHS.items():
        folder, _, image = name.partition("/")
        by_class.setdefault(folder, {})[image] = content
    flat = {
        f"ILSVRC2012_val_{place:08}.JPEG": content
        for place, content in enumerate(PHOTOGRAPHS.values(), start=1)
    }
    fields = [
        ("ILSVRC2012_ID", "O"),
        ("WNID", "O"),
        ("words", "O"),
        ("gloss", "O"),
        ("num_children", "O"),
    ]
    leaves = [
        (1, "b", "", "", 0),
        (2, "c", "", "", 0),
        (3, "a", "", "", 0),
        (4, "above", "", "", 2),
    ]
    meta = miniatures.written(
        lambda buffer: savemat(buffer, {"synsets": np.array(leaves, dtype=fields)})
    )
    # a, a, b, c
    kit = {"data/meta.mat": meta, "data/ILSVRC2012_validation_ground_truth.txt": b"3\n3\n1\n2\n"}
    return {
        imagenet.TRAINING: miniatures.tar(
            {f"{one}.tar": miniatures.tar(of) for one, of in by_class.items()}
        ),
        imagenet.VALIDATION: miniatures.tar(flat),
        imagenet.KIT: miniatures.tar_gz(kit, imagenet.KIT_FOLDER),
    }


def of_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the official archives of ``PHOTOGRAPHS``, whose checksums are taken for the published ones."""
    of_few(monkeypatch)
    made = archives_of_imagenet()
    for name, content in made.items():
        file = published.table()["imagenet"].files[name]
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        monkeypatch.setitem(published.table()["imagenet"].files, name, file._replace(md5=digest))
    return miniatures.write(tmp_path / "packed", below("imagenet", made))


def test_imagenet_in_its_archives_is_imagenet_in_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = imagenet.imagenet(of_archives(tmp_path, monkeypatch), size=8)
    plain = imagenet.imagenet(
        miniatures.write(tmp_path / "plain", WORLDS["imagenet"].files), size=8
    )
    assert packed.class_names == plain.class_names == {"class": ("a", "b", "c")}
    for part, split in plain.splits.items():
        every = np.arange(4)
        np.testing.assert_array_equal(packed.splits[part].images[every], split.images[every])
        assert (
            packed.splits[part].labels["class"].tolist()
            == split.labels["class"].tolist()
            == [0, 0, 1, 2]
        )


@pytest.mark.parametrize("name", ["stl10"])
def test_unlabelled_images_are_trained_on_and_the_labelled_ones_probed(
    name: str, root: Path, tmp_path: Path
) -> None:
    """As torchvision reads ``train+unlabeled``; prepared, nothing is said to be repeated."""
    asked = {"name": name, "train": "train+unlabeled"}
    described = Dataset.model_validate({"name": name, "source": asked})
    prepared = store.open(store.prepare(described, tmp_path / "made", root))
    unpacked = miniatures.write(tmp_path / "unpacked", WORLDS[name].unpacked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STL10, "_check_integrity", lambda self: True)
        for ours, theirs in (("train", "train+unlabeled"), ("probe", "train"), ("test", "test")):
            reader, split = STL10(unpacked, split=theirs), prepared.split(ours)
            np.testing.assert_array_equal(split.images, reader.data.transpose(0, 2, 3, 1))
            assert (
                not split.labels
                if ours == "train"
                else split.labels["class"].tolist() == reader.labels.tolist()
            )
    assert len(prepared.split("train").images) == 37
    assert {one["in_train"] for one in prepared.manifest["repeated"]["splits"].values()} == {0}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", [imagenet.TRAINING, imagenet.VALIDATION, imagenet.KIT])
def test_a_damaged_archive_of_imagenet_is_a_sentence_that_names_it(
    name: str, harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = of_archives(tmp_path, monkeypatch)
    HARMS[harm](root / "imagenet" / name)
    with pytest.raises(HypersphereError) as caught:
        imagenet.imagenet(root, size=8)
    assert (name if (root / "imagenet" / imagenet.TRAINING).is_file() else "train") in str(
        caught.value
    )


def test_the_list_of_imagenet100_has_a_hundred_ids() -> None:
    """Of the source named in the file's head: two of its WordNet ids, and no other class of ImageNet."""
    ids = imagenet100.LIST.read_text(encoding="ascii").split()
    assert len(set(ids)) == len(ids) == 100
    assert all(
        len(identifier) == 9 and identifier[0] == "n" and identifier[1:].isdecimal()
        for identifier in ids
    )
    assert {"n02869837", "n02090622"} < set(ids)
    assert "n01440764" not in ids


@pytest.mark.shared_data
def test_real_mnist_is_what_torchvision_reads(unpacked: Callable[[str], Path]) -> None:
    root = unpacked("mnist")
    for part, found in mnist.mnist(root, False).splits.items():
        theirs = MNIST(root, train=part == "train")
        np.testing.assert_array_equal(found.images, theirs.data[..., None].expand(-1, -1, -1, 3))
        assert found.labels["class"].tolist() == theirs.targets.tolist()


@pytest.mark.parametrize("name", ["mnist"])
@pytest.mark.parametrize("part", sorted(SCANS))
def test_a_scan_that_was_not_unpacked_whole_is_read_from_its_packed_file(
    name: str, part: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load(name, root)
    (root / part).write_bytes(SCANS[part][:-1])
    after = load(name, root)
    assert f"{Path(part).name}.gz is read instead" in capsys.readouterr().out
    for split in before.splits:
        np.testing.assert_array_equal(before.splits[split].images, after.splits[split].images)
        np.testing.assert_array_equal(
            before.splits[split].labels["class"], after.splits[split].labels["class"]
        )
    (root / f"{part}.gz").unlink()
    with pytest.raises(HypersphereError, match=f"{Path(part).name}: damaged"):
        load(name, root)


@pytest.mark.parametrize("name", ["imagenet100"])
@pytest.mark.parametrize("emptied", ["train/a", "val/b", "train", "val"])
def test_a_class_or_a_split_without_images_is_blamed_by_its_own_name(
    name: str, emptied: str, root: Path
) -> None:
    folder = root / "imagenet" / emptied
    for path in sorted(folder.rglob("*.jpg")):
        path.unlink()
    blamed = folder if folder.parent.name in ("train", "val") else folder / "a"
    with pytest.raises(HypersphereError, match=f"{blamed}: has no images"):
        load(name, root)


@pytest.mark.parametrize("name", ["imagenet100"])
def test_a_list_of_classes_may_begin_with_a_byte_order_mark(name: str, root: Path) -> None:
    plain = load(name, root).class_names
    imagenet100.LIST.write_bytes(codecs.BOM_UTF8 + imagenet100.LIST.read_bytes())
    assert load(name, root).class_names == plain == {"class": ("a", "b")}
