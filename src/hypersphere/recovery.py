"""What a lost file or a killed Snakemake leaves behind, mended by the next Snakemake before it plans its jobs.

Run folders and prepared arrays are not declared to Snakemake, which deletes what it is told of, before a job and after
a killed one. So it is told of a marker; here a marker whose files are no longer there is removed.
"""

import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.plan import MANIFEST, Plan

_held: list[FileLock] = []
"""Locks are released when their object goes; these live as long as the process."""


def forget_what_is_lost(plan: Plan) -> None:
    """Remove the marker of each batch that lacks a file of one of its runs, and of each dataset that lacks an array.

    Only presence and, for arrays, size are looked at; bytes are checked when they are used and by `hypersphere verify`.

    Raises:
        HypersphereError: a marker cannot be removed.
    """
    for batch in plan.batches:
        marker = plan.marker(batch)
        if marker.exists() and not all(_run_is_there(plan, run.name, _content(marker)) for run in batch.runs):
            _forget(marker)
    for dataset in plan.datasets.values():
        manifest = plan.data_folder(dataset) / MANIFEST
        if manifest.exists() and not _arrays_are_there(manifest):
            _forget(manifest)


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


def take_over(folder: Path) -> str | None:
    """Become the one Snakemake of ``folder``, and tidy up after one that was killed; what was done, in words.

    Snakemake's own locks are files that outlive a killed process. Beside them we hold a lock that the system releases
    when a process ends: whoever gets it knows that the former holder, on the same machine, is gone. Where that cannot
    be told (another machine, a file system without locks) Snakemake's own locks are left alone.

    Raises:
        HypersphereError: another Snakemake is at work here.
    """
    place = folder / ".snakemake"
    owner, stale = place / "hypersphere.json", place / "locks"
    lock = FileLock(place / "hypersphere.lock", timeout=0)
    try:
        place.mkdir(exist_ok=True)
        lock.acquire()
    except Timeout:
        raise HypersphereError(f"{folder}: another Snakemake ({_who(owner)}) is at work here; wait for it") from None
    except (OSError, NotImplementedError):
        return None
    _held.append(lock)
    before = _content(owner)
    files.write_json(owner, {"host": platform.node(), "process": os.getpid()})
    if before.get("host") == platform.node() and stale.is_dir() and any(stale.iterdir()):
        shutil.rmtree(stale)
        for left in folder.glob(f"results/*/**/.*{files.PART}"):
            if "runs" not in left.parts:  # a run sweeps its own folder, under its lock
                left.unlink(missing_ok=True)
        return f"the Snakemake before this one (process {before.get('process')}) was killed: its locks are removed"
    return None


def _who(owner: Path) -> str:
    about = _content(owner)
    return f"process {about.get('process', '?')} on {about.get('host', '?')}"
