"""A folder's digest changes with what lies in it, and a dataset's job is asked for again when its folder changes."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.run import Component, Dataset
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance import digests, listing


def make(root: Path) -> Path:
    """Three files with fixed times."""
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
    "one more": (lambda folder: (folder / "dog" / "4.png").write_bytes(b""), True),
    "broken link": (lambda folder: (folder / "dog" / "4.png").symlink_to("nowhere"), True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_digest_changes_with_names_sizes_and_times(change: str, tmp_path: Path) -> None:
    folder = make(tmp_path)
    before = listing.digest(folder)
    act, changes = CHANGES[change]
    act(folder)
    assert (listing.digest(folder) != before) == changes


def test_a_copy_with_its_times_has_the_same_digest(tmp_path: Path) -> None:
    assert listing.digest(make(tmp_path / "a")) == listing.digest(make(tmp_path / "b"))


def test_a_link_that_leads_back_up_ends(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / "cat" / "up").symlink_to(folder, target_is_directory=True)
    assert listing.digest(folder)


def test_a_folder_that_cannot_be_listed_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match="gone: cannot be listed"):
        listing.digest(tmp_path / "gone")


def test_sources_with_checksums_have_none(tmp_path: Path) -> None:
    make(tmp_path)
    assert listing.of_source(Component(name="cifar"), tmp_path) is None
    assert listing.of_source(Component.model_validate({"name": "folder", "path": "gone", "size": 8}), tmp_path) is None
    of_folder = listing.of_source(Component.model_validate({"name": "folder", "path": "mine", "size": 8}), tmp_path)
    assert of_folder == listing.digest(tmp_path / "mine")
    (tmp_path / "imagenet").symlink_to(tmp_path / "mine")  # a default of the source's parameters
    assert listing.of_source(Component(name="imagenet100"), tmp_path) == of_folder


def test_the_inputs_of_a_dataset_follow_its_folder(tiny_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake makes a dataset again when this digest changes; a folder that is gone changes nothing."""
    monkeypatch.delenv("HYPERSPHERE_DATA", raising=False)  # a developer's own data folder
    plan = planning.make(tiny_root)
    source = {"name": "folder", "path": "mine", "size": 8}
    dataset = Dataset.model_validate({"name": "mine", "source": source})
    without = digests.dataset_inputs(plan, dataset)
    assert without == digests.dataset_digest(dataset)
    folder = make(tiny_root / "data" / "raw")
    there = digests.dataset_inputs(plan, dataset)
    assert there != without
    os.utime(folder / "cat" / "1.png", ns=(1, 1))
    assert digests.dataset_inputs(plan, dataset) != there
    manifest = plan.data_folder(dataset) / "manifest.json"
    store.files.write_sealed(manifest, {listing.KEY: listing.digest(folder)})
    touched = digests.dataset_inputs(plan, dataset)
    folder.rename(tiny_root / "away")
    assert digests.dataset_inputs(plan, dataset) == touched
    manifest.unlink()
    assert digests.dataset_inputs(plan, dataset) == without
