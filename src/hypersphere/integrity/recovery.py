"""Mend what a lost file or a killed Snakemake left behind, before the next Snakemake plans its jobs.

Run folders and prepared arrays are not declared to Snakemake, because it deletes declared outputs before a job and
after a killed one. It knows markers instead. A marker is removed here if files that it stands for are missing.
"""

import fcntl
import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.declared.cells import raw_pixels
from hypersphere.declared.plan import MANIFEST, Plan
from hypersphere.errors import HypersphereError


def forget_what_is_lost(plan: Plan) -> None:
    """Remove the marker of each batch with a missing file of a run or evaluation, and of each dataset with a missing
    array.

    Only presence and, for arrays, size are checked here; bytes are checked on use and by `hypersphere verify`.

    Raises:
        HypersphereError: a marker cannot be removed.
    """
    for batch in plan.batches:
        marker = plan.marker(batch)
        marked = _content(marker)
        if marker.exists() and not all(_is_run_complete(plan, run.name, marked) for run in batch.runs):
            _forget(marker)
        _forget_lost_evaluations(plan, batch.id, [run.name for run in batch.runs])
    for name in plan.asked_of_pixels:
        _forget_lost_evaluations(plan, raw_pixels(name), [])
    for dataset in plan.datasets.values():
        manifest = plan.data_folder(dataset) / MANIFEST
        if manifest.exists() and not _are_arrays_complete(manifest):
            _forget(manifest)


def _forget_lost_evaluations(plan: Plan, identifier: str, runs: list[str]) -> None:
    """Remove the marker of the evaluations of a batch (or of a dataset's raw pixels) if a file of them is missing."""
    marker = plan.evaluated_marker(identifier)
    if not marker.exists():
        return
    content = _content(marker)
    subjects = {run: _mapping(content.get(run)) for run in runs} if runs else {identifier: content}
    paths = [plan.evaluation(subject, digest) for subject, digests in subjects.items() for digest in digests]
    if not all(map(_is_evaluation_complete, paths)) or (runs and not set(runs) <= content.keys()):
        _forget(marker)


def _is_evaluation_complete(path: Path) -> bool:
    names = _mapping(_content(path.with_suffix(".json")).get("files"))
    return path.name in names and all(path.with_name(name).is_file() for name in names)


def _content(marker: Path) -> dict[str, Any]:
    try:
        content = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_run_complete(plan: Plan, name: str, marked: dict[str, Any]) -> bool:
    folder = plan.run_folder(name)
    names = _mapping(_mapping(marked.get(name)).get("files"))
    return bool(names) and all((folder / file).is_file() for file in (MANIFEST, *names))


def _are_arrays_complete(manifest: Path) -> bool:
    described = _mapping(_content(manifest).get("files"))
    sizes = {manifest.parent / name: _mapping(about).get("bytes") for name, about in described.items()}
    return bool(sizes) and all(path.is_file() and path.stat().st_size == size for path, size in sizes.items())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _forget(marker: Path) -> None:
    with files.writing(marker):
        marker.unlink(missing_ok=True)


def check_writable(plan: Plan) -> None:
    """Check that jobs can write to the folders that they use; no folder is created.

    Raises:
        HypersphereError: a folder, or the one it would be made in, cannot be written.
    """
    for folder in (plan.config.results, plan.config.root / "logs", plan.config.root / "data" / "processed"):
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(existing, os.W_OK):
            raise HypersphereError(f"{folder}: cannot be written ({existing} is read-only or belongs to another user)")


def join(folder: Path) -> str | None:
    """Register this Snakemake as one at work in ``folder``, and clean up after those that were killed.

    Snakemake's own locks are files, which outlive a killed process. Each of our Snakemakes also holds a lock that the
    system releases when it ends. Whoever gets this lock exclusively knows that no other is alive on this machine, and
    removes what they left. Where that is unknown (locks of another machine, a file system that cannot lock),
    Snakemake's own locks stay.

    Returns:
        A note for the person who started it, if there is something to know.
    """
    place = folder / ".snakemake"
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place / "hypersphere.lock", os.O_RDWR | os.O_CREAT)
        alone = _is_alone(handle)
    except OSError:
        return None
    record, stale = place / "hypersphere.json", place / "locks"
    locked, me = stale.is_dir() and any(stale.iterdir()), platform.node()
    hosts = _mapping(_content(record).get("hosts")) or ({"unknown": 0} if locked else {})
    note = None if alone else f"another Snakemake is at work here: process {hosts.get(me)} of {me}"
    if alone and locked and hosts.keys() == {me}:
        _clean_up(folder, stale)
        note, locked = f"the Snakemake before this one (process {hosts[me]}) was killed: its locks are removed", False
    files.write_json(record, {"hosts": (hosts if locked else {}) | {me: os.getpid()}})
    fcntl.flock(handle, fcntl.LOCK_SH)
    return note


def _is_alone(handle: int) -> bool:
    """Whether no other process of this machine holds the lock. The handle stays open as long as this process lives."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clean_up(folder: Path, locks: Path) -> None:
    shutil.rmtree(locks)
    for leftover in folder.glob(f"results/*/**/.*{files.PART}"):
        if "runs" not in leftover.parts:  # training cleans a run's folder itself, under the run's lock
            leftover.unlink(missing_ok=True)
