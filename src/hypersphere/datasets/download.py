"""Fetch a file whole over HTTP: what has arrived is kept, and the next attempt, or the next run, goes on from there.

torchvision's ``download_url`` starts over after every break and waits for ever on a silent server, so this is code of
our own, on the standard library. A server that does not know ranges, or lies about them, costs time and nothing else:
the checksum decides what is kept under the real name.
"""

import contextlib
import hashlib
import http.client
import os
import re
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from filelock import FileLock

from hypersphere import files
from hypersphere.errors import HypersphereError

ATTEMPTS = 5  # in a row that bring nothing new, after which a download is given up
PAUSE = 2.0  # seconds between two of them
STALLED = 60.0  # seconds without a byte after which a connection counts as dropped; a slow one may go on for hours
NEWS = 10.0  # seconds between two lines about progress
BLOCK = 1 << 16  # bytes asked of the socket at once; a killed process loses less than that

NOTHING_BEYOND = 416  # the status for a range that begins at or after the end of the file
PASSING = {408, 425, 429, 500, 502, 503, 504}  # statuses that may be gone in a moment; others are final


def fetch(url: str, path: Path, md5: str) -> None:
    """Make sure that ``path`` is the published file: fetch it if it is missing or its md5 is another.

    Bytes go to a hidden file beside ``path`` that keeps its name from run to run; a damaged ``path`` stays until the
    right one takes its place. Processes that want the same file take turns, and the first fetches it for all.

    Args:
        url: where the file is published.
        path: the file wanted; its folder is made.
        md5: hex digest, as published.

    Raises:
        HypersphereError: the server refuses or keeps dropping the connection (what has arrived is kept); its file is
            not the published one, or the disk is full (what has arrived is deleted); ``path`` cannot be read.
    """
    if has_md5(path, md5):
        return
    with files.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if has_md5(path, md5):  # another process fetched it while we waited
                return
            if path.exists():
                _say(f"{path}: damaged: its md5 is not the published one; fetching it again")
            _fetch(url, path, md5)


def partial_file(path: Path) -> Path:
    """Where the bytes of ``path`` wait until they are whole."""
    return path.with_name(f".{path.name}{files.PART}")


def has_md5(path: Path, md5: str) -> bool:
    """Whether ``path`` is there and has this md5.

    Raises:
        HypersphereError: it is there and cannot be read.
    """
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "md5").hexdigest() == md5
    except FileNotFoundError:
        return False
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


def _fetch(url: str, path: Path, md5: str) -> None:
    """Fetch under the lock. A file put together from several answers gets a second chance, from its first byte: the
    server's file, or the partial file, may have changed in between."""
    download = _Download(url, path)
    for last in (False, True):
        download.collect()
        if has_md5(download.partial, md5):
            os.replace(download.partial, path)
            _say(f"{path}: fetched whole, {path.stat().st_size:,} bytes")
            return
        download.partial.unlink()
        if last or not download.resumed:
            raise HypersphereError(
                f"{url}: what the server sent for {path} does not have the published md5 {md5} and was deleted; "
                "run again to fetch it anew"
            )
        _say(f"{path}: the pieces do not make the published file; fetching it from the start")


class _Download:
    """One file on its way: ``partial`` holds its first bytes.

    Attributes:
        total: bytes of the whole file, once a server has said so.
        resumed: the partial file is not from one single answer.
    """

    def __init__(self, url: str, path: Path) -> None:
        self.url, self.path, self.partial = url, path, partial_file(path)
        self.total: int | None = None
        self.resumed = False

    @property
    def kept(self) -> int:
        """Bytes of the partial file."""
        return self.partial.stat().st_size if self.partial.is_file() else 0

    def collect(self) -> None:
        """Ask until the server has no more to give; give up after ``ATTEMPTS`` in a row that brought nothing new."""
        most, fruitless = self.kept, 0
        while reason := self._ask():
            fruitless = 0 if self.kept > most else fruitless + 1
            most = max(most, self.kept)
            if fruitless == ATTEMPTS:
                raise HypersphereError(
                    f"{self.url}: {self.path} is not whole, and {ATTEMPTS} attempts in a row brought nothing new "
                    f"({reason}); {self._standing()} are kept, run again to go on"
                )
            _say(f"{self.path}: {reason}; {self._standing()} are here, asking for the rest")
            time.sleep(PAUSE)

    def _ask(self) -> str:
        """Ask once for what is missing and add what comes. Returns why there should be more to come, or nothing."""
        kept = self.kept
        headers = {"User-Agent": "hypersphere"} | ({"Range": f"bytes={kept}-"} if kept else {})
        try:
            with urlopen(Request(self.url, headers=headers), timeout=STALLED) as answer:
                return self._take(answer, kept)
        except HTTPError as error:
            error.close()
            if error.code == NOTHING_BEYOND and kept:
                self.resumed = True
                return ""
            reason = f"the server answers {error.code} {error.reason}"
            if error.code not in PASSING:
                raise HypersphereError(f"{self.url}: {self.path} cannot be fetched: {reason}") from None
            return reason
        except (OSError, http.client.HTTPException) as error:  # writing the partial file raises neither
            return " ".join(f"{type(error).__name__}: {error}".split())

    def _take(self, answer: http.client.HTTPResponse, kept: int) -> str:
        """Add an answer's body to the partial file, or begin it anew where the answer does. Returns as ``_ask``."""
        self.resumed = answer.status == http.client.PARTIAL_CONTENT
        if self.resumed:
            span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
            if span is None or int(span[1]) != kept:
                self._write(b"", "wb")
                return "the server sent another range than was asked for"
            length = span[2]
        else:
            kept, length = 0, answer.headers.get("Content-Length", "")
        self.total = int(length) if length.isdecimal() else None
        self._copy(answer, kept)
        return "the connection was closed early" if self.total is not None and self.kept < self.total else ""

    def _copy(self, answer: http.client.HTTPResponse, at: int) -> None:
        """Write the body from byte ``at`` on, as it comes; bytes beyond the announced size are left unread."""
        told = time.monotonic()
        if at == 0:
            self._write(b"", "wb")
        while self.total is None or at < self.total:
            # read1 returns what has come so far: a trickle reaches the disk, and a kill loses at most one block
            block = answer.read1(BLOCK if self.total is None else min(BLOCK, self.total - at))
            if not block:
                return
            self._write(block, "ab")
            at += len(block)
            if time.monotonic() - told >= NEWS:
                told = time.monotonic()
                _say(f"{self.path}: {self._standing()}")

    def _write(self, block: bytes, mode: str) -> None:
        """Write to the partial file, which is deleted if the system refuses: a full disk gets its room back."""
        try:
            with files.writing(self.path), self.partial.open(mode) as handle:
                handle.write(block)
        except HypersphereError:
            with contextlib.suppress(OSError):
                self.partial.unlink()
            raise

    def _standing(self) -> str:
        """``12,345 of 67,890 bytes``."""
        return f"{self.kept:,} of {'an unknown number of' if self.total is None else f'{self.total:,}'} bytes"


def _say(line: str) -> None:
    print(line, flush=True)  # standard output goes to a job's log, where a line should show at once
