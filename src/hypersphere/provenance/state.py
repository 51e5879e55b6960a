"""Whether a run is finished: the one answer, for the plan's listing, training, markers, `verify` and `trace`."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.config.plan import MANIFEST, RESUME, UNFINISHED, Plan
from hypersphere.errors import HypersphereError


class State(StrEnum):
    """How far a run is."""

    MISSING = "missing"
    BEGUN = "begun"
    """It has a resume state and no result."""
    FINISHED = "finished"
    DIVERGED = "diverged"
    """It has a result too: its loss was not finite."""
    DAMAGED = "damaged"
    """Its result is not what its manifest says."""


class Found(NamedTuple):
    """What is in a run's folder."""

    state: State
    manifest: dict[str, Any]
    """Empty without a result."""
    problem: str
    """What is missing or damaged, with the file, in one sentence; empty with a result."""

    @property
    def done(self) -> bool:
        """Whether there is a result, and it is whole."""
        return self.state in (State.FINISHED, State.DIVERGED)


def look(folder: Path, largest: float = math.inf) -> Found:
    """What is in a run's folder, by its manifest and its files.

    Args:
        folder: of the run.
        largest: number of bytes up to which a file's checksum is computed; a larger file must only be there.
    """
    path = folder / MANIFEST
    if not path.is_file():
        begun = any(folder.glob(f"{UNFINISHED}*/{RESUME}"))
        return Found(State.BEGUN if begun else State.MISSING, {}, f"{path}: the file is missing")
    try:
        manifest = check_listed(path, largest)
        return Found(State(manifest["status"]), manifest, "")
    except (HypersphereError, KeyError, ValueError) as error:
        return Found(State.DAMAGED, {}, str(error))


def state(plan: Plan, run: str) -> State:
    """How far a run of the plan is, at a glance: by its manifest and the presence of its files."""
    return look(plan.run_folder(run), 0).state


def check_listed(path: Path, largest: float = math.inf) -> dict[str, Any]:
    """The content of a manifest, after a check of the files that it lists.

    Raises:
        HypersphereError: the manifest or a file is missing or altered.
    """
    manifest = files.read_sealed(path)
    for name, checksum in files.mapping(manifest.get("files")).items():
        file = path.parent / name
        large = file.is_file() and file.stat().st_size > largest
        if not large and (problem := files.problem(file, checksum)):
            raise HypersphereError(f"{file}: {problem}")
    return manifest
