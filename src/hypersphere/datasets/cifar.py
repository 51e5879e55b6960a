"""CIFAR-10 and CIFAR-100, through torchvision, with every byte checked before a pickle is opened.

The published checksums are md5, and torchvision reads a file some time after checking it; unpickling a file runs what
it says. So the sha256 of each extracted file is checked first, against the constants below.
"""

import http.client
import os
import socket
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.error import URLError

import numpy as np
from filelock import FileLock
from torchvision.datasets import CIFAR10, CIFAR100
from torchvision.datasets.utils import download_url, extract_archive

from hypersphere import files
from hypersphere.datasets.types import Arrays
from hypersphere.errors import HypersphereError

HOMEPAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
SETS: dict[int, Any] = {10: CIFAR10, 100: CIFAR100}

# sha256 of the official archives' members, taken from files whose md5 is the one torchvision publishes.
SHA256 = {
    10: {
        "batches.meta": "f962466ef690d46b226450fb9aadc74ba4bc64a76aa526b5827fe4bc5c7125cb",
        "data_batch_1": "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
        "data_batch_2": "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
        "data_batch_3": "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
        "data_batch_4": "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
        "data_batch_5": "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
        "test_batch": "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831",
    },
    100: {
        "meta": "a5d4786345c961390f865e93b434dbd5c6904ce880667e0cb888c97d449f28b9",
        "train": "735e79b04f092ca3d2e6d07f368c0a7d70d48c48d28865950cc24454cf45129b",
        "test": "4b67687d9933c4db8f0831104447f15b93774f4f464bd0516f0f0f2ac83b7864",
    },
}

STALLED = 60  # seconds without a byte after which a download is given up

# What a download or an unreadable archive may raise; RuntimeError is torchvision's word for a wrong checksum.
DOWNLOAD_ERRORS = (
    URLError,
    http.client.HTTPException,
    OSError,
    RuntimeError,
    EOFError,
    zlib.error,
    tarfile.TarError,
)


def cifar(root: Path, download: bool = True, *, classes: Literal[10, 100] = 10) -> Arrays:
    """50,000 training and 10,000 test images, 32 × 32.

    Args:
        root: the folder that holds, or is to hold, ``cifar-10-batches-py`` or ``cifar-100-python``.
        download: fetch the official archive if that folder is missing; False: never write to ``root``.
        classes: which of the two sets; CIFAR-100 with its fine labels.

    Raises:
        HypersphereError: a file is missing or damaged, or the archive cannot be had.
    """
    official = SETS[classes]
    folder = root / official.base_folder
    if not folder.is_dir():
        if not download:
            raise HypersphereError(
                f"data_root {root}: holds no folder {official.base_folder} (CIFAR-{classes} as torchvision lays it out)"
            )
        _download(root, classes)
    problem = damage(folder, classes)
    if problem:
        remedy = f"delete {folder} and run again to download it" if download else "put the official file there"
        raise HypersphereError(f"{folder / problem}; {remedy}")
    train, test = official(root, train=True, download=False), official(root, train=False, download=False)
    about = {
        "source": f"CIFAR-{classes}, {HOMEPAGE}",
        "licence": "none stated; the authors ask that the report be cited",
        "citation": "A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
    }
    labels = [np.asarray(part.targets, dtype=np.int64) for part in (train, test)]
    return Arrays(train.data, labels[0], test.data, labels[1], tuple(train.classes), about)


def damage(folder: Path, classes: int) -> str | None:
    """The first of the extracted files that is not the official one, and how; None if all are. Opens no pickle."""
    for name, expected in SHA256[classes].items():
        path = folder / name
        if not path.is_file():
            return f"{name}: the file is missing"
        try:
            found = files.sha256(path)
        except OSError as error:
            return f"{name}: cannot be read ({error.strerror})"
        if found != expected:
            size = path.stat().st_size
            return f"{name}: damaged: {size} bytes with sha256 {found[:12]}…, not {expected[:12]}…"
    return None


def _download(root: Path, classes: int) -> None:
    """Fetch, check and extract the official archive, then rename its folder into ``root``; leaves nothing on failure.

    Raises:
        HypersphereError: the archive cannot be fetched or is not the official one; names its address and the file.
    """
    official = SETS[classes]
    target = root / official.base_folder
    try:
        root.mkdir(parents=True, exist_ok=True)
        with (
            FileLock(root / f".{official.base_folder}.lock"),
            tempfile.TemporaryDirectory(prefix=f".{official.base_folder}.", suffix=".part", dir=root) as scratch,
        ):
            if target.is_dir():  # another process fetched it while we waited
                return
            with _patience(STALLED):
                download_url(official.url, scratch, official.filename, official.tgz_md5)
            extract_archive(str(Path(scratch, official.filename)), scratch)
            extracted = Path(scratch, official.base_folder)
            problem = damage(extracted, classes)
            if problem:
                raise RuntimeError(f"in the archive, {problem}")
            os.rename(extracted, target)
    except DOWNLOAD_ERRORS as error:
        reason = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise HypersphereError(
            f"{official.url}: {official.filename} could not be downloaded whole into {root} ({reason})"
        ) from None


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Give up on silent sockets: torchvision passes no timeout, and a stalled server would hang the job."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
