"""Read files of a folder, a .zip, a .tar or a .tar.gz by name. Nothing is unpacked into a folder.

So a member's name never becomes a path, and links, absolute paths and ``..`` in an archive do no harm.
"""

import gzip
import os
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.provenance import data_files

BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    UnicodeError,
    OSError,
)
"""What reading a broken archive raises. A broken gzip is an OSError; an encrypted or unknown member a RuntimeError."""

PIECE = 2**20
"""Bytes that are unzipped at once."""


HIDDEN = re.compile(r"(^|/)\.")
"""In the name of a hidden file, or of a file in a hidden folder."""
Members = dict[str, Callable[[], IO[bytes] | None]]
"""What opens each file of an archive, by its name."""


class Shelf:
    """Files by name: those of a folder on disk, or of a folder of an archive whose checksum was compared.

    Attributes:
        place: where they are, for errors.
    """

    def __init__(self, path: Path, folder: str = "", in_order: bool = False) -> None:
        """Open an archive, of which only ``folder`` is on the shelf, or look at a folder.

        A .tar.gz is unzipped into one nameless temporary file, whose members can be read in any order; or, with
        ``in_order``, is read in place, where few files are read.
        """
        self.path, self.place = path, f"{path}: {folder}" if folder else str(path)
        files.check_regular(path)
        if not path.exists():
            raise HypersphereError(f"{path}: no such folder")
        found: Members = {}
        with _readable(str(path)):
            # A folder is listed when it is asked for.
            if path.is_file() and path.suffix == ".zip":
                found = _of_zip(zipfile.ZipFile(path))
            elif path.is_file() and (path.suffix == ".tar" or in_order):
                found = _of_tar(tarfile.open(path))  # noqa: SIM115  (the shelf keeps it)
            elif path.is_file():
                found = _of_tar(tarfile.open(fileobj=_unzipped(path)))  # noqa: SIM115
        below = f"{folder}/" if folder else ""
        self._members = {
            name.removeprefix(below): member
            for name, member in found.items()
            if name.startswith(below)
        }

    def names(self) -> list[str]:
        """Names of all files, sorted, with / between folders; without hidden ones. An empty folder's name ends in /.

        So does that of one that lies more than five folders deep: what it holds is not listed.
        """
        if not self.path.is_dir():
            return sorted(name for name in self._members if not HIDDEN.search(name))
        with _readable(str(self.path)):
            found = sorted(name for name, _, _ in data_files.entries(self.path))
        # What a folder holds comes right after it.
        after = dict(pairwise(found))
        return [
            name
            for name in found
            if not name.endswith("/") or not after.get(name, "").startswith(name)
        ]

    def read(self, name: str) -> bytes:
        """A file's content."""
        with _readable(f"{self.place}/{name}"), self._opened(name) as opened:
            return opened.read()

    def records(self, name: str, size: int) -> tuple[int, Callable[[int], bytes]]:
        """The number of records of ``size`` bytes in a file, and what reads one of them by its number from 0."""
        place = f"{self.place}/{name}"
        with _readable(place):
            opened = self._opened(name)
            total = opened.seek(0, os.SEEK_END)

        def read(number: int) -> bytes:
            with _readable(place):
                opened.seek(number * size)
                return opened.read(size)

        return total // size, read

    def _opened(self, name: str) -> IO[bytes]:
        if self.path.is_dir():
            files.check_regular(self.path / name)
            return (self.path / name).open("rb")
        opened = self._members[name]()
        assert opened is not None  # it is a regular file
        return opened


class Nested(Shelf):
    """Files of tars in a tar, read in place: ``cat/1.jpg`` is ``1.jpg`` of ``cat.tar``."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        members: Members = {}
        for name, packed in sorted(self._members.items()):
            folder = name.removesuffix(".tar")
            with _readable(f"{path}: {name}"):
                inner = _of_tar(tarfile.open(fileobj=packed()))  # noqa: SIM115  (the shelf keeps it)
                members |= {f"{folder}/{image}": member for image, member in inner.items()}
        self._members = members


def _of_zip(packed: zipfile.ZipFile) -> Members:
    """Files of a zip, by name."""
    return {
        member.filename.removeprefix("./"): partial(packed.open, member)
        for member in packed.infolist()
        if not member.is_dir()
    }


def _of_tar(packed: tarfile.TarFile) -> Members:
    """Files of a tar, by name."""
    return {
        member.name.removeprefix("./"): partial(packed.extractfile, member)
        for member in packed
        if member.isfile()
    }


def _unzipped(path: Path) -> IO[bytes]:
    """A nameless temporary file of what a .gz holds."""
    with path.open("rb") as packed:
        packed.seek(max(0, path.stat().st_size - 4))
        size = int.from_bytes(packed.read(), "little")  # a .gz ends with it
    what = f"{path.name}, unzipped {size:,} bytes,"
    with files.temporarily(what):
        plain = tempfile.TemporaryFile()  # noqa: SIM115  (the shelf keeps it)
    with gzip.open(path) as zipped:
        while piece := zipped.read(PIECE):
            with files.temporarily(what):
                plain.write(piece)
                plain.flush()
    plain.seek(0)
    return plain


@contextmanager
def _readable(place: str) -> Iterator[None]:
    """Turn the errors of a missing file or a broken archive into a sentence that begins with ``place``."""
    try:
        yield
    except (FileNotFoundError, KeyError):
        raise HypersphereError(f"{place}: the file is missing") from None
    except BROKEN as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise HypersphereError(f"{place}: cannot be read ({words})") from None
