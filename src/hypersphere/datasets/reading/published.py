"""Published files of datasets, as data/datasets.csv and data/checksums.csv list them: addresses, licences, checksums.

In datasets.csv a row is a file. What belongs to a whole dataset (reader, title, content, version, homepage, licence,
citation) is in its first row; later rows leave it empty. A dataset that is not downloaded has one row, without a file.
An empty ``archive_address`` means that no second place with the same bytes is known, and an empty ``address`` that the
file is only looked for, and never fetched. checksums.csv lists files that come inside others, or unpacked. The reader
is the module of ``datasets/`` that reads a file: its checksum counts for the digests of the datasets it is part of.
"""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.download import fetch, has_md5
from hypersphere.errors import HypersphereError
from hypersphere.provenance import data_files

DATA = data_files.FOLDER
"""The checkout's tables and lists."""


class File(NamedTuple):
    """A file as its authors publish it."""

    name: str
    address: str
    archive_address: str
    """A second place that has the same bytes; or empty."""
    md5: str
    """Hex digest; empty for a file that is not fetched."""
    bytes: int | None
    """Size, if known."""


class Published(NamedTuple):
    """A dataset as its authors publish it."""

    name: str
    reader: str
    """The module of ``datasets/`` that reads its files."""
    title: str
    content: str
    """What it holds, in a line of Markdown."""
    version: str
    homepage: str
    licence: str
    citation: str
    files: Mapping[str, File]
    """By name."""

    def about(self) -> dict[str, str]:
        """The plain words that ``Arrays.about`` holds."""
        return {"source": f"{self.title}, {self.homepage}", "licence": self.licence, "citation": self.citation}


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table that belongs to the checkout."""
    with path.open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)


@cache
def table() -> dict[str, Published]:
    """All published datasets by name."""
    found: dict[str, Published] = {}
    for row in rows(DATA / "datasets.csv"):
        name = row["dataset"]
        if name not in found:
            words = {key: row[key] for key in Published._fields[1:-1]}
            found[name] = Published(name, **words, files={})
        if row["file"]:
            size = int(row["bytes"]) if row["bytes"] else None
            file = File(row["file"], row["address"], row["archive_address"], row["md5"], size)
            found[name] = found[name]._replace(files={**found[name].files, file.name: file})
    return found


@cache
def checksums() -> dict[str, tuple[str, str]]:
    """Algorithm and hex digest of the files that come inside others, by their path below the data folder."""
    return {row["file"]: (row["algorithm"], row["checksum"]) for row in rows(DATA / "checksums.csv")}


def checked(content: bytes, file: str, place: object, mend: Path | None) -> bytes:
    """The content, read at ``place``, of a file that checksums.csv lists, if it has the checksum.

    ``mend`` may be deleted, so that the next run downloads it again; None: nothing is downloaded.
    """
    algorithm, expected = checksums()[file]
    actual = hashlib.new(algorithm, content).hexdigest()
    if actual == expected:
        return content
    remedy = f"delete {mend} and run again to download it" if mend else "put the official file there"
    found = f"{len(content)} bytes with {algorithm} {actual[:12]}…, not {expected[:12]}…"
    raise HypersphereError(f"{place}: damaged: {found}; {remedy}")


def require(file: File, path: Path, download: bool) -> None:
    """Make sure that ``path`` is the published file, which is fetched if ``download``, and else only looked at.

    It is fetched from its address or else from its archive.
    """
    if download:
        try:
            fetch(file.address, path, file.md5)
        except HypersphereError as first:
            if not file.archive_address:
                raise
            print(f"{file.address}: failed; trying {file.archive_address}", flush=True)
            try:
                fetch(file.archive_address, path, file.md5)
            except HypersphereError:
                raise first from None
    elif not path.exists():
        raise HypersphereError(f"{path}: the file is missing; it is published at {file.address}")
    elif not has_md5(path, file.md5):
        size = path.stat().st_size
        raise HypersphereError(
            f"{path}: damaged: {size} bytes with another md5 than the published one; put the official file there"
        )


def shelf(folder: Path, file: File, download: bool, in_order: bool = False) -> Shelf:
    """The files of a published folder: unpacked, or else in its archive ``file`` beside it (see ``require``)."""
    if folder.is_dir():
        return Shelf(folder)
    archive = folder.with_name(file.name)
    require(file, archive, download)
    return Shelf(archive, folder.name, in_order)
