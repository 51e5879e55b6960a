"""Snapshots of a run: encoders and heads saved at chosen epochs.

The chosen epochs are no part of a run's name, so another choice renames nothing. A run that is trained again saves the
snapshots that it had before, too.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.errors import HypersphereError
from hypersphere.training.weights import snapshot_names

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


def table(plan: Plan, names: Sequence[str]) -> list[str]:
    """The snapshots of those of the named runs that are finished, as lines of text; sizes in 10^6 bytes."""
    lines = []
    for run in map(plan.run, names):
        folder, needed = plan.run_folder(run.name), plan.kept_epochs(run)
        for epoch in sorted(existing(folder)) if (folder / MANIFEST).exists() else ():
            paths = [folder / name for name in snapshot_names(epoch)]
            there = all(path.is_file() for path in paths)
            size = f"{sum(path.stat().st_size for path in paths) / 1e6:.3f}" if there else "missing"
            lines.append(f"{run.name}  {epoch:>5}  {size:>8}  {'needed' if epoch in needed else 'no longer needed'}")
    return ["run, epoch, MB, by the plan", *lines] if lines else ["no finished run has a snapshot"]


def _epochs(names: Iterable[str]) -> set[int]:
    """The epochs of the snapshots among these files."""
    return {int(match[1]) for match in map(_NAME.fullmatch, names) if match}
