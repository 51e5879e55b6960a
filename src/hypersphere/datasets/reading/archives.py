"""Read files of a folder, a .zip, a .tar or a .tar.gz by name. Nothing is unpacked into a folder.

So a member's name never becomes a path, and links, absolute paths and ``..`` in an archive do no harm.
"""

import gzip
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

from hypersphere import files
from hypersphere.errors import HypersphereError

LARGEST = 2**27
"""Bytes of the largest file that is read whole."""
BLOCK = 2**20
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)
"""What reading a broken archive raises. A broken gzip is an OSError; an encrypted or unknown member the two before."""


class Shelf(Protocol):
    """Files by name."""

    place: str
    """Where they are, for errors."""

    def names(self) -> list[str]:
        """Names of all files, sorted, with / between folders; without hidden ones. An empty folder's name ends in /."""

    def read(self, name: str) -> bytes:
        """A file's content.

        Raises:
            HypersphereError: there is no such file, or it cannot be read or is too large.
        """


class Folder:
    """Files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder)

    def names(self) -> list[str]:
        """As ``Shelf.names``."""
        return sorted(_below(self.folder, ""))

    def read(self, name: str) -> bytes:
        """As ``Shelf.read``."""
        path = self.folder / name
        files.check_regular(path)
        try:
            size = path.stat().st_size
            if size > LARGEST:
                raise HypersphereError(f"{path}: has {size:,} bytes, and a file may have {LARGEST:,}")
            return path.read_bytes()
        except FileNotFoundError:
            raise HypersphereError(f"{path}: the file is missing") from None
        except OSError as error:
            raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


class Zip:
    """Files below a folder of a .zip, read in place."""

    def __init__(self, path: Path, folder: str) -> None:
        self.path, self.place = path, f"{path}: {folder}"
        self._prefix = f"{folder}/"
        files.check_regular(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except BROKEN as error:
            raise _broken(path, error) from None
        self._names = sorted(
            name.removeprefix(self._prefix)
            for name in self._zip.namelist()
            if name.startswith(self._prefix) and not name.endswith("/")
        )

    def names(self) -> list[str]:
        """As ``Shelf.names``."""
        return [name for name in self._names if not any(part.startswith(".") for part in name.split("/"))]

    def read(self, name: str) -> bytes:
        """As ``Shelf.read``."""
        try:
            about = self._zip.getinfo(self._prefix + name)
            if about.file_size > LARGEST:
                raise HypersphereError(
                    f"{self.path}: {name}: has {about.file_size:,} bytes, and a file may have {LARGEST:,}"
                )
            return self._zip.read(about)
        except KeyError:
            raise HypersphereError(f"{self.path}: {self._prefix}{name}: is not in the archive") from None
        except BROKEN as error:
            raise _broken(self.path, error, name) from None


class Tar:
    """Chosen files of a .tar.gz. They are copied, one after the other, into one nameless temporary file.

    A .tar.gz can only be read from first to last; the copy can be read in any order, and needs no memory.
    """

    def __init__(self, path: Path, folder: str, wanted: Callable[[str], bool]) -> None:
        self.path, self.place = path, f"{path}: {folder}"
        self._places: dict[str, tuple[int, int]] = {}
        self._copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (it closes with this object)
        files.check_regular(path)
        try:
            with gzip.open(path) as opened, tarfile.open(fileobj=opened, mode="r:") as tar:
                for member in tar:
                    name = member.name.removeprefix("./").removeprefix(f"{folder}/")
                    if member.isfile() and wanted(name):
                        self._add(tar, member, name)
                while opened.read(BLOCK):  # gzip's checksum comes after the last byte
                    pass
        except BROKEN as error:
            raise _broken(path, error) from None

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> None:
        if member.size > LARGEST:
            raise HypersphereError(f"{self.path}: {name}: has {member.size:,} bytes, and a file may have {LARGEST:,}")
        opened = tar.extractfile(member)
        assert opened is not None
        content = opened.read()
        if len(content) != member.size:
            raise HypersphereError(f"{self.path}: {name}: ends early")
        with files.writing(Path(tempfile.gettempdir())):
            self._places[name] = (self._copy.seek(0, os.SEEK_END), len(content))
            self._copy.write(content)

    def names(self) -> list[str]:
        """As ``Shelf.names``."""
        return sorted(self._places)

    def read(self, name: str) -> bytes:
        """As ``Shelf.read``."""
        if name not in self._places:
            raise HypersphereError(f"{self.path}: {name}: is not in the archive")
        start, size = self._places[name]
        self._copy.seek(start)
        return self._copy.read(size)


class PlainTar:
    """Chosen files below a folder of a .tar without compression, read in place."""

    def __init__(self, path: Path, folder: str, wanted: Callable[[str], bool]) -> None:
        self.path, self.place = path, f"{path}: {folder}"
        self._places = places(path, folder, wanted)

    def names(self) -> list[str]:
        """As ``Shelf.names``."""
        return sorted(self._places)

    def read(self, name: str) -> bytes:
        """As ``Shelf.read``."""
        if name not in self._places:
            raise HypersphereError(f"{self.path}: {name}: is not in the archive")
        start, size = self._places[name]
        if size > LARGEST:
            raise HypersphereError(f"{self.path}: {name}: has {size:,} bytes, and a file may have {LARGEST:,}")
        try:
            with self.path.open("rb") as handle:
                handle.seek(start)
                content = handle.read(size)
        except OSError as error:
            raise HypersphereError(f"{self.path}: cannot be read ({error.strerror})") from None
        if len(content) != size:
            raise HypersphereError(f"{self.path}: {name}: ends early")
        return content


def places(path: Path, folder: str, wanted: Callable[[str], bool]) -> dict[str, tuple[int, int]]:
    """First byte and size of the wanted files below a folder of a .tar without compression, by name.

    Hidden files are left out.

    Raises:
        HypersphereError: the archive cannot be read.
    """
    found = {}
    files.check_regular(path)
    try:
        with tarfile.open(path, "r:") as tar:
            while (member := tar.next()) is not None:
                tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps each; there may be a million
                name = member.name.removeprefix("./")
                hidden = any(part.startswith(".") for part in name.split("/"))
                if member.isfile() and name.startswith(f"{folder}/") and not hidden:
                    name = name.removeprefix(f"{folder}/")
                    if wanted(name):
                        found[name] = (member.offset_data, member.size)
    except BROKEN as error:
        raise _broken(path, error) from None
    return found


def _below(folder: Path, prefix: str) -> list[str]:
    """Names of the files and empty folders below a folder. A link that leads back up is not followed."""
    found: list[str] = []
    try:
        for entry in sorted(folder.iterdir()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                if entry.resolve() not in (folder.resolve(), *folder.resolve().parents):
                    found += _below(entry, f"{prefix}{entry.name}/") or [f"{prefix}{entry.name}/"]
            else:
                found.append(f"{prefix}{entry.name}")
    except OSError as error:
        raise HypersphereError(f"{folder}: cannot be listed ({files.reason(error)})") from None
    return found


def _broken(path: Path, error: Exception, name: str = "") -> HypersphereError:
    where = f"{path}: {name}" if name else str(path)
    return HypersphereError(f"{where}: cannot be unpacked ({' '.join(str(error).split()) or type(error).__name__})")
