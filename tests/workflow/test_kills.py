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

import pytest

from ..broken_off import contents
from .conftest import Checkout

LONG = ("epochs=80", "seeds=[0]", "runs_per_job=3")  # a job for each method
"""Long enough to be killed on the way: a run takes seconds."""
PATIENCE = 500.0


def said(place: Checkout) -> str:
    """What Snakemake, `at_work`, has said so far."""
    return place.root.with_name("snakemake.log").read_text()


def wait_for(
    place: Checkout, condition: Callable[[], object], process: subprocess.Popen[bytes] | None = None
) -> None:
    """Poll for PATIENCE seconds at most, and only while the process is at work."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, said(place)
        assert time.monotonic() < deadline, said(place)
        time.sleep(0.05)


def trainers(root: Path) -> list[int]:
    """Processes of ours that run `hypersphere pretrain` in that folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended while we looked, or is not ours
            command = (process / "cmdline").read_bytes().split(b"\0")
            if b"pretrain" in command and (process / "cwd").resolve() == root.resolve():
                found.append(int(process.name))
    return found


@contextmanager
def at_work(place: Checkout, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in its own process group; whatever is left of it is killed in the end."""
    command = [sys.executable, *arguments]
    with place.root.with_name("snakemake.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=place.root,
            env=place.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        for number in [*trainers(place.root), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait()


def begun(place: Checkout) -> set[Path]:
    """The runs at work: their folders of unfinished work are there, with the untrained encoder in each."""
    return {
        path.parents[2]
        for path in place.root.glob("results/*/runs/*/unfinished-*/snapshots/*.safetensors")
    }


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_living_snakemake_keeps_its_locks_and_after_a_kill_its_jobs_stop_and_the_next_one_goes_on(
    place: Checkout,
) -> None:
    jobs = place.jobs(settings=LONG)
    marker = next(
        job.output for job in jobs if job.rule == "pretrain" and "/simclr-upright" in job.output
    )
    locks = place.root / ".snakemake" / "locks"
    with at_work(place, "-m", "snakemake", "--cores", "1", marker, "--config", *LONG) as process:
        wait_for(place, lambda: begun(place), process)
        second = place.snakemake("--cores", "1", marker, status=1, settings=LONG)
        refusal = second.stdout + second.stderr
        assert f"at work here: process {process.pid} of " in refusal
        assert "Traceback" not in refusal
        assert any(locks.iterdir())
        assert len(trainers(place.root)) == 1
        # At the beginning of a run, so that it is not over, and the next not begun, when the orphan notices.
        earlier = begun(place)
        wait_for(place, lambda: begun(place) - earlier, process)
        process.kill()
        process.wait()
        # Its orphan notices, saves its state and stops.
        wait_for(place, lambda: not trainers(place.root))
    assert any(locks.iterdir())
    (state,) = place.root.glob("results/*/runs/*/unfinished-*/resume.safetensors")
    killed = state.parents[1]
    assert not (killed / "manifest.json").exists()

    done = place.snakemake("--cores", "1", marker, settings=LONG)
    assert "was killed: its locks are removed" in done.stdout + done.stderr
    starts = {path.parent: started_at(path) for path in killed.parent.glob("*/manifest.json")}
    assert len(starts) == 3  # SimCLR: default, cut, GradScale
    began, resumed = starts.pop(killed)
    assert began == 0 < resumed
    assert all(steps[0] == 0 for steps in starts.values())

    # The same bytes as where nobody was killed.
    result = contents(killed)
    shutil.rmtree(killed)
    place.hypersphere(
        "pretrain", killed.name, *(part for setting in LONG for part in ("--set", setting))
    )
    assert started_at(killed / "manifest.json") == [0]
    assert contents(killed) == result


def started_at(manifest: Path) -> list[int]:
    steps: list[int] = json.loads(manifest.read_text())["started_at_steps"]
    return steps
