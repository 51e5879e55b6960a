"""Fetch a file over HTTP: bytes that have arrived are kept, and the next attempt, or the next run, resumes from there.

torchvision's ``download_url`` starts over after every break and waits for ever on a silent server; this code does
neither, and uses only the standard library. A server that does not support ranges, or lies about them, costs only time:
no file gets its real name before its checksum is right.
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

ATTEMPTS = 5  # attempts in a row without a new byte, after which the download fails
PAUSE = 2.0  # seconds between two attempts
STALLED = 60.0  # seconds without a byte after which a connection counts as dropped; a slow one may take hours
NEWS = 10.0  # seconds between two lines about progress
BLOCK = 1 << 16  # bytes per read of the socket; a killed process loses less than that

NOTHING_BEYOND = 416  # status for a range that begins at or after the end of the file
TEMPORARY = {408, 425, 429, 500, 502, 503, 504}  # statuses that are worth another attempt; others are final


def fetch(url: str, path: Path, md5: str) -> None:
    """Make sure that ``path`` is the published file: fetch it if it is missing or has another md5.

    Bytes go to a hidden file beside ``path`` that has the same name in every run; a damaged ``path`` stays until the
    fetched file replaces it. Of several processes that need the file, the first fetches it and the others wait.

    Args:
        url: where the file is published.
        path: the file to fetch; its folder is made.
        md5: hex digest, as published.

    Raises:
        HypersphereError: the server refuses or keeps dropping the connection (the bytes so far are kept); its file is
            not the published one, or the disk is full (the bytes so far are deleted); ``path`` cannot be read.
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
    """The hidden file that holds the bytes of ``path`` until they are complete."""
    return path.with_name(f".{path.name}{files.PART}")


def has_md5(path: Path, md5: str) -> bool:
    """Whether ``path`` exists and has this md5.

    Raises:
        HypersphereError: it exists and cannot be read.
    """
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "md5").hexdigest() == md5
    except FileNotFoundError:
        return False
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


def _fetch(url: str, path: Path, md5: str) -> None:
    """Fetch, while the lock is held. If a file put together from several answers has the wrong md5, fetch it once more
    from its first byte, because the server's file or the partial file may have changed in between."""
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
                f"{url}: the file that the server sent for {path} does not have the published md5 {md5} and was "
                "deleted; run again to fetch it anew"
            )
        _say(f"{path}: the pieces do not make the published file; fetching it from the start")


class _Download:
    """A download in progress: ``partial`` holds the first bytes of the file.

    Attributes:
        total: bytes of the whole file; None until a server announces it.
        resumed: the partial file is from more than one answer.
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
        """Request the missing bytes until there are none; give up after ``ATTEMPTS`` in a row without a new byte."""
        most, fruitless = self.kept, 0
        while reason := self._request():
            fruitless = 0 if self.kept > most else fruitless + 1
            most = max(most, self.kept)
            if fruitless == ATTEMPTS:
                raise HypersphereError(
                    f"{self.url}: {self.path} is incomplete, and {ATTEMPTS} attempts in a row brought nothing new "
                    f"({reason}); {self._progress()} are kept, run again to resume"
                )
            _say(f"{self.path}: {reason}; {self._progress()} are here, requesting the rest")
            time.sleep(PAUSE)

    def _request(self) -> str:
        """Request the missing bytes once and store them. Returns why the file is still incomplete, or ''."""
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
            if error.code not in TEMPORARY:
                raise HypersphereError(f"{self.url}: {self.path} cannot be fetched: {reason}") from None
            return reason
        except (OSError, http.client.HTTPException) as error:  # writing the partial file raises neither
            return " ".join(f"{type(error).__name__}: {error}".split())

    def _take(self, answer: http.client.HTTPResponse, kept: int) -> str:
        """Add an answer's body to the partial file, or replace it if the answer is the whole file.

        Returns as ``_request``.
        """
        self.resumed = answer.status == http.client.PARTIAL_CONTENT
        if self.resumed:
            span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
            if span is None or int(span[1]) != kept:
                self._write(b"", "wb")
                return "the server sent another range than the one requested"
            length = span[2]
        else:
            kept, length = 0, answer.headers.get("Content-Length", "")
        self.total = int(length) if length.isdecimal() else None
        self._copy(answer, kept)
        return "the connection was closed early" if self.total is not None and self.kept < self.total else ""

    def _copy(self, answer: http.client.HTTPResponse, at: int) -> None:
        """Write the body from byte ``at`` on, as it arrives; bytes beyond the announced size are not read."""
        reported = time.monotonic()
        if at == 0:
            self._write(b"", "wb")
        while self.total is None or at < self.total:
            # read1 returns what has arrived so far: slow bytes reach the disk, and a kill loses at most one block
            block = answer.read1(BLOCK if self.total is None else min(BLOCK, self.total - at))
            if not block:
                return
            self._write(block, "ab")
            at += len(block)
            if time.monotonic() - reported >= NEWS:
                reported = time.monotonic()
                _say(f"{self.path}: {self._progress()}")

    def _write(self, block: bytes, mode: str) -> None:
        """Write to the partial file. If the system refuses, delete it, so that a full disk has room again."""
        try:
            with files.writing(self.path), self.partial.open(mode) as handle:
                handle.write(block)
        except HypersphereError:
            with contextlib.suppress(OSError):
                self.partial.unlink()
            raise

    def _progress(self) -> str:
        """For example ``12,345 of 67,890 bytes``."""
        return f"{self.kept:,} of {'an unknown number of' if self.total is None else f'{self.total:,}'} bytes"


def _say(line: str) -> None:
    print(line, flush=True)  # flushed, so that a job's log shows the line at once
