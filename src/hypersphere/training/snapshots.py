"""Encoders and heads kept at chosen epochs, beside the run: which the plan asks for, which a run has, how one goes.

Nothing but ``remove`` loses one. Which epochs are kept is no part of a run, so that another choice renames nothing;
and a run that is trained again, for whatever reason, makes those that it had once more.
"""

import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.declared.plan import MANIFEST, Plan
from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.integrity import lock
from hypersphere.integrity.manifest import read_manifest
from hypersphere.training.checkpoint import snapshot_names

_NAME = re.compile(r"snapshots/epoch-(\d+)(?:\.heads)?\.safetensors")


class Kept(NamedTuple):
    """A snapshot of a finished run."""

    run: str
    epoch: int
    megabytes: float | None
    """Of its two files together; None if one is gone."""
    note: str
    """Whether the plan asks for it, in words."""


def without_unasked(plan: Plan, run: Run, listed: dict[str, str]) -> dict[str, str]:
    """Of the files that a run's manifest lists, all but the snapshots that the plan does not ask for.

    What says that it was made from a run names these, and so stays true when one of the others is removed.
    """
    asked = plan.kept_epochs(run)
    return {name: sha256 for name, sha256 in listed.items() if _epoch(name) is None or _epoch(name) in asked}


def had(folder: Path) -> set[int]:
    """The epochs of the snapshots that the result in ``folder`` has: by its manifest, or without one by their names."""
    try:
        return _epochs(read_manifest(folder)["files"])
    except HypersphereError:
        return _lying(folder)


def remove_stale(folder: Path, listed: Collection[str]) -> None:
    """Remove the snapshots in ``folder`` that a result which lists these files does not have."""
    for epoch in _lying(folder) - _epochs(listed):
        for name in snapshot_names(epoch):
            (folder / name).unlink(missing_ok=True)


def listing(plan: Plan, names: Sequence[str]) -> list[Kept]:
    """Every snapshot of the finished ones among these runs of the plan.

    Raises:
        HypersphereError: no such run at this scale, or a manifest is damaged.
    """
    runs = [plan.run(name) for name in names]
    return [kept for run in runs if (plan.run_folder(run.name) / MANIFEST).exists() for kept in _of(plan, run)]


def table(plan: Plan, names: Sequence[str]) -> list[str]:
    """``listing`` in lines, for people; sizes in megabytes (10^6 bytes)."""
    found = listing(plan, names)
    if not found:
        return ["no finished run has a snapshot"]
    width = max(len(kept.run) for kept in found)
    lines = [f"{'run':<{width}}  epoch        MB  by the plan"]
    for kept in found:
        size = "missing" if kept.megabytes is None else f"{kept.megabytes:.3f}"
        lines.append(f"{kept.run:<{width}}  {kept.epoch:>5}  {size:>8}  {kept.note}")
    return lines


def remove(plan: Plan, names: Sequence[str], epochs: Sequence[int]) -> list[Kept]:
    """Remove the snapshots of ``epochs`` of each of these runs, and return what they were. All of it is removed, or,
    if any of it must not be, nothing.

    Raises:
        HypersphereError: a run is not finished, or has no snapshot of an epoch; the plan asks for it; another process
            is at work on the run.
    """
    runs = [plan.run(name) for name in dict.fromkeys(names)]
    for run in runs:
        read_manifest(plan.run_folder(run.name))  # before anything is made in its folder
    with ExitStack() as locks:
        for name in sorted({*names}):  # in one order everywhere, so that no two of us wait for each other
            locks.enter_context(lock.held(plan.run_folder(name)))
        chosen = [_choose(plan, run, epoch) for run in runs for epoch in sorted({*epochs})]
        for run in runs:
            _remove(plan.run_folder(run.name), {name for epoch in epochs for name in snapshot_names(epoch)})
    return chosen


def _remove(folder: Path, names: set[str]) -> None:
    """The manifest first: killed in between, files lie there that it does not list, which harm nobody."""
    manifest: dict[str, Any] = read_manifest(folder)
    manifest["files"] = {name: sha256 for name, sha256 in manifest["files"].items() if name not in names}
    files.write_sealed(folder / MANIFEST, manifest)
    for name in names:
        with files.writing(folder / name):
            (folder / name).unlink(missing_ok=True)


def _choose(plan: Plan, run: Run, epoch: int) -> Kept:
    kept = {one.epoch: one for one in _of(plan, run)}
    if epoch not in kept:
        there = f"there are those of {', '.join(map(str, kept))}" if kept else "it has none"
        raise HypersphereError(f"{run.name}: no snapshot of epoch {epoch}; {there}")
    if epoch in plan.kept_epochs(run):
        raise HypersphereError(f"{run.name}: the snapshot of epoch {epoch} is asked for by the plan")
    return kept[epoch]


def _of(plan: Plan, run: Run) -> list[Kept]:
    folder, asked = plan.run_folder(run.name), plan.kept_epochs(run)
    listed = _epochs(read_manifest(folder)["files"])
    return [
        Kept(run.name, epoch, _megabytes(folder, epoch), _note(epoch in asked, epoch in listed))
        for epoch in sorted(listed | _lying(folder))
    ]


def _note(asked: bool, listed: bool) -> str:
    if not listed:
        return "left by a removal that was broken off"
    return "asked for" if asked else "no longer asked for"


def _epoch(name: str) -> int | None:
    """Of which epoch a run's file of this name is a snapshot; None if it is none."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def _epochs(names: Collection[str]) -> set[int]:
    return {epoch for name in names if (epoch := _epoch(name)) is not None}


def _lying(folder: Path) -> set[int]:
    return _epochs([path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")])


def _megabytes(folder: Path, epoch: int) -> float | None:
    paths = [folder / name for name in snapshot_names(epoch)]
    return sum(path.stat().st_size for path in paths) / 1e6 if all(path.is_file() for path in paths) else None
