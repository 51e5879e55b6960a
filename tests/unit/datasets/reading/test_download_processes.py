"""A download survives kills, rivals, full disks and read-only folders: real processes, server and (small) disk.

Expected bytes are those the server was given; what was asked for and sent is read off the server's own log.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.reading.download import partial_file

PATIENCE = 120  # seconds that a test waits for what must come
CONTENT = np.random.default_rng(0).bytes(300_000)
MD5 = hashlib.md5(CONTENT).hexdigest()
PORTION = 70_000  # bytes that an interrupted answer brings

PROGRAM = """
import sys
from pathlib import Path
from hypersphere.datasets.reading import download
from hypersphere.errors import HypersphereError
if "without lock" in sys.argv:
    from contextlib import nullcontext
    download.FileLock = nullcontext
print("ready", flush=True)
try:
    download.fetch(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
except HypersphereError as error:
    sys.exit(f"sentence: {error}")
"""


@pytest.fixture
def served(server: Any) -> Any:
    """The server, offering CONTENT."""
    server.archive = CONTENT
    return server


def start(url: str, target: Path, *options: str) -> subprocess.Popen[str]:
    """``fetch`` in a process of its own, which says "ready" when it has imported all."""
    command = [sys.executable, "-c", PROGRAM, url, str(target), MD5, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(happened: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("ranges", [True, False])
def test_kill_9_in_the_middle_loses_nothing(served: Any, target: Path, ranges: bool) -> None:
    """Control: without ranges the second process is sent the first's bytes again."""
    served.habits.first, served.habits.portion, served.habits.ranges = ["stalled"], PORTION, ranges
    partial = partial_file(target)
    killed = start(served.url, target)
    try:
        until(lambda: partial.is_file() and partial.stat().st_size == PORTION)
    finally:
        killed.kill()
        killed.communicate()
    assert killed.returncode == -9
    assert partial.read_bytes() == CONTENT[:PORTION]
    assert not target.exists()
    again = start(served.url, target)
    try:
        _, errors = again.communicate(timeout=PATIENCE)
    finally:
        again.kill()
    assert again.returncode == 0, errors
    assert target.read_bytes() == CONTENT
    assert not partial_file(target).exists()
    assert served.ranges_asked == [None, f"bytes={PORTION}-"]
    assert served.sent == len(CONTENT) + (0 if ranges else PORTION)


@pytest.mark.parametrize("lock", [True, False])
def test_two_processes_that_want_the_same_file_fetch_it_once(served: Any, target: Path, lock: bool) -> None:
    """Control: without the lock the server is asked twice."""
    options = () if lock else ("without lock",)
    served.habits.released.clear()
    processes = [start(served.url, target, *options), start(served.url, target, *options)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        until(lambda: len(served.log) >= (1 if lock else 2))
        time.sleep(0.3)  # for the second to reach the lock; if it is slower, it finds the file and asks for nothing
        served.habits.released.set()
        answers = [process.communicate(timeout=PATIENCE) for process in processes]
    finally:
        for process in processes:
            process.kill()
    if lock:
        assert len(served.log) == 1
        assert [process.returncode for process in processes] == [0, 0], answers
        assert target.read_bytes() == CONTENT
        assert not partial_file(target).exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Callable[[str], str]:
    """Runs a shell script in which ``$DISK`` is a disk of 200 kB, which nobody else sees; returns what it prints."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def run(script: str) -> str:
        mount = 'mount -t tmpfs -o size=200k none "$DISK"'
        if (
            shutil.which("unshare") is None
            or subprocess.run(
                ["unshare", "-rm", "sh", "-c", mount], env=os.environ | {"DISK": str(disk)}, capture_output=True
            ).returncode
        ):
            pytest.skip("mounting a small disk in a namespace of one's own is not permitted here")
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", f'{mount} && cd "$DISK" && {{ {script}; }}'],
            env=os.environ | {"DISK": str(disk), "PYTHON": sys.executable, "PROGRAM": PROGRAM},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_a_full_disk_is_a_sentence_gets_its_room_back_and_the_next_run_recovers(
    served: Any, small_disk: Callable[[str], str]
) -> None:
    attempt = f'"$PYTHON" -c "$PROGRAM" {served.url} "$DISK/raw/archive.bin" {MD5} && echo fetched'
    told = small_disk(f'{attempt}; ls -A raw; mount -o remount,size=1m "$DISK"; {attempt}; ls -A raw')
    first, _, second = told.partition("ready\n")[2].partition("ready\n")
    assert first.count("sentence:") == 1
    assert "raw/archive.bin: " in first
    assert os.strerror(errno.ENOSPC) in first
    assert first.splitlines()[1:] == [".archive.bin.lock"]
    assert second.splitlines()[-3:] == ["fetched", ".archive.bin.lock", "archive.bin"]  # control: there is room
    assert served.ranges_asked == [None, None]


def test_a_read_only_folder_is_a_sentence_unless_the_file_is_there(
    served: Any, small_disk: Callable[[str], str]
) -> None:
    attempt = f'"$PYTHON" -c "$PROGRAM" {served.url} "$DISK/archive.bin" {MD5} && echo fetched'
    wider, locked, open_again = (f'mount -o remount,{mode} "$DISK"' for mode in ("size=1m", "ro", "rw"))
    told = small_disk(f"{wider}; {locked}; {attempt}; {open_again}; {attempt}; {locked}; {attempt}")
    _, refused, allowed, there = told.split("ready\n")
    assert refused.count("sentence:") == 1
    assert "archive.bin: " in refused
    assert os.strerror(errno.EROFS) in refused
    assert allowed.endswith("fetched\n")
    assert there == "fetched\n"  # nothing is written, and nothing asked of the server
    assert len(served.log) == 1
