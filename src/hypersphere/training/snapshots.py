"""Snapshots: encoders and heads saved at chosen epochs. List the ones a run has, and remove those no longer needed.

The chosen epochs are no part of a run's name, so another choice renames nothing. Only ``remove`` deletes a snapshot: a
run that is trained again saves the ones it had before, too.
"""

import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance import lock
from hypersphere.provenance.manifest import read_manifest
from hypersphere.training.checkpoint import snapshot_names

_NAME = re.compile(r"snapshots/epoch-(\d+)(?:\.heads)?\.safetensors")


class Kept(NamedTuple):
    """A snapshot of a finished run."""

    run: str
    epoch: int
    megabytes: float | None
    """Size of its two files together, in 10^6 bytes; None if one is missing."""
    note: str
    """Whether the plan needs it, in words."""


def existing(folder: Path) -> set[int]:
    """Epochs of the snapshots in a run's folder: from its manifest, or, if that cannot be read, from the file names."""
    try:
        return _epochs(read_manifest(folder)["files"])
    except HypersphereError:
        return _on_disk(folder)


def remove_stale(folder: Path, listed: Collection[str]) -> None:
    """Remove the snapshots in ``folder`` that are not among the files ``listed``."""
    for epoch in _on_disk(folder) - _epochs(listed):
        for name in snapshot_names(epoch):
            (folder / name).unlink(missing_ok=True)


def listing(plan: Plan, names: Sequence[str]) -> list[Kept]:
    """Snapshots of those of the named runs that are finished.

    Raises:
        HypersphereError: no such run at this scale, or a manifest is damaged.
    """
    runs = [plan.run(name) for name in names]
    return [row for run in runs if (plan.run_folder(run.name) / MANIFEST).exists() for row in _of(plan, run)]


def table(plan: Plan, names: Sequence[str]) -> list[str]:
    """``listing`` as lines of text, for people; sizes in megabytes (10^6 bytes)."""
    rows = listing(plan, names)
    if not rows:
        return ["no finished run has a snapshot"]
    width = max(len(row.run) for row in rows)
    lines = [f"{'run':<{width}}  epoch        MB  by the plan"]
    for row in rows:
        size = "missing" if row.megabytes is None else f"{row.megabytes:.3f}"
        lines.append(f"{row.run:<{width}}  {row.epoch:>5}  {size:>8}  {row.note}")
    return lines


def remove(plan: Plan, names: Sequence[str], epochs: Sequence[int]) -> list[Kept]:
    """Remove the snapshots of these epochs from each of these runs. If one must not be removed, none is.

    Returns:
        The removed snapshots.

    Raises:
        HypersphereError: a run is not finished or has no snapshot of an epoch, the plan needs a snapshot, or another
            process is working on a run.
    """
    runs = [plan.run(name) for name in dict.fromkeys(names)]
    for run in runs:
        read_manifest(plan.run_folder(run.name))  # fails before a lock file is made in the folder
    with ExitStack() as locks:
        for name in sorted({*names}):  # one order in all processes, so that no two wait for each other
            locks.enter_context(lock.held(plan.run_folder(name)))
        chosen = [_choose(plan, run, epoch) for run in runs for epoch in sorted({*epochs})]
        for run in runs:
            _remove(plan.run_folder(run.name), {name for epoch in epochs for name in snapshot_names(epoch)})
    return chosen


def _remove(folder: Path, names: set[str]) -> None:
    """Change the manifest first: a kill in between leaves only files that it does not list, which does no harm."""
    manifest: dict[str, Any] = read_manifest(folder)
    manifest["files"] = {name: sha256 for name, sha256 in manifest["files"].items() if name not in names}
    files.write_sealed(folder / MANIFEST, manifest)
    for name in names:
        with files.writing(folder / name):
            (folder / name).unlink(missing_ok=True)


def _choose(plan: Plan, run: Run, epoch: int) -> Kept:
    rows = {row.epoch: row for row in _of(plan, run)}
    if epoch not in rows:
        others = f"it has those of {', '.join(map(str, rows))}" if rows else "it has none"
        raise HypersphereError(f"{run.name}: no snapshot of epoch {epoch}; {others}")
    if epoch in plan.kept_epochs(run):
        raise HypersphereError(f"{run.name}: the plan needs the snapshot of epoch {epoch}")
    return rows[epoch]


def _of(plan: Plan, run: Run) -> list[Kept]:
    folder, needed = plan.run_folder(run.name), plan.kept_epochs(run)
    listed = _epochs(read_manifest(folder)["files"])
    return [
        Kept(run.name, epoch, _megabytes(folder, epoch), _note(epoch in needed, epoch in listed))
        for epoch in sorted(listed | _on_disk(folder))
    ]


def _note(needed: bool, listed: bool) -> str:
    if not listed:
        return "left over from an interrupted removal"
    return "needed" if needed else "no longer needed"


def _epoch(name: str) -> int | None:
    """The epoch of a snapshot's file, by its name; None if the file is no snapshot."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def _epochs(names: Collection[str]) -> set[int]:
    return {epoch for name in names if (epoch := _epoch(name)) is not None}


def _on_disk(folder: Path) -> set[int]:
    return _epochs([path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")])


def _megabytes(folder: Path, epoch: int) -> float | None:
    paths = [folder / name for name in snapshot_names(epoch)]
    return sum(path.stat().st_size for path in paths) / 1e6 if all(path.is_file() for path in paths) else None
