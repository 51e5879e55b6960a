"""A run's folder: one answer for each thing that can lie in it, and one holder at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from hypersphere import files
from hypersphere.provenance import state
from hypersphere.provenance.state import State

from ...fixtures import Refused


def finish(folder: Path, status: str = "finished") -> None:
    files.write_text(folder / "snapshots" / "a", "weights")
    files.write_text(folder / "history.csv", "h")
    listed = {name: files.sha256(folder / name) for name in ("snapshots/a", "history.csv")}
    files.write_sealed(folder / "manifest.json", {"status": status, "files": listed})


def begin(folder: Path) -> None:
    files.write_text(folder / "unfinished-0a" / "resume.safetensors", "state")


def spoil(folder: Path, name: str, text: str | None) -> None:
    finish(folder)
    (folder / name).unlink()
    if text is not None:
        files.write_text(folder / name, text)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda folder: None, State.MISSING),
        (lambda folder: (folder / "unfinished-0a").mkdir(parents=True), State.MISSING),
        (begin, State.BEGUN),
        (finish, State.FINISHED),
        (lambda folder: (finish(folder), begin(folder)), State.FINISHED),
        (lambda folder: finish(folder, "diverged"), State.DIVERGED),
        (lambda folder: finish(folder, "unheard of"), State.DAMAGED),
        (lambda folder: spoil(folder, "history.csv", None), State.DAMAGED),
        (lambda folder: spoil(folder, "snapshots/a", "weightz"), State.DAMAGED),
        (lambda folder: spoil(folder, "manifest.json", '{"status": "finished", "files": {}}'), State.DAMAGED),
    ],
)
def test_states(tmp_path: Path, make: Callable[[Path], object], expected: State) -> None:
    folder = tmp_path / "run"
    make(folder)
    found = state.look(folder)
    assert found.state is expected
    assert found.done == (expected in (State.FINISHED, State.DIVERGED)) == bool(found.manifest) == (not found.problem)


def test_bytes_of_larger_files_are_left_to_a_closer_look(tmp_path: Path) -> None:
    spoil(tmp_path, "snapshots/a", "weightz")
    assert state.look(tmp_path, 6).done
    assert not state.look(tmp_path, 7).done
    (tmp_path / "snapshots" / "a").unlink()  # that it is there is seen at every look
    assert not state.look(tmp_path, 0).done


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.1)
    folder = tmp_path / "runs" / "a"  # made where it is not there
    with state.held(folder):
        with refused(), state.held(folder):
            pytest.fail("held twice")
        with state.held(tmp_path / "runs" / "b"):  # the control
            pass
    with state.held(folder):
        pass
    (tmp_path / "file").touch()
    with refused(), state.held(tmp_path / "file" / "a"):
        pytest.fail("held")


def test_what_fails_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not when the lock is forgotten: here it is remembered."""
    locks: list[FileLock] = []

    def locked(path: Path) -> FileLock:
        locks.append(FileLock(path))
        return locks[-1]

    monkeypatch.setattr(state, "FileLock", locked)
    with pytest.raises(RuntimeError, match="ours"), state.held(tmp_path):
        raise RuntimeError("ours" if locks[0].is_locked else "not held")
    assert not locks[0].is_locked
