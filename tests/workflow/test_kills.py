"""Snakemake itself killed with -9: its jobs stop by themselves, and the next Snakemake mends what was left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .conftest import Checkout

LONG = ("epochs=80", "seeds=[0]", "runs_per_job=3")  # a job for each method
"""Long enough to be killed on the way: a run takes seconds."""
PATIENCE = 300.0


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Poll, and fail after PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def trainers(root: Path) -> list[int]:
    """Processes of ours that run `hypersphere pretrain` in that folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes().split(b"\0")
                if b"pretrain" in command and (process / "cwd").resolve() == root.resolve():
                    found.append(int(process.name))
            except OSError:  # ended while we looked, or is not ours
                continue
    return found


@contextmanager
def at_work(place: Checkout, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Snakemake in its own process group; whatever is left of it is killed in the end."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *options, "--config", *LONG]
    process = subprocess.Popen(
        command,
        cwd=place.root,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for number in [*trainers(place.root), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def place(fresh: Checkout, tmp_path: Path) -> Checkout:
    """A checkout of its own in which nothing has run."""
    made = Checkout(tmp_path / "checkout", fresh.environment)
    shutil.copytree(fresh.root, made.root, ignore=shutil.ignore_patterns(".snakemake"))
    return made


def target(place: Checkout) -> str:
    """The marker of one batch of runs."""
    jobs = place.jobs(settings=LONG)
    return next(job.output for job in jobs if job.rule == "pretrain" and "/simclr-upright" in job.output)


def history_has_begun(place: Checkout) -> bool:
    """Whether a run is in training: its folder of unfinished work is there, with the untrained encoder in it."""
    return any(place.root.glob("results/*/runs/*/unfinished-*/snapshots/*.safetensors"))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_after_a_kill_of_snakemake_its_jobs_stop_and_the_next_one_goes_on(place: Checkout) -> None:
    marker = target(place)
    with at_work(place, marker) as process:
        wait_for(lambda: history_has_begun(place) or process.poll() is not None, "no run began")
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.5)  # some steps
        assert len(trainers(place.root)) == 1
        process.kill()
        process.wait()
        # Its orphan notices, saves its state and stops.
        wait_for(lambda: not trainers(place.root), "the orphan trains on")
    locks = place.root / ".snakemake" / "locks"
    assert any(locks.iterdir())
    (state,) = place.root.glob("results/*/runs/*/unfinished-*/resume.safetensors")
    name = state.parents[1].name
    assert not (state.parents[1] / "manifest.json").exists()

    done = place.snakemake("--cores", "1", marker, settings=LONG)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "was killed: its locks are removed" in said
    folder = state.parents[2]
    starts = {path.parent.name: read(path)["started_at_steps"] for path in folder.glob("*/manifest.json")}
    assert len(starts) == 3  # SimCLR: default, cut, GradScale
    began, resumed = starts.pop(name)
    assert began == 0 < resumed
    assert list(starts.values()) == [[0], [0]]

    # The same bytes as where nobody was killed.
    result = contents(folder / name)
    shutil.rmtree(folder / name)
    done = place.hypersphere("pretrain", name, *(part for setting in LONG for part in ("--set", setting)))
    assert done.returncode == 0, done.stderr
    assert read(folder / name / "manifest.json")["started_at_steps"] == [0]
    assert contents(folder / name) == result


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def contents(folder: Path) -> dict[str, bytes]:
    """Weights, snapshots and history."""
    return {path.name: path.read_bytes() for path in [*folder.rglob("*.safetensors"), folder / "history.csv"]}


@pytest.mark.long
def test_a_living_snakemake_keeps_its_locks(place: Checkout) -> None:
    """The control: what mends after a kill leaves a living Snakemake's locks alone, and says whose they are."""
    marker = target(place)
    with at_work(place, marker) as process:
        wait_for(lambda: history_has_begun(place) or process.poll() is not None, "no run began")
        assert process.poll() is None, process.communicate()[0]
        second = place.snakemake("--cores", "1", marker, settings=LONG)
        assert second.returncode != 0
        said = second.stdout + second.stderr
        assert f"another Snakemake is at work here: process {process.pid} of " in said
        assert "Directory cannot be locked" in said  # Snakemake's own words
        assert "Traceback" not in said
        assert any((place.root / ".snakemake" / "locks").iterdir())
        assert process.poll() is None
        assert place.jobs(settings=LONG)  # to look at the plan is allowed
