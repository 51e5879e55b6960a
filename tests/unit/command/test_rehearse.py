"""One step of every distinct run: what it finds before anything is rented."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hypersphere.command import rehearse
from hypersphere.config import plan as planning
from hypersphere.config.run import Run

from ...fixtures import Refused

ROOT = Path(__file__).parents[3]
ONLY = {"scale": "quick", "only": ["margins/table4"]}


@pytest.fixture(scope="module")
def run() -> Run:
    plan = planning.make(ROOT, ONLY)
    return next(iter(plan.runs_of("margins", "table4").values()))


def test_groups_with_batch_statistics_of_their_own_have_images_enough(run: Run) -> None:
    grouped = {**run.model_dump(), "logits": None, "objective": {"name": "momentum_contrast", "temperature": 0.2}}
    grouped["method"] = {"name": "mocov2", "hidden": 32, "dim": 8, "queue": 64, "groups": 4, "batch_norm": True}
    assert rehearse.step(Run.model_validate(grouped), 24, 16) == ""


def test_a_run_that_would_fail_is_named_with_its_reason_and_ends_the_command_with_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """Runs that differ in their seed alone take one step together."""
    too_small = rehearse.step(run, 8, 16)
    assert "blur_kernel" in too_small  # a window of 23 pixels does not fit
    monkeypatch.setattr(rehearse, "step", lambda *_: too_small)
    monkeypatch.setattr(rehearse, "ProcessPoolExecutor", lambda **_: ThreadPoolExecutor(1))
    said: list[str] = []
    with refused():
        said.extend(rehearse.lines(planning.make(ROOT, ONLY | {"seeds": [0, 1]})))  # what came before the error stays
    assert sum("blur_kernel" in line and "-s0-" in line and "and 1 run like it" in line for line in said) == 3
    assert said[-1] == "rehearsed  6 runs by 3 steps"
