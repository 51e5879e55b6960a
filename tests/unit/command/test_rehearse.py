"""One step of every distinct run: what it finds before anything is rented."""

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere.command import rehearse
from hypersphere.config import plan as planning
from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import Size
from hypersphere.speed import trial

from ...fixtures import Refused
from ...golden.released import released

ROOT = Path(__file__).parents[3]
ONLY = {"scale": "quick", "only": ["margins/table4"]}
DIGITS = Size(side=24, classes=16, train=1)


@pytest.fixture(scope="module")
def run() -> Run:
    return next(iter(released("quick").runs_of("margins", "table4").values()))


def test_groups_with_batch_statistics_of_their_own_have_images_enough(run: Run) -> None:
    grouped = {
        **run.model_dump(),
        "logits": None,
        "objective": {"name": "momentum_contrast", "temperature": 0.2},
    }
    grouped["method"] = {
        "name": "mocov2",
        "hidden": 32,
        "dim": 8,
        "queue": 64,
        "groups": 4,
        "batch_norm": True,
    }
    assert rehearse.step(Run.model_validate(grouped), DIGITS) == ""


def test_a_run_that_would_fail_is_named_with_its_reason_and_ends_the_command_with_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """Runs that differ in their seed alone take one step together."""
    too_small = rehearse.step(run, DIGITS._replace(side=8))
    assert "blur_kernel" in too_small  # a window of 23 pixels does not fit
    monkeypatch.setattr(rehearse, "step", lambda *_: too_small)
    monkeypatch.setattr(rehearse, "ProcessPoolExecutor", lambda **_: ThreadPoolExecutor(1))
    said: list[str] = []
    with refused("rehearse"):
        # what came before the error stays
        said.extend(rehearse.lines(planning.make(ROOT, ONLY | {"seeds": [0, 1]})))
    assert (
        sum(
            "blur_kernel" in line and "-s0-" in line and "and 1 run like it" in line
            for line in said
        )
        == 3
    )
    assert said[-1] == "rehearsed  6 runs by 3 steps"


@pytest.mark.parametrize("full", [True, False])
def test_a_folder_for_temporary_files_that_cannot_be_used_is_no_fault_of_a_run(
    full: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if full else tmp_path / "gone"))
    monkeypatch.setattr(
        trial.loop, "train", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    )
    with refused("TMPDIR", "FOLDER" if full else "gone"):
        rehearse.step(run, DIGITS)
