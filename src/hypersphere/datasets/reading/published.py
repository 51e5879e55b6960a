"""Published files of datasets, as data/datasets.csv lists them: addresses, checksums, licences, citations.

A row is a file. What belongs to a whole dataset (reader, title, content, version, homepage, licence, citation) is in
its first row; later rows leave it empty. A dataset that is not downloaded has one row, without a file. An empty
``archive_address`` means that no second place with the same bytes is known, and an empty ``address`` that the file is
only looked for, and never fetched. The reader is the module of ``datasets/``
that reads the files: their checksums count for the digests of the datasets that it is part of.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hypersphere.datasets.reading.download import fetch, has_md5
from hypersphere.errors import HypersphereError

TABLE = Path(__file__).parents[4] / "data" / "datasets.csv"


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


@cache
def table(path: Path = TABLE) -> dict[str, Published]:
    """All published datasets by name.

    Raises:
        HypersphereError: the table is missing, or a row has another number of fields than its header.
    """
    found: dict[str, Published] = {}
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            for number, row in enumerate(csv.DictReader(handle), start=2):
                if None in row or None in row.values():
                    raise HypersphereError(f"{path}: row {number}: has another number of fields than the header")
                _add(found, row)
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror}); it belongs to the checkout") from None
    return found


def _add(found: dict[str, Published], row: Mapping[str, str]) -> None:
    """Add a row's file to its dataset, which its first row begins."""
    name = row["dataset"]
    if name not in found:
        words = {key: row[key] for key in ("reader", "title", "content", "version", "homepage", "licence", "citation")}
        found[name] = Published(name, **words, files={})
    if not row["file"]:
        return
    size = int(row["bytes"]) if row["bytes"] else None
    file = File(row["file"], row["address"], row["archive_address"], row["md5"], size)
    found[name] = found[name]._replace(files={**found[name].files, file.name: file})


def obtain(file: File, path: Path) -> None:
    """Make sure that ``path`` is the published file: fetch it from its address or else from its archive.

    Raises:
        HypersphereError: neither has it; the sentence is about the first.
    """
    try:
        fetch(file.address, path, file.md5)
    except HypersphereError:
        if not file.archive_address:
            raise
        print(f"{file.address}: failed; trying {file.archive_address}", flush=True)
        try:
            fetch(file.archive_address, path, file.md5)
            return
        except HypersphereError:
            pass
        raise


def require(file: File, path: Path, download: bool, unpacked: str = "") -> None:
    """Make sure that ``path`` is the published file, which is fetched if ``download``, and else only looked at.

    Args:
        file: the published file.
        path: where it should be.
        download: whether it may be fetched.
        unpacked: the folder that would have done in its place, for the error.

    Raises:
        HypersphereError: it is missing or another file, or cannot be fetched.
    """
    if download:
        obtain(file, path)
    elif not path.exists():
        instead = f", and so is the folder {unpacked}, unpacked from it" if unpacked else ""
        raise HypersphereError(f"{path}: the file is missing{instead}; it is published at {file.address}")
    elif not has_md5(path, file.md5):
        size = path.stat().st_size
        raise HypersphereError(
            f"{path}: damaged: {size} bytes with another md5 than the published one; put the official file there"
        )
