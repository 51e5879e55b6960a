"""Fetch a published file over HTTP with pooch: it has its real name only once it is whole and has the published md5."""

import hashlib
import os
import shutil
from pathlib import Path

import pooch
import requests
from filelock import FileLock

from hypersphere import files
from hypersphere.errors import HypersphereError

RETRIES = 3
"""Further attempts after a failed one; a download that breaks starts again from its first byte."""
STALLED = 60.0
"""Seconds without a byte after which a connection counts as dropped; a slow one may take hours."""


def fetch(url: str, path: Path, md5: str) -> None:
    """Make sure that ``path`` is the published file: fetch it if it is missing or has another md5.

    Bytes arrive in a hidden folder beside ``path``; a damaged ``path`` stays until the fetched file replaces it. Of
    several processes that need the file, the first fetches it and the others wait.

    Raises:
        HypersphereError: the server refuses, keeps dropping the connection or has another file; or the disk is full.
    """
    if has_md5(path, md5):
        return
    arriving = path.with_name(f".{path.name}.arriving{files.PART}")
    with files.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if has_md5(path, md5):  # another process fetched it while we waited
                return
            shutil.rmtree(arriving, ignore_errors=True)  # of a process that was killed
            server = pooch.create(
                arriving,
                "",
                registry={path.name: f"md5:{md5}"},
                urls={path.name: url},
                retry_if_failed=RETRIES,
            )
            try:
                server.fetch(path.name, downloader=pooch.HTTPDownloader(timeout=STALLED))
                os.replace(arriving / path.name, path)
            # pooch raises the former for a wrong checksum
            except (ValueError, requests.RequestException) as error:
                raise HypersphereError(
                    f"{url}: {path} cannot be fetched ({' '.join(str(error).split())})"
                ) from None
            finally:
                shutil.rmtree(arriving, ignore_errors=True)


def has_md5(path: Path, md5: str) -> bool:
    """Whether ``path`` exists and has this md5."""
    files.check_regular(path)
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "md5").hexdigest() == md5
    except FileNotFoundError:
        return False
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
