"""Stopping: on a signal between two steps, and when the Snakemake that started us is gone. Real processes."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hypersphere.provenance import stop


@pytest.fixture(autouse=True)
def in_the_foreground() -> Iterator[None]:
    """Tests may themselves run in the background, where a shell has SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_signal_is_noted_a_second_one_acts_and_handlers_are_as_before() -> None:
    before = [signal.getsignal(number) for number in stop.SIGNALS]
    with pytest.raises(KeyboardInterrupt), stop.on_request() as request:  # noqa: PT012
        assert (request.number, request.name) == (None, "")
        signal.raise_signal(signal.SIGINT)
        assert (request.number, request.name) == (signal.SIGINT, "SIGINT")
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # the control: outside the block one signal acts
        signal.raise_signal(signal.SIGINT)
    with stop.on_request():
        assert [signal.getsignal(number) for number in stop.SIGNALS] != before
    assert [signal.getsignal(number) for number in stop.SIGNALS] == before
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is ignored stays ignored
    with stop.on_request() as request:
        signal.raise_signal(signal.SIGINT)
    assert request.number is None


WRITER = """
import sys, time
from pathlib import Path
from hypersphere import files
from hypersphere.provenance import stop
stop.EVERY = 0.05
if sys.argv[2] == "in order":
    stop.exit_in_order()
with files.replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half of it")
    print("writing", flush=True)
    time.sleep(600)
"""


def start(path: Path, how: str, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), how]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | variables
    )
    assert process.stdout.readline() == "writing\n"
    return process


def test_sigterm_leaves_nothing_half_written(tmp_path: Path) -> None:
    """The control lacks the handler: its half-written file stays, which shows that the test can tell."""
    found = {}
    for how in ("in order", "control"):
        process = start(tmp_path / how / "a", how)
        process.terminate()
        found[how] = process.wait(timeout=60), [path.suffix for path in (tmp_path / how).iterdir()]
    assert found == {
        "in order": (128 + signal.SIGTERM, []),
        "control": (-signal.SIGTERM, [".part"]),
    }


def test_a_job_stops_when_its_snakemake_is_killed(tmp_path: Path) -> None:
    """The control: a process of that number on another machine is no parent."""
    with ExitStack() as at_the_end:
        parent = subprocess.Popen(["sleep", "600"])
        at_the_end.callback(parent.kill)
        started = []
        for host in (platform.node(), "another-host"):
            started.append(
                start(tmp_path / host / "a", "in order", **{stop.PARENT: f"{host}:{parent.pid}"})
            )
            at_the_end.callback(started[-1].kill)
        job, control = started
        assert job.poll() is None
        parent.kill()
        parent.wait()
        assert "the Snakemake that started this job is gone" in job.stdout.readline()
        assert job.wait(timeout=60) == 128 + signal.SIGTERM
        assert list((tmp_path / platform.node()).iterdir()) == []
        time.sleep(1)  # twenty looks
        assert control.poll() is None


def test_a_process_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stop.PARENT, "")  # not deleted: what is absent would not be put back
    stop.name_parent()
    assert os.environ[stop.PARENT] == f"{platform.node()}:{os.getpid()}"
