"""A finished run's manifest, read and checked without importing torch."""

from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.plan import MANIFEST

KEYS = {"name", "run", "status", "epochs", "code", "data", "files", "device", "numerics", "environment"}


def read_manifest(folder: Path) -> dict[str, Any]:
    """A run's manifest.

    Raises:
        HypersphereError: missing, not JSON, or not a manifest.
    """
    path = folder / MANIFEST
    manifest = files.read_json(path)
    if not isinstance(manifest, dict) or not manifest.keys() >= KEYS:
        raise HypersphereError(f"{path}: not a run's manifest; delete the folder to train the run again")
    return manifest


def check_files(folder: Path) -> dict[str, Any]:
    """The manifest of a finished run whose files are all there, unaltered.

    Raises:
        HypersphereError: naming the file that is missing or altered.
    """
    manifest = read_manifest(folder)
    for name, expected in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            raise HypersphereError(f"{path}: the file is missing; `hypersphere pretrain {folder.name}` makes it again")
        if files.sha256(path) != expected:
            raise HypersphereError(
                f"{path}: the file's bytes are not those of the manifest; "
                f"`hypersphere pretrain {folder.name}` makes it again"
            )
    return manifest
