"""What a lost file or a killed Snakemake leaves behind, mended by the next Snakemake before it plans its jobs.

Run folders and prepared arrays are not declared to Snakemake, which deletes what it is told of, before a job and after
a killed one. So it is told of a marker; here a marker whose files are no longer there is removed.
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
    """Remove the marker of each batch that lacks a file of one of its runs or evaluations, and of each dataset that
    lacks an array.

    Only presence and, for arrays, size are looked at; bytes are checked when they are used and by `hypersphere verify`.

    Raises:
        HypersphereError: a marker cannot be removed.
    """
    for batch in plan.batches:
        marker = plan.marker(batch)
        marked = _content(marker)
        if marker.exists() and not all(_run_is_there(plan, run.name, marked) for run in batch.runs):
            _forget(marker)
        _forget_lost_evaluations(plan, batch.id, [run.name for run in batch.runs])
    for name in plan.asked_of_pixels:
        _forget_lost_evaluations(plan, raw_pixels(name), [])
    for dataset in plan.datasets.values():
        manifest = plan.data_folder(dataset) / MANIFEST
        if manifest.exists() and not _arrays_are_there(manifest):
            _forget(manifest)


def _forget_lost_evaluations(plan: Plan, identifier: str, runs: list[str]) -> None:
    """Remove the marker of what a batch's runs (or a dataset's raw pixels) were asked, if an answer is lost."""
    marker = plan.evaluated_marker(identifier)
    if not marker.exists():
        return
    content = _content(marker)
    answered = {run: _mapping(content.get(run)) for run in runs} if runs else {identifier: content}
    paths = [plan.evaluation(subject, digest) for subject, digests in answered.items() for digest in digests]
    if not all(map(_evaluation_is_there, paths)) or (runs and not set(runs) <= content.keys()):
        _forget(marker)


def _evaluation_is_there(path: Path) -> bool:
    names = _mapping(_content(path.with_suffix(".json")).get("files"))
    return path.name in names and all(path.with_name(name).is_file() for name in names)


def _content(marker: Path) -> dict[str, Any]:
    try:
        content = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _run_is_there(plan: Plan, name: str, marked: dict[str, Any]) -> bool:
    folder = plan.run_folder(name)
    names = _mapping(_mapping(marked.get(name)).get("files"))
    return bool(names) and all((folder / file).is_file() for file in (MANIFEST, *names))


def _arrays_are_there(manifest: Path) -> bool:
    described = _mapping(_content(manifest).get("files"))
    sizes = {manifest.parent / name: _mapping(about).get("bytes") for name, about in described.items()}
    return bool(sizes) and all(path.is_file() and path.stat().st_size == size for path, size in sizes.items())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _forget(marker: Path) -> None:
    with files.writing(marker):
        marker.unlink(missing_ok=True)


def check_writable(plan: Plan) -> None:
    """See that jobs can write where they will; makes nothing.

    Raises:
        HypersphereError: a folder, or the one it would be made in, cannot be written.
    """
    for folder in (plan.config.results, plan.config.root / "logs", plan.config.root / "data" / "processed"):
        there = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(there, os.W_OK):
            raise HypersphereError(f"{folder}: cannot be written (read-only, or not ours to write)")


def join(folder: Path) -> str | None:
    """Be one of the Snakemakes at work in ``folder``, and tidy up after those that were killed; a note, in words.

    Snakemake's own locks are files, which outlive a killed process. Beside them each Snakemake holds a lock that the
    system releases when it ends: whoever gets it alone knows that all others on this machine are gone, and removes what
    they left. Where that cannot be told (locks made on another machine, a file system that cannot lock), Snakemake's
    own locks are left alone.
    """
    place = folder / ".snakemake"
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place / "hypersphere.lock", os.O_RDWR | os.O_CREAT)
        alone = _alone(handle)
    except OSError:
        return None
    record, stale = place / "hypersphere.json", place / "locks"
    locked, me = stale.is_dir() and any(stale.iterdir()), platform.node()
    hosts = _mapping(_content(record).get("hosts")) or ({"unknown": 0} if locked else {})
    note = None if alone else f"another Snakemake is at work here: process {hosts.get(me)} of {me}"
    if alone and locked and hosts.keys() == {me}:
        _tidy(folder, stale)
        note, locked = f"the Snakemake before this one (process {hosts[me]}) was killed: its locks are removed", False
    files.write_json(record, {"hosts": (hosts if locked else {}) | {me: os.getpid()}})
    fcntl.flock(handle, fcntl.LOCK_SH)
    return note


def _alone(handle: int) -> bool:
    """Whether nobody else on this machine holds the lock. Never closed: it is held as long as the process lives."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tidy(folder: Path, locks: Path) -> None:
    shutil.rmtree(locks)
    for left in folder.glob(f"results/*/**/.*{files.PART}"):
        if "runs" not in left.parts:  # a run sweeps its own folder, under its lock
            left.unlink(missing_ok=True)
