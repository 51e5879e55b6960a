"""Published files of datasets, as data/datasets.csv and data/checksums.csv list them: addresses, licences, checksums.

In datasets.csv a row is a file. What belongs to a whole dataset (title, content, version, homepage, licence, citation)
is in its first row; later rows leave it empty. A dataset that is not downloaded has one row, without a file. An empty
``archive_address`` means that no second place with the same bytes is known, and an empty ``address`` that the file is
only looked for, and never fetched. checksums.csv lists files that come inside others, or unpacked. The reader is the
module of ``datasets/`` that reads a file: its checksum counts for the digests of the datasets it is part of.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.reading.download import fetch, has_md5
from hypersphere.errors import HypersphereError
from hypersphere.provenance import data_files


class File(NamedTuple):
    """A file as its authors publish it."""

    name: str
    address: str
    archive_address: str
    """A second place that has the same bytes; or empty."""
    md5: str
    """Hex digest."""


class Published(NamedTuple):
    """A dataset as its authors publish it."""

    title: str
    homepage: str
    licence: str
    citation: str
    files: dict[str, File]
    """The files by name."""

    def about(self) -> dict[str, str]:
        """The plain words that ``Arrays.about`` holds."""
        return {
            "source": f"{self.title}, {self.homepage}",
            "licence": self.licence,
            "citation": self.citation,
        }


@cache
def table() -> dict[str, Published]:
    """All published datasets by name."""
    datasets: dict[str, Published] = {}
    for row in data_files.rows(data_files.TABLE):
        words = {key: row[key] for key in Published._fields[:-1]}
        one = datasets.setdefault(row["dataset"], Published(**words, files={}))
        if row["file"]:
            one.files[row["file"]] = File(
                row["file"], row["address"], row["archive_address"], row["checksum"]
            )
    return datasets


@cache
def checksums() -> dict[str, str]:
    """The sha256 of the files that come inside others, by their path below the data folder."""
    return {row["file"]: row["checksum"] for row in data_files.rows(data_files.CHECKSUMS)}


def checked(content: bytes, file: str, place: object) -> bytes:
    """The content, read at ``place``, of a file that checksums.csv lists, if it has the checksum."""
    actual, expected = hashlib.sha256(content).hexdigest(), checksums()[file]
    if actual == expected:
        return content
    problem = f"{len(content)} bytes with sha256 {actual[:12]}…, not {expected[:12]}…"
    raise HypersphereError(f"{place}: damaged: {problem}; put the official file there")


def require(file: File, path: Path, download: bool) -> None:
    """Make sure that ``path`` is the published file: fetched if ``download``, else only looked at.

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
        remedy = (
            f"it is published at {file.address}" if file.address else "put the official file there"
        )
        raise HypersphereError(f"{path}: the file is missing; {remedy}")
    elif not has_md5(path, file.md5):
        problem = f"{path.stat().st_size} bytes with another md5 than the published one"
        raise HypersphereError(f"{path}: damaged: {problem}; put the official file there")


def contents(folder: Path, file: File, download: bool) -> dict[str, bytes]:
    """The files of a folder that checksums.csv lists, by name and checked: unpacked, or in the archive ``file``.

    An unpacked folder that is empty or not whole is passed over where the archive lies beside it.
    """
    archive = folder.with_name(file.name)
    if folder.is_dir():
        try:
            return _all_of(Shelf(folder), folder.name)
        except HypersphereError as error:
            if not archive.exists():
                remedy = (
                    "delete it, and the archive is fetched"
                    if download
                    else f"put {file.name} beside it"
                )
                raise HypersphereError(f"{error}; complete the folder, or {remedy}") from None
            print(f"note: {error}; {archive} is read instead", flush=True)
    return _all_of(shelf(folder, file, download), folder.name)


def _all_of(shelf: Shelf, folder: str) -> dict[str, bytes]:
    files = [file for file in checksums() if file.startswith(f"{folder}/")]
    names = [file.removeprefix(f"{folder}/") for file in files]
    return {
        name: checked(shelf.read(name), file, f"{shelf.place}/{name}")
        for name, file in zip(names, files, strict=True)
    }


def shelf(folder: Path, file: File, download: bool, in_order: bool = False) -> Shelf:
    """The files of a published folder, in its archive ``file`` where the folder would be (see ``require``)."""
    archive = folder.with_name(file.name)
    require(file, archive, download)
    return Shelf(archive, folder.name, in_order)
