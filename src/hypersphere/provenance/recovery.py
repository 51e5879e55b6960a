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
    """Check that jobs can write to the folders that they use, or would be able to make them."""
    for folder in (plan.config.results, plan.config.root / "logs", plan.config.data / "processed"):
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(existing, os.W_OK):
            raise HypersphereError(f"{folder}: cannot be written ({existing} is read-only or belongs to another user)")


def join(folder: Path) -> str | None:
    """Register this Snakemake as one at work in ``folder``, and clean up after those that were killed.

    Snakemake's own locks are files, which outlive a killed process. Each of our Snakemakes also holds a lock that the
    system releases when it ends. Whoever gets it exclusively knows that no other is alive on this machine, and removes
    what they left, unless some may be of another machine. Returns a note for the person who started it, if any.
    """
    place, me, alone = folder / ".snakemake", platform.node(), True
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place / "hypersphere.lock", os.O_RDWR | os.O_CREAT)  # it stays open as long as this process
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        alone = False
    except OSError:
        return None
    record, locks = place / "hypersphere.json", place / "locks"
    locked = locks.is_dir() and any(locks.iterdir())
    hosts = files.mapping(files.read_mapping(record).get("hosts")) or ({"unknown": 0} if locked else {})
    note = None if alone else f"another Snakemake is at work here: process {hosts.get(me)} of {me}"
    if alone and locked and hosts.keys() == {me}:
        shutil.rmtree(locks)
        for leftover in folder.glob(f"results/*/**/.*{files.PART}"):
            if "runs" not in leftover.parts:  # training cleans a run's folder itself, under the run's lock
                leftover.unlink(missing_ok=True)
        note, locked = f"the Snakemake before this one (process {hosts[me]}) was killed: its locks are removed", False
    files.write_json(record, {"hosts": (hosts if locked else {}) | {me: os.getpid()}})
    fcntl.flock(handle, fcntl.LOCK_SH)
    return note
