"""The state of a run's folder: whether the run is finished, and which process holds the folder.

file_names.py has the names of its files.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST, RESUME, UNFINISHED
from hypersphere.provenance.manifest import check_files

LOCK_SECONDS = 60.0
"""How long to wait for another process that holds the run: an orphan needs time to save its state and stop."""


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
    """What a run's folder holds, by its manifest and files. A file of more than ``largest`` bytes need only exist."""
    path = folder / MANIFEST
    if not path.is_file():
        begun = any(folder.glob(f"{UNFINISHED}*/{RESUME}"))
        return Found(State.BEGUN if begun else State.MISSING, {}, f"{path}: the file is missing")
    try:
        manifest = check_files(path, largest=largest, remedy="")
        return Found(State(manifest["status"]), manifest, "")
    except (HypersphereError, KeyError, ValueError) as error:
        return Found(State.DAMAGED, {}, str(error))


@contextmanager
def hold(folder: Path, patient: bool = False) -> Iterator[None]:
    """Hold the lock of ``folder``, which is created if it does not exist; ``patient``: however long another holds it.

    One process at a time trains a run, removes files of it, or measures raw pixels.
    """
    lock = FileLock(folder / ".lock")
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            held = lock.acquire(timeout=-1 if patient else LOCK_SECONDS)
        except Timeout:
            raise HypersphereError(
                f"{folder}: another process is training this run; wait for it or stop it"
            ) from None
    with held:
        yield
