"""A dataset's digest covers the checksums of the files that its code reads, and no words or addresses."""

import csv
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.config.run import Dataset
from hypersphere.errors import HypersphereError
from hypersphere.provenance import data_files, digests
from hypersphere.provenance.sources import PACKAGE

TABLE = """dataset,reader,file,address,md5
one,first,a.zip,https://x/a.zip,11
one,,b.zip,https://x/b.zip,22
two,second,c.zip,https://x/c.zip,33
three,first,,,
"""


def test_rows_count_for_their_reader(tmp_path: Path) -> None:
    table = tmp_path / "datasets.csv"
    table.write_text(TABLE)
    known = {"hypersphere.datasets.first": {"one/a.zip": "11", "one/b.zip": "22"}}
    known["hypersphere.datasets.second"] = {"two/c.zip": "33"}
    for reader, rows in known.items():
        assert data_files.counted([reader, "hypersphere.files"], table) == rows
    assert data_files.counted(known, table) == {**known["hypersphere.datasets.first"], "two/c.zip": "33"}
    assert data_files.counted(["hypersphere.datasets"], table) == {}
    with pytest.raises(HypersphereError, match=r"gone\.csv: cannot be read"):
        data_files.counted(known, tmp_path / "gone.csv")


def test_every_reader_is_a_module_of_the_datasets() -> None:
    with data_files.TABLE.open(encoding="utf-8", newline="") as handle:
        readers = {row["reader"] for row in csv.DictReader(handle)} - {""}
    for reader in (*readers, *data_files.LISTS):
        assert (PACKAGE / "datasets" / f"{reader.replace('.', '/')}.py").is_file(), reader


def dataset(name: str, **parameters: Any) -> Dataset:
    return Dataset.model_validate({"name": "any", "source": {"name": name, **parameters}})


@pytest.mark.parametrize(
    ("column", "row", "moves"),
    [
        ("md5", "tiny_imagenet", {"tiny_imagenet", "corruptions"}),
        ("md5", "stl10", {"stl10"}),
        ("md5", "cifar10_c", {"corruptions"}),
        ("address", "stl10", set()),
        ("licence", "stl10", set()),
    ],
)
def test_a_changed_checksum_makes_stale_what_reads_it(
    column: str, row: str, moves: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [dataset("tiny_imagenet"), dataset("stl10"), dataset("digits"), dataset("corruptions", base="cifar10")]
    before = {one.source.name: digests.dataset_digest(one) for one in sources if one.source}
    with data_files.TABLE.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    for one in rows:
        if one["dataset"] == row:
            one[column] = "0" * 32
    changed = tmp_path / "datasets.csv"
    with changed.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    monkeypatch.setattr(data_files, "TABLE", changed)
    after = {one.source.name: digests.dataset_digest(one) for one in sources if one.source}
    assert {name for name in before if after[name] != before[name]} == moves


def test_a_list_of_classes_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests.dataset_digest(dataset("imagenet100"))
    other = tmp_path / "imagenet100.txt"
    other.write_text("n01440764\n")
    monkeypatch.setitem(data_files.LISTS, "imagenet100", other)
    assert digests.dataset_digest(dataset("imagenet100")) != before
    assert data_files.counted(["hypersphere.datasets.imagenet100"])["imagenet100.txt"] == files.sha256(other)
