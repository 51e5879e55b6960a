"""Read files of a folder, a .zip, a .tar or a .tar.gz by name, with fsspec. Nothing is unpacked into a folder.

So a member's name never becomes a path, and links, absolute paths and ``..`` in an archive do no harm.
"""

import gzip
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.tar import TarFileSystem
from fsspec.implementations.zip import ZipFileSystem

from hypersphere import files
from hypersphere.errors import HypersphereError

LARGEST = 2**28
"""Bytes of the largest file that is read whole."""
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)
"""What reading a broken archive raises. A broken gzip is an OSError; an encrypted or unknown member the two before."""


class Shelf:
    """Files by name: those of a folder on disk, or of a folder of an archive.

    Attributes:
        place: where they are, for errors.
    """

    def __init__(self, path: Path, folder: str = "", in_order: bool = False) -> None:
        """Open an archive, or look at a folder.

        Args:
            path: the archive or the folder.
            folder: of an archive, whose files alone are on the shelf.
            in_order: whether each file is read from first to last, so that a .tar.gz can be read in place. Otherwise it
                is first unzipped into one nameless temporary file, whose members can be read in any order.
        """
        self.path, self.place = path, f"{path}: {folder}" if folder else str(path)
        self._prefix = f"{folder}/" if folder else ""
        files.check_regular(path)
        with readable(str(path)):
            self._system = _opened(path, in_order)

    def names(self) -> list[str]:
        """Names of all files, sorted, with / between folders; without hidden ones. An empty folder's name ends in /."""
        if isinstance(self._system, LocalFileSystem):
            found = _below(self.path)
        elif isinstance(self._system, TarFileSystem):  # its own search looks at all members for each folder
            found = [name for name, (about, *_) in self._system.index.items() if about["type"] == "file"]
        else:
            found = self._system.find(self._prefix)
        below = (_plain(name) for name in found)
        names = (name.removeprefix(self._prefix) for name in below if name.startswith(self._prefix))
        return sorted(name for name in names if name and not any(part.startswith(".") for part in name.split("/")))

    def read(self, name: str) -> bytes:
        """A file's content."""
        opened, size = self.open(name)
        with opened, readable(f"{self.place}/{name}"):
            if size > LARGEST:
                raise HypersphereError(f"{self.place}/{name}: has {size:,} bytes, and a file may have {LARGEST:,}")
            content = opened.read()
            if len(content) != size:
                raise EOFError("it ends early")
            return content

    def open(self, name: str) -> tuple[IO[bytes], int]:
        """A file, opened for reading, and its size in bytes."""
        files.check_regular(self.path / name)  # a file of a folder; in an archive there is none of this path
        with readable(f"{self.place}/{name}"):
            at = self._member(name)
            return self._system.open(at), self._system.info(at)["size"]

    def _member(self, name: str) -> str:
        if isinstance(self._system, LocalFileSystem):
            return str(self.path / name)
        member = self._prefix + name
        return f"./{member}" if f"./{member}" in getattr(self._system, "index", ()) else member


@contextmanager
def readable(place: str) -> Iterator[None]:
    """Turn the errors of a missing file or a broken archive into a sentence that begins with ``place``."""
    try:
        yield
    except (FileNotFoundError, KeyError, AttributeError):  # the latter two: a link to nothing, a member that is no file
        raise HypersphereError(f"{place}: the file is missing") from None
    except BROKEN as error:
        raise HypersphereError(
            f"{place}: cannot be read ({' '.join(str(error).split()) or type(error).__name__})"
        ) from None


def _opened(path: Path, in_order: bool) -> Any:
    """The file system of a folder or an archive."""
    if path.is_dir():
        return LocalFileSystem()
    if path.suffix == ".zip":
        return ZipFileSystem(str(path))
    if path.suffix == ".tar" or in_order:
        return TarFileSystem(str(path), compression=None if path.suffix == ".tar" else "gzip")
    # fsspec guesses the compression from the file's name, so it has one until it is open.
    plain = tempfile.NamedTemporaryFile(suffix=".tar", delete=False)  # noqa: SIM115  (it closes with the file system)
    os.unlink(plain.name)
    with gzip.open(path) as zipped:
        shutil.copyfileobj(zipped, plain, 2**20)
    plain.seek(0)
    return TarFileSystem(plain)


def _plain(name: str) -> str:
    return name.removeprefix("./")


def _below(folder: Path) -> list[str]:
    """Names of the files and empty folders below a folder."""

    def refuse(error: OSError) -> None:
        raise HypersphereError(f"{folder}: cannot be listed ({files.reason(error)})")

    found = []
    for at, folders, names in os.walk(folder, followlinks=True, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        prefix = os.path.relpath(at, folder) + "/"
        shown = [prefix + name for name in names if not name.startswith(".")]
        found += shown if shown or folders else [prefix]
    return [_plain(name) for name in found]
