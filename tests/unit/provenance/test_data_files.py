"""A dataset's digest covers the checksums of the files that its code reads, and no words or addresses."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.run import Component, Dataset
from hypersphere.datasets import store
from hypersphere.provenance import data_files, digests
from hypersphere.provenance.sources import source_of

from ...fixtures import Refused


def test_every_reader_is_a_module_of_the_datasets() -> None:
    readers = set(data_files.WHOLE)
    for table in (data_files.TABLE, data_files.CHECKSUMS):
        readers |= {row["reader"] for row in data_files.rows(table)}
    for reader in readers:
        assert any(
            source_of(f"{package.name}.datasets.{reader}") for package in registry.packages()
        ), reader


def dataset(name: str, **parameters: Any) -> Dataset:
    return Dataset.model_validate({"name": "any", "source": {"name": name, **parameters}})


SOURCES = {
    name: dataset(name)
    for name in ("cifar", "mnist", "stl10", "tiny_imagenet", "digits", "imagenet100")
}
SOURCES["corruptions"] = dataset("corruptions", base="cifar10")
SOURCES["corrupted_cifar"] = dataset("corrupted_cifar", conflicting_percent=1)
PARTS = {"corruptions", "corrupted_cifar"}
"""Sources that start from any other, of which they read a part."""


@pytest.mark.parametrize(
    ("file", "old", "new", "moves"),
    [
        ("datasets.csv", "90528d7ca1a48142e341f4ef8d21d0de", "0" * 32, {"tiny_imagenet", *PARTS}),
        ("datasets.csv", "91f7769df0f17e558f3565bffb0c7dfb", "0" * 32, {"stl10"}),
        ("datasets.csv", "56bf5dcef84df0e2308c6dcbcbbd8499", "0" * 32, {"corruptions"}),
        ("datasets.csv", "http://ai.stanford.edu", "http://another", set()),
        ("datasets.csv", "for non-commercial research and education", "for anybody", set()),
        (
            "checksums.csv",
            "f962466ef690d46b226450fb9aadc74ba4bc64a76aa526b5827fe4bc5c7125cb",
            "0",
            {"cifar", *PARTS},
        ),
        (
            "checksums.csv",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "0",
            {"mnist", *PARTS},
        ),
        ("severities.csv", "small,fog,density,0.2", "small,fog,density,0.3", PARTS),
        ("imagenet100.txt", "n0", "n1", {"imagenet100"}),
        ("imagenet100.txt", "n0", "n0", set()),
    ],
)
def test_an_edit_of_a_table_makes_stale_what_reads_it_and_nothing_else(
    file: str, old: str, new: str, moves: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: digests.dataset_digest(one) for name, one in SOURCES.items()}
    content = (data_files.FOLDER / file).read_text(encoding="utf-8")
    assert old in content
    (tmp_path / file).write_text(content.replace(old, new, 1), encoding="utf-8")
    for name in ("TABLE", "CHECKSUMS"):
        if getattr(data_files, name).name == file:
            monkeypatch.setattr(data_files, name, tmp_path / file)
    for reader, path in data_files.WHOLE.items():
        if path.name == file:
            monkeypatch.setitem(data_files.WHOLE, reader, tmp_path / file)
    after = {name: digests.dataset_digest(one) for name, one in SOURCES.items()}
    assert {name for name in before if after[name] != before[name]} == moves


def make(root: Path) -> Path:
    for name, content in {"cat/1.png": b"one", "dog/2.png": b"two", "dog/3.png": b"three"}.items():
        path = root / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, ns=(10**18, 10**18))
    return root / "mine"


CHANGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda folder: None, False),
    "hidden": (lambda folder: (folder / "cat" / ".hidden").write_bytes(b"x"), False),
    "empty folder": (lambda folder: (folder / "new").mkdir(), True),
    "time": (lambda folder: os.utime(folder / "cat" / "1.png", ns=(1, 1)), True),
    "size": (lambda folder: (folder / "cat" / "1.png").write_bytes(b"four"), True),
    "name": (lambda folder: (folder / "cat" / "1.png").rename(folder / "cat" / "2.png"), True),
    "place": (lambda folder: (folder / "cat" / "1.png").rename(folder / "dog" / "1.png"), True),
    "one less": (lambda folder: (folder / "dog" / "3.png").unlink(), True),
    "broken link": (lambda folder: (folder / "dog" / "4.png").symlink_to("nowhere"), True),
    "one more": (lambda folder: (folder / "dog" / "4.png").write_bytes(b""), True),
}


def test_a_digest_changes_with_names_sizes_and_times(tmp_path: Path, refused: Refused) -> None:
    found = {}
    for name, (act, _) in CHANGES.items():
        folder = make(tmp_path / name)
        before = data_files.listing(folder)
        act(folder)
        found[name] = data_files.listing(folder) != before
    assert found == {name: changes for name, (_, changes) in CHANGES.items()}
    (folder / "cat" / "up").symlink_to(folder, target_is_directory=True)
    assert data_files.listing(folder)  # a link that leads back up ends
    with refused("gone"):
        data_files.listing(tmp_path / "gone")


def test_sources_with_checksums_have_none(tmp_path: Path) -> None:
    make(tmp_path)
    assert data_files.folder_digest(Component(name="cifar"), tmp_path) is None
    assert (
        data_files.folder_digest(
            Component.model_validate({"name": "folder", "path": "gone", "size": 8}), tmp_path
        )
        is None
    )
    of_folder = data_files.folder_digest(
        Component.model_validate({"name": "folder", "path": "mine", "size": 8}), tmp_path
    )
    assert of_folder == data_files.listing(tmp_path / "mine")
    (tmp_path / "imagenet").symlink_to(tmp_path / "mine")  # a default of the source's parameters
    assert data_files.folder_digest(Component(name="imagenet100"), tmp_path) == of_folder


def test_the_inputs_of_a_dataset_follow_its_folder(tiny_root: Path) -> None:
    """Snakemake makes a dataset again when this digest changes; a folder that is gone changes nothing."""
    plan, mine = planning.make(tiny_root), dataset("folder", path="mine", size=8)
    without = digests.dataset_inputs(plan, mine)
    assert without == digests.dataset_digest(mine)
    folder = make(tiny_root / "data" / "raw")
    there = digests.dataset_inputs(plan, mine)
    assert there != without
    os.utime(folder / "cat" / "1.png", ns=(1, 1))
    assert digests.dataset_inputs(plan, mine) != there
    manifest = plan.data_folder(mine) / "manifest.json"
    store.files.write_sealed(manifest, {data_files.LISTING: data_files.listing(folder)})
    touched = digests.dataset_inputs(plan, mine)
    folder.rename(tiny_root / "away")
    assert digests.dataset_inputs(plan, mine) == touched
    manifest.unlink()
    assert digests.dataset_inputs(plan, mine) == without
