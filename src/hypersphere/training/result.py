"""Put a finished run's files in place of an older result."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from hypersphere import files
from hypersphere.config.plan import MANIFEST, UNFINISHED
from hypersphere.config.run import Run
from hypersphere.training import snapshots


def replace(run: Run, unfinished: Path, folder: Path, produced: Sequence[str], manifest: dict[str, Any]) -> None:
    """Replace an older result. The manifest is removed first and written last, so a kill leaves no mixed result.

    Stale snapshots are removed after the new ones are in place: after a kill they still show which epochs to save.
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    files.write_text(folder / "run.yaml", yaml.safe_dump(run.model_dump(mode="json"), sort_keys=False))
    for name in produced:
        with files.replacing(folder / name) as temporary:
            _link(unfinished / name, temporary)
    snapshots.remove_stale(folder, produced)
    files.write_sealed(folder / MANIFEST, manifest)
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)


def _link(source: Path, target: Path) -> None:
    """Hard-link a file, which is safe because files are never rewritten in place; copy it where links do not work."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
