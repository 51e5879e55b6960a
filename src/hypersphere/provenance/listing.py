"""A digest of a folder's listing, by which a change to images that no checksum covers is noticed.

A source that reads such a folder says so with a constant, ``LISTED``: the folder's path below the data folder, in which
``{name}`` stands for the source's parameter of that name. It is read without importing the source.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Component
from hypersphere.errors import HypersphereError

KEY = "listing"
"""Key of the digest in the manifest of a prepared dataset."""
DEPTH = 5
"""Levels of folders that are listed; a link that leads back up is followed no further."""


def of_source(source: Component, root: Path) -> str | None:
    """Digest of the folder that a source reads, or None if it reads none or the folder is not there."""
    pattern = registry.read_constant("datasets", source.name, "LISTED", None)
    if pattern is None:
        return None
    parameters = registry.schema("datasets", source.name).model_validate(source.parameters).model_dump()
    folder = root / pattern.format(**parameters)
    return digest(folder) if folder.is_dir() else None


def digest(folder: Path) -> str:
    """Digest of the path, size and time of change of each file below ``folder``, and of its folders' paths.

    Hidden files and folders are left out.
    """
    try:
        return files.digest(sorted(_entries(folder, "", DEPTH)), 64)
    except OSError as error:
        raise HypersphereError(f"{folder}: cannot be listed ({files.reason(error)})") from None


def _entries(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                yield f"{prefix}{entry.name}/", 0, 0
                if depth:
                    yield from _entries(Path(entry.path), f"{prefix}{entry.name}/", depth - 1)
            else:
                status = entry.stat(follow_symlinks=os.path.exists(entry.path))
                yield f"{prefix}{entry.name}", status.st_size, status.st_mtime_ns
