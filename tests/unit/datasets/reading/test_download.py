"""A file is fetched whole or not at all, from a real server on this machine that damages it, by real processes."""

import errno
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.reading import download
from hypersphere.datasets.reading.download import fetch
from hypersphere.errors import HypersphereError

from ..conftest import PATIENCE

CONTENT = np.random.default_rng(0).bytes(300_000)
MD5 = hashlib.md5(CONTENT).hexdigest()

PROGRAM = """
import sys
from pathlib import Path
from hypersphere.datasets.reading import download
from hypersphere.errors import HypersphereError
print("ready", flush=True)
try:
    download.fetch(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
except HypersphereError as error:
    sys.exit(f"sentence: {error}")
"""


@pytest.fixture
def served(server: Any) -> Any:
    """The server, offering CONTENT."""
    server.shelf = {"archive.bin": CONTENT}
    server.url = f"{server.address}/archive.bin"
    return server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where a download should go; the folder is not there yet."""
    return tmp_path / "raw" / "archive.bin"


def left(target: Path) -> list[str]:
    """What lies in the target's folder, but for the lock."""
    return sorted(path.name for path in target.parent.iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize(
    "faults", [[], ["503", "503"], ["wrong byte", "closed"]], ids=["none", "503", "others"]
)
def test_a_good_file_is_fetched_once_and_a_passing_fault_tried_again(
    faults: list[str], served: Any, target: Path
) -> None:
    served.first = [*faults]
    for _ in range(2):
        fetch(served.url, target, MD5)
        assert target.read_bytes() == CONTENT
        assert left(target) == [target.name]
    assert len(served.log) == 1 + len(faults)


@pytest.mark.parametrize("before", [b"", CONTENT[:-1]], ids=["nothing", "damaged"])
@pytest.mark.parametrize("fault", ["404", "wrong byte", "half a file", "closed", "stalled"])
def test_what_is_not_the_published_file_is_a_sentence_and_the_next_run_recovers(
    fault: str, before: bytes, served: Any, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file stays until the fetched one replaces it."""
    monkeypatch.setattr(download, "STALLED", 0.3)
    monkeypatch.setattr(download, "RETRIES", 1)
    if before:
        target.parent.mkdir()
        target.write_bytes(before)
    served.fault = fault
    with pytest.raises(HypersphereError) as caught:
        fetch(served.url, target, MD5)
    assert str(caught.value).startswith(f"{served.url}: {target} cannot be fetched (")
    assert left(target) == [target.name] * bool(before)
    assert not before or target.read_bytes() == before
    assert len(served.log) == 2
    served.fault = ""
    served.over.set()
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT


def test_a_slow_server_is_waited_for(
    served: Any, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten pieces take longer than a silence may last; each comes in time."""
    monkeypatch.setattr(download, "RETRIES", 0)
    monkeypatch.setattr(download, "STALLED", 1.2)
    served.pause = 0.15
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT


def test_kill_9_in_the_middle_leaves_no_file_of_that_name_and_the_next_run_recovers(
    served: Any, target: Path
) -> None:
    served.fault = "stalled"
    killed = subprocess.Popen([sys.executable, "-c", PROGRAM, served.url, str(target), MD5])
    try:
        limit = time.monotonic() + PATIENCE
        while not any(
            path.is_file() and path.stat().st_size for path in target.parent.glob(".*.part/*")
        ):
            assert time.monotonic() < limit, "waited in vain"
            time.sleep(0.02)
    finally:
        killed.kill()
        killed.communicate()
    assert not target.exists()
    served.fault = ""
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert left(target) == [target.name]


def test_two_that_want_the_same_file_fetch_it_once(served: Any, target: Path) -> None:
    served.released.clear()
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(fetch, served.url, target, MD5) for _ in range(2)]
        served.over.wait(0.5)  # for both to ask, if nothing keeps them from it
        served.released.set()
        assert [one.result(PATIENCE) for one in both] == [None, None]
    assert len(served.log) == 1
    assert target.read_bytes() == CONTENT


@pytest.fixture
def small_disk(tmp_path: Path) -> Callable[[str], str]:
    """Runs a shell script in which ``$DISK`` is a disk of 200 kB, which nobody else sees; returns what it prints."""
    given = os.environ | {"DISK": str(tmp_path), "PYTHON": sys.executable, "PROGRAM": PROGRAM}

    def run(script: str) -> str:
        whole = f'mount -t tmpfs -o size=200k none "$DISK" && cd "$DISK" && {{ {script}; }} 2>&1'
        command = ["unshare", "-rm", "sh", "-c", whole]
        return subprocess.run(
            command, env=given, check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout

    try:
        run("true")
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("mounting a small disk in a namespace of one's own is not permitted here")
    return run


def test_a_full_disk_is_a_sentence_gets_its_room_back_and_the_next_run_recovers(
    served: Any, small_disk: Callable[[str], str]
) -> None:
    attempt = f'"$PYTHON" -c "$PROGRAM" {served.url} "$DISK/raw/archive.bin" {MD5} && echo fetched'
    told = small_disk(
        f'{attempt}; ls -A raw; mount -o remount,size=1m "$DISK"; {attempt}; ls -A raw'
    )
    first, _, second = told.partition("ready\n")[2].partition("ready\n")
    assert first.count("sentence:") == 1
    assert os.strerror(errno.ENOSPC) in first
    assert first.splitlines()[-1] == ".archive.bin.lock"
    # control: there is room
    assert second.splitlines()[-3:] == ["fetched", ".archive.bin.lock", "archive.bin"]


def test_a_read_only_folder_is_a_sentence_unless_the_file_is_there(
    served: Any, small_disk: Callable[[str], str]
) -> None:
    attempt = f'"$PYTHON" -c "$PROGRAM" {served.url} "$DISK/archive.bin" {MD5} && echo fetched'
    wider, locked, open_again = (
        f'mount -o remount,{mode} "$DISK"' for mode in ("size=1m", "ro", "rw")
    )
    told = small_disk(f"{wider}; {locked}; {attempt}; {open_again}; {attempt}; {locked}; {attempt}")
    _, refused, allowed, there = told.split("ready\n")
    assert refused.count("sentence:") == 1
    assert os.strerror(errno.EROFS) in refused
    assert allowed.endswith("fetched\n")
    assert there == "fetched\n"  # nothing is written, and nothing asked of the server
    assert len(served.log) == 1
