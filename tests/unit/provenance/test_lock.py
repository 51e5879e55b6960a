"""A run's folder is held by one at a time, and given back whatever happens."""

from pathlib import Path

import pytest
from filelock import FileLock

from hypersphere.errors import HypersphereError
from hypersphere.provenance import lock


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LOCK_SECONDS", 0.1)
    folder = tmp_path / "runs" / "a"  # made where it is not there
    with lock.held(folder):
        with (
            pytest.raises(HypersphereError, match=f"^{folder}: another process is training this run; wait for it"),
            lock.held(folder),
        ):
            pytest.fail("held twice")
        with lock.held(tmp_path / "runs" / "b"):  # the control
            pass
    with lock.held(folder):
        pass


def test_what_fails_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not when the lock is forgotten: here it is remembered."""
    locks: list[FileLock] = []

    def locked(path: Path) -> FileLock:
        locks.append(FileLock(path))
        return locks[-1]

    monkeypatch.setattr(lock, "FileLock", locked)
    with pytest.raises(RuntimeError, match="ours"), lock.held(tmp_path):
        raise RuntimeError("ours" if locks[0].is_locked else "not held")
    assert not locks[0].is_locked


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(HypersphereError, match=r"runs/a: cannot be written \("), lock.held(tmp_path / "runs" / "a"):
        pytest.fail("held")
