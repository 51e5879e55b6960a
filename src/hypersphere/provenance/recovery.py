"""Mend what a killed Snakemake left behind, before the next one plans its jobs."""

import fcntl
import os
import platform
import shutil
from pathlib import Path

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError


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
    hosts = files.mapping(files.read_mapping(record).get("hosts")) or ({"unknown": 0} if locked else {})
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
