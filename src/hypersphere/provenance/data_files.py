"""What decides a dataset's bytes besides code: checksums of published files, tables and lists, listings of folders.

A row of data/datasets.csv or data/checksums.csv counts for the datasets whose code includes its reader, a module of
``datasets/``, here or in a plug-in. Its file's name and checksum count; addresses and words do not, because they change
no byte.

Images that no checksum covers are noticed by a digest of their folder's listing. A source that reads such a folder says
so with a constant, ``LISTED``: the folder's path below the data folder, in which ``{name}`` stands for the source's
parameter of that name. It is read without importing the source.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Component
from hypersphere.errors import HypersphereError

FOLDER = Path(__file__).parents[3] / "data"
TABLE, CHECKSUMS = FOLDER / "datasets.csv", FOLDER / "checksums.csv"
WHOLE = {"imagenet100": FOLDER / "imagenet100.txt", "corrupting": FOLDER / "severities.csv"}
"""Files of which every byte counts, by the module of ``datasets/`` that reads them."""
LISTING = "listing"
"""Key of a folder's digest in the manifest of a prepared dataset."""
DEPTH = 5
"""Levels of folders that are listed; a link that leads back up is followed no further."""


def checksums_of(modules: Iterable[str]) -> dict[str, str]:
    """What decides the bytes of a dataset that these modules make; all that they import must be among them.

    These are the checksums of published files by their names, and the sha256 of files of which every byte counts.
    """
    readers = {module.partition(".datasets.")[2] for module in modules}
    checksums = {}
    for reader, path in WHOLE.items():
        if reader in readers:
            checksums[path.name] = files.sha256(path)
    for row in (*rows(TABLE), *rows(CHECKSUMS)):
        if row["file"] and row["reader"] in readers:
            file = f"{row['dataset']}/{row['file']}" if "dataset" in row else row["file"]
            checksums[file] = row["checksum"]
    return checksums


@cache
def rows(table: Path) -> list[dict[str, str]]:
    """The rows of a table that belongs to the checkout."""
    return list(csv.DictReader(io.StringIO(files.read_text(table), newline="")))


def folder_digest(source: Component, root: Path) -> str | None:
    """Digest of the folder that a source reads, or None if it reads none or the folder is not there."""
    pattern = registry.read_constant("datasets", source.name, "LISTED", None)
    if pattern is None:
        return None
    parameters = registry.schema("datasets", source.name).model_validate(source.parameters)
    folder = root / pattern.format(**parameters.model_dump())
    return listing(folder) if folder.is_dir() else None


def listing(folder: Path) -> str:
    """Digest of the path, size and time of change of each file below ``folder``, and of its folders' paths.

    Hidden files and folders are left out.
    """
    try:
        return files.digest(sorted(entries(folder)), 64)
    except OSError as error:
        raise HypersphereError(f"{folder}: cannot be listed ({files.reason(error)})") from None


def entries(folder: Path, prefix: str = "", depth: int = DEPTH) -> Iterator[tuple[str, int, int]]:
    """Path below ``folder``, size and time of change of each file that is not hidden; a folder's path ends in /."""
    with os.scandir(folder) as listed:
        for entry in listed:
            path = f"{prefix}{entry.name}"
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                yield f"{path}/", 0, 0
                if depth:
                    yield from entries(Path(entry.path), f"{path}/", depth - 1)
            else:
                status = entry.stat(follow_symlinks=os.path.exists(entry.path))
                yield path, status.st_size, status.st_mtime_ns
