"""A lock for each run, so that one process at a time trains it or removes files of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from hypersphere import files
from hypersphere.errors import HypersphereError

LOCK_SECONDS = 60.0
"""How long to wait for another process that holds the run: an orphan needs time to save its state and stop."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of the run in ``folder``, which is created if it does not exist."""
    lock = FileLock(folder / ".lock")
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=LOCK_SECONDS)
        except Timeout:
            raise HypersphereError(f"{folder}: another process is training this run; wait for it or stop it") from None
    try:
        yield
    finally:
        lock.release()
