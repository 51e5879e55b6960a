"""What a manifest names is checked, a damaged run or evaluation is made again, and one process holds a run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import DamagedError
from hypersphere.provenance import state
from hypersphere.provenance.manifest import check_evaluation, check_files, check_run
from hypersphere.provenance.state import State

from ...fixtures import Names, Refused
from ...harm import HARMS
from .test_markers import sealed

OF_A_RUN = ("encoder.safetensors", "history.csv", "snapshots/epoch-0000.safetensors")


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", OF_A_RUN)
def test_any_damage_is_one_sentence_with_the_remedy(
    tiny_plan: Plan, names: Names, name: str, harm: str
) -> None:
    folder = tiny_plan.run_folder(tiny_plan.batches[1].runs[0].name)
    sealed(folder / "manifest.json", OF_A_RUN, status="finished")
    whole = check_files(folder / "manifest.json")  # the control
    assert whole["status"] == "finished"
    HARMS[harm](folder / name)
    with pytest.raises(DamagedError) as caught:
        check_run(tiny_plan, folder.name)
    names(caught.value, folder / name)
    assert caught.value.proofs == (tiny_plan.marker(tiny_plan.batches[1]),)
    others = {"encoder.safetensors", "history.csv"} - {name}
    assert check_run(tiny_plan, folder.name, *others) == whole  # only what is asked for is read


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_damaged_evaluation_is_made_again(
    tmp_path: Path, names: Names, suffix: str, harm: str
) -> None:
    path = tmp_path / "simclr-x.csv"
    sealed(path.with_suffix(".json"), [path.name])
    assert check_evaluation(path)["files"].keys() == {"simclr-x.csv"}
    HARMS[harm](path.with_suffix(suffix))
    with pytest.raises(DamagedError) as caught:
        check_evaluation(path)
    names(caught.value, path.with_suffix(suffix))
    caught.value.disprove()
    # a declared output: Snakemake makes again what it finds missing
    assert not path.with_suffix(".json").exists()


def finish(folder: Path, status: str = "finished") -> None:
    sealed(folder / "manifest.json", ("snapshots/a", "history.csv"), status=status)


def begin(folder: Path) -> None:
    files.write_text(folder / "unfinished-0a" / "resume.safetensors", "state")


OTHER = "content of snapshots/b"  # as long as that of a


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
        (lambda folder: spoil(folder, "snapshots/a", OTHER), State.DAMAGED),
        (
            lambda folder: spoil(folder, "manifest.json", '{"status": "finished", "files": {}}'),
            State.DAMAGED,
        ),
    ],
)
def test_a_runs_folder_says_how_far_the_run_is(
    tmp_path: Path, make: Callable[[Path], object], expected: State
) -> None:
    folder = tmp_path / "run"
    make(folder)
    found = state.look(folder)
    assert found.state is expected
    assert (
        found.done
        == (expected in (State.FINISHED, State.DIVERGED))
        == bool(found.manifest)
        == (not found.problem)
    )


def test_a_folder_is_held_by_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.1)
    folder = tmp_path / "runs" / "a"  # made where it is not there
    with state.hold(folder):
        with refused("runs/a"), state.hold(folder):
            pytest.fail("held twice")
        with state.hold(tmp_path / "runs" / "b"):  # the control
            pass
    with pytest.raises(RuntimeError), state.hold(folder):  # as above, what fails gives it back
        raise RuntimeError
    with state.hold(folder):
        pass
    (tmp_path / "file").touch()
    with refused("file/a"), state.hold(tmp_path / "file" / "a"):
        pytest.fail("held")


def test_bytes_of_larger_files_are_left_to_a_closer_look(tmp_path: Path) -> None:
    spoil(tmp_path, "snapshots/a", OTHER)
    assert state.look(tmp_path, len(OTHER) - 1).done
    assert not state.look(tmp_path, len(OTHER)).done
    (tmp_path / "snapshots" / "a").unlink()  # that it is there is seen at every look
    assert not state.look(tmp_path, 0).done
