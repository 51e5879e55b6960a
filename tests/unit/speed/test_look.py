"""A look at a device: what it writes, when it ends, and what a trial costs that fails."""

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from hypersphere.datasets.training_sizes import stated
from hypersphere.errors import HypersphereError
from hypersphere.speed import look, rate, rates, repeats
from hypersphere.speed.look import Device, Look, Worker
from hypersphere.speed.rate import Rate
from hypersphere.speed.repeats import Repeats
from hypersphere.speed.stopwatch import PARTS
from hypersphere.speed.trial import Trial

from ...golden.released import released

CPU = Device(torch.device("cpu"), "Some Processor", "float32", threads=1)
FOUND = Rate(
    steps=10,
    milliseconds=50.0,
    shares=dict.fromkeys(PARTS, 1 / 6),
    images_a_second=5120.0,
    flops=10**12,
    peak_bytes=None,
    predicted_bytes=2 * 10**9,
    idle=None,
)


class AtOnce:
    """Stands for the worker: it answers at once, and fails at the runs that it is told to."""

    def __init__(self, threads: int) -> None:
        self.ended = False

    def do(self, seconds: float, function: object, *arguments: object) -> object:
        trial = arguments[0]
        assert isinstance(trial, Trial)
        if trial.run.method.name in FAILING:
            raise HypersphereError("the device has not enough memory for a step")
        if function is rate.of:
            return FOUND
        if function is repeats.of:
            return Repeats(equal=True, resumed=False)
        return 1.25

    def end(self) -> None:
        self.ended = True


FAILING: set[str] = set()


def trials_of_quick() -> list[Trial]:
    found = []
    for run in list(released("quick").runs_of("margins", "table4").values())[:4]:
        size = stated(run.dataset)
        assert size is not None
        found.append(Trial(run, size, steps=2))
    return found


@pytest.fixture
def trials() -> list[Trial]:
    return trials_of_quick()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "Worker", AtOnce)
    FAILING.clear()


def rows(root: Path, ending: str = ".csv") -> list[dict[str, str]]:
    with rates.file_of(root, CPU.name, ending).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.usefixtures("at_once")
def test_tables_and_page_have_what_was_measured(tmp_path: Path, trials: list[Trial]) -> None:
    said = list(Look(tmp_path, CPU, trials, minutes=1).lines())
    assert said[-2] == f"looked at {len(trials)} of {len(trials)} kinds of runs, most hours first"
    first, *others = rows(tmp_path)
    assert first["tflops"] == "20"  # 10^12 operations in 50 ms
    assert (first["equal"], first["resumed"]) == ("yes", "no")
    assert first["predicted_gb"] == "2"
    assert [row["run"] for row in others] == [trial.run.name for trial in trials[1:]]
    assert {row["times"] for row in rows(tmp_path, "-ways.csv")} == {"1.25"}
    page = rates.file_of(tmp_path, CPU.name, ".md").read_text(encoding="utf-8")
    assert all(trial.run.name in page for trial in trials)
    assert rates.measured(tmp_path, "cpu")[CPU.name] == {first["network"]: 20.0}


@pytest.mark.usefixtures("at_once")
def test_a_trial_that_fails_costs_its_own_row(tmp_path: Path, trials: list[Trial]) -> None:
    FAILING.add(trials[0].run.method.name)
    other = trials[0]._replace(
        run=trials[0].run.model_copy(update={"method": trials[0].run.encoder})
    )
    list(Look(tmp_path, CPU, [trials[0], other], minutes=1).lines())
    failed, measured = rows(tmp_path)
    assert failed["note"] == "the device has not enough memory for a step"
    assert failed["milliseconds"] == ""
    assert (measured["note"], measured["tflops"]) == ("", "20")


@pytest.mark.usefixtures("at_once")
def test_without_time_nothing_is_begun_and_the_files_say_so(
    tmp_path: Path, trials: list[Trial]
) -> None:
    said = list(Look(tmp_path, CPU, trials, minutes=0).lines())
    assert said[0] == f"looked at 0 of {len(trials)} kinds of runs, most hours first"
    assert rows(tmp_path) == []


def sleep(seconds: float) -> str:
    time.sleep(seconds)
    return "awake"


def die() -> None:
    os._exit(9)


def refuse() -> None:
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")


@pytest.mark.heavy
def test_a_worker_survives_what_is_slow_dies_or_fails() -> None:
    worker = Worker(threads=1)
    try:
        assert worker.do(60, sleep, 0.0) == "awake"
        for seconds, function, arguments, problem in (
            (0.5, sleep, (60.0,), "not finished in 0 s"),
            (60, die, (), "died"),
            (60, refuse, (), "not enough memory"),
        ):
            with pytest.raises(HypersphereError, match=problem):
                worker.do(seconds, function, *arguments)
        assert worker.do(60, sleep, 0.0) == "awake"
    finally:
        worker.end()


KILLED = """
import os, sys
from pathlib import Path
from tests.unit.speed import test_look as stand_ins
from hypersphere.speed import look

class Killing(stand_ins.AtOnce):
    left = 3  # a rate, its bytes, and one comparison

    def do(self, *asked):
        if self.left == 0:
            os.kill(os.getpid(), 9)
        self.left -= 1
        return super().do(*asked)

look.Worker = Killing
trials = stand_ins.trials_of_quick()
list(look.Look(Path(sys.argv[1]), stand_ins.CPU, trials, minutes=1).lines())
"""


@pytest.mark.heavy
def test_a_look_that_is_killed_leaves_whole_files_of_what_it_saw(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == -9, ended.stderr
    (row,) = rows(tmp_path)
    assert (row["tflops"], row["equal"]) == ("20", "yes")
    assert [row["times"] for row in rows(tmp_path, "-ways.csv")] == ["1.25"]
    assert rates.measured(tmp_path, "cpu")[CPU.name] == {row["network"]: 20.0}
