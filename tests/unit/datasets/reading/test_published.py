"""data/datasets.csv is whole, agrees with every other place that states its facts, and is where code reads them."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torchvision

from hypersphere.datasets import corruptions as official
from hypersphere.datasets import showing
from hypersphere.datasets.cifar import SETS
from hypersphere.datasets.reading import download, human
from hypersphere.datasets.reading.published import File, checksums, require, table
from hypersphere.errors import HypersphereError

CONTENT = b"published bytes" * 99
MD5 = hashlib.md5(CONTENT).hexdigest()


def test_the_page_is_current() -> None:
    page = (Path(__file__).resolve().parents[4] / "docs" / "datasets.md").read_text(
        encoding="utf-8"
    )
    assert page == showing.with_table(page), (
        "run: python -m hypersphere.datasets.showing docs/datasets.md"
    )


def test_every_dataset_says_what_it_is_and_lists_the_files_that_readers_ask_for() -> None:
    for one in table().values():
        assert all((one.title, one.homepage.startswith("http"), one.licence, one.citation)), one
        for file in one.files.values():
            # of a file that is not fetched
            assert file.address.endswith(f"/{file.name}") or not file.address
            assert not file.archive_address or file.archive_address.endswith(f"/{file.name}")
            assert re.fullmatch("[0-9a-f]{32}", file.md5)
    addresses = [
        file.address for one in table().values() for file in one.files.values() if file.address
    ]
    assert len(set(addresses)) == len(addresses) > 10
    for name, dataset in human.PUBLISHED.items():
        assert name in table()[dataset].files
    for base, folder in official.FOLDERS.items():
        assert list(table()[f"{base}_c"].files) == [f"{folder}.tar"]


def test_facts_are_those_of_torchvision() -> None:
    vision = torchvision.datasets
    stated = {
        ("cifar10", SETS[10].filename): (SETS[10].url, SETS[10].tgz_md5),
        ("cifar100", SETS[100].filename): (SETS[100].url, SETS[100].tgz_md5),
        ("stl10", vision.STL10.filename): (vision.STL10.url, vision.STL10.tgz_md5),
        **{
            ("mnist", name): (vision.MNIST.mirrors[0] + name, md5)
            for name, md5 in vision.MNIST.resources
        },
        **{
            ("flowers102", name): (vision.Flowers102._download_url_prefix + name, md5)
            for name, md5 in vision.Flowers102._file_dict.values()
        },
    }
    listed = {
        (name, file.name): (file.address, file.md5)
        for name, one in table().items()
        for file in one.files.values()
    }
    assert {key: value for key, value in listed.items() if key in stated} == stated


def test_files_inside_others_are_listed_once_by_their_place() -> None:
    """Every file that torchvision unpickles."""
    listed = checksums()
    assert len(set(listed.values())) == len(listed)
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in listed.values())
    for one in SETS.values():
        names = {name for name, _ in one.train_list + one.test_list} | {one.meta["filename"]}
        assert names == {
            Path(file).name for file in listed if file.startswith(f"{one.base_folder}/")
        }


@pytest.mark.shared_data
def test_checksums_are_those_of_the_real_files(shared_data: Path) -> None:
    """The shared folder's manifest lists them, but for pickles."""
    groups = json.loads((shared_data / "manifest.json").read_text())["groups"]
    cifar = {f"cifar{classes}": one.base_folder for classes, one in SETS.items()}
    for group, folder in {**cifar, "mnist": "MNIST/raw", "human": "human"}.items():
        real = {f"{folder}/{Path(item['path']).name}": item["sha256"] for item in groups[group]}
        listed = {
            file: checksum
            for file, checksum in checksums().items()
            if file.startswith(f"{folder}/")
        }
        assert real.items() >= {item for item in listed.items() if not item[0].endswith(".pt")}


@pytest.fixture
def file(server: Any, monkeypatch: pytest.MonkeyPatch) -> File:
    """A file that the server has at two addresses, each of which is tried once."""
    monkeypatch.setattr(download, "RETRIES", 0)
    server.shelf = {"first/set.zip": CONTENT, "second/set.zip": CONTENT}
    return File(
        "set.zip", f"{server.address}/first/set.zip", f"{server.address}/second/set.zip", MD5
    )


@pytest.mark.parametrize(("faults", "asked"), [([], 1), (["404"], 2), (["wrong byte"], 2)])
def test_the_archive_has_what_the_address_has_not(
    faults: list[str], asked: int, file: File, tmp_path: Path, server: Any
) -> None:
    server.first = faults
    require(file, tmp_path / "set.zip", download=True)
    assert (tmp_path / "set.zip").read_bytes() == CONTENT
    assert server.log == ["/first/set.zip", "/second/set.zip"][:asked]


def test_if_both_fail_the_sentence_is_about_the_first(
    file: File, tmp_path: Path, server: Any
) -> None:
    server.fault = "404"
    for asked in (file, file._replace(archive_address="")):
        with pytest.raises(HypersphereError) as caught:
            require(asked, tmp_path / "set.zip", download=True)
        assert str(caught.value).startswith(file.address)
    assert len(server.log) == 3


def test_what_is_only_looked_at_is_not_fetched(
    file: File, tmp_path: Path, server: Any, names: Any
) -> None:
    path = tmp_path / "set.zip"
    for content in (None, CONTENT[:-1]):
        if content:
            path.write_bytes(content)
        with pytest.raises(HypersphereError) as caught:
            require(file, path, download=False)
        names(caught.value, "set.zip")
    path.write_bytes(CONTENT)
    require(file, path, download=False)
    assert server.log == []
