"""Snapshots of a run: encoders and heads saved at chosen epochs.

The chosen epochs are no part of a run's name, so another choice renames nothing. A run that is trained again saves the
snapshots that it had before, too.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from hypersphere import files
from hypersphere.config.plan import MANIFEST
from hypersphere.errors import HypersphereError

_NAME = re.compile(r"snapshots/epoch-(\d+)(?:\.heads)?\.safetensors")


def existing(folder: Path) -> set[int]:
    """Epochs of the snapshots in a run's folder: from its manifest, or, if that cannot be read, from the file names."""
    try:
        return _epochs(files.read_sealed(folder / MANIFEST)["files"])
    except HypersphereError:
        return _epochs(f"snapshots/{path.name}" for path in folder.glob("snapshots/*"))


def remove_stale(folder: Path, listed: Collection[str]) -> None:
    """Remove the snapshots in ``folder`` that are not among the files ``listed``."""
    for path in folder.glob("snapshots/*.safetensors"):
        if f"snapshots/{path.name}" not in listed:
            path.unlink()


def _epochs(names: Iterable[str]) -> set[int]:
    """The epochs of the snapshots among these files."""
    return {int(match[1]) for match in map(_NAME.fullmatch, names) if match}
