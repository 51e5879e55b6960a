"""Whether a run is finished: one answer for each thing that can lie in its folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.provenance import state
from hypersphere.provenance.state import State


def finish(folder: Path, status: str = "finished") -> None:
    files.write_text(folder / "snapshots" / "a", "weights")
    files.write_text(folder / "history.csv", "h")
    listed = {name: files.sha256(folder / name) for name in ("snapshots/a", "history.csv")}
    files.write_sealed(folder / "manifest.json", {"status": status, "files": listed})


def begin(folder: Path) -> None:
    files.write_text(folder / "unfinished-0a" / "resume.safetensors", "state")


def lose(folder: Path) -> None:
    finish(folder)
    (folder / "history.csv").unlink()


def alter(folder: Path) -> None:
    finish(folder)
    files.write_text(folder / "snapshots" / "a", "weightz")


def unseal(folder: Path) -> None:
    finish(folder)
    text = (folder / "manifest.json").read_text()
    files.write_text(folder / "manifest.json", text.replace("finished", "diverged"))


def begin_anew(folder: Path) -> None:
    finish(folder)
    begin(folder)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda folder: None, State.MISSING),
        (lambda folder: (folder / "unfinished-0a").mkdir(parents=True), State.MISSING),
        (begin, State.BEGUN),
        (finish, State.FINISHED),
        (begin_anew, State.FINISHED),
        (lambda folder: finish(folder, "diverged"), State.DIVERGED),
        (lambda folder: finish(folder, "unheard of"), State.DAMAGED),
        (lose, State.DAMAGED),
        (alter, State.DAMAGED),
        (unseal, State.DAMAGED),
    ],
)
def test_states(tmp_path: Path, make: Callable[[Path], object], expected: State) -> None:
    folder = tmp_path / "run"
    make(folder)
    found = state.look(folder)
    assert found.state is expected
    assert found.done == (expected in (State.FINISHED, State.DIVERGED)) == bool(found.manifest) == (not found.problem)


def test_bytes_of_larger_files_are_left_to_a_closer_look(tmp_path: Path) -> None:
    alter(tmp_path)
    assert state.look(tmp_path, 6).done
    assert not state.look(tmp_path, 7).done
    (tmp_path / "snapshots" / "a").unlink()  # that it is there is seen at every look
    assert not state.look(tmp_path, 0).done
