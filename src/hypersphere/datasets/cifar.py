"""CIFAR-10 and CIFAR-100 in torchvision's folders or archives, with every byte checked before a pickle is opened.

Unpickling a file executes code in it, and the published checksums are only md5. So the sha256 of each file is first
compared with the constants below. Files are read into memory, from the archive or from the unpacked folder, and those
same bytes are unpickled: nothing can change in between, and a kill leaves no half-unpacked folder.
"""

import hashlib
import pickle
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torchvision.datasets import CIFAR10, CIFAR100

from hypersphere import files
from hypersphere.datasets.reading import human, published
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.errors import HypersphereError

SETS: dict[int, Any] = {10: CIFAR10, 100: CIFAR100}
COARSE = "coarse"
LABELS = {"labels": CLASS, "fine_labels": CLASS, "coarse_labels": COARSE}
"""Name of labels in the files -> our name."""

# sha256 of the files in the official archives.
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


def cifar(root: Path, download: bool = True, *, classes: Literal[10, 100] = 10, human_labels: bool = False) -> Arrays:
    """50,000 training and 10,000 test images, 32 × 32.

    Args:
        root: the folder that holds ``cifar-10-batches-py`` or ``cifar-100-python``, or else the official archive.
        download: fetch the archive into ``root`` if neither is there, or if the archive is damaged; False: only read.
        classes: 10 for CIFAR-10, 100 for CIFAR-100. CIFAR-100's main labels are its 100 fine classes; its 20
            superclasses are the labels ``coarse``.
        human_labels: add the labels that people gave: CIFAR-10N's or CIFAR-100N's to the training images, and
            CIFAR-10H's to CIFAR-10's test images (see ``human.add``).

    Raises:
        HypersphereError: a file is missing or damaged, or the archive cannot be fetched.
    """
    arrays = _official(root, download, classes)
    return human.add(arrays, human.human(root, download)) if human_labels else arrays


def _official(root: Path, download: bool, classes: int) -> Arrays:
    """The set as its author publishes it. Raises the errors of ``cifar``."""
    official, about = SETS[classes], published.table()[f"cifar{classes}"]
    folder, archive = root / official.base_folder, root / official.filename
    if folder.is_dir():
        remedy = f"delete {folder} and run again to download it" if download else "put the official file there"
        contents = _read_folder(folder, SHA256[classes])
        if problem := damage(contents, classes):
            raise HypersphereError(f"{folder / problem}; {remedy}")
        return _arrays(contents, official, about.about())
    published.require(about.files[archive.name], archive, download, unpacked=folder.name)
    contents, problem = _read_archive(archive, official.base_folder, SHA256[classes])
    if problem := problem or damage(contents, classes):
        if download:
            with files.writing(archive):
                archive.unlink(missing_ok=True)
        remedy = "it was deleted, run again to download it" if download else "put the official file there"
        raise HypersphereError(f"{archive}: {problem}, although the archive's md5 is the published one; {remedy}")
    return _arrays(contents, official, about.about())


def damage(contents: dict[str, bytes], classes: int) -> str | None:
    """Name and problem of the first file that is missing or altered; None if all are official. Opens no pickle."""
    for name, expected in SHA256[classes].items():
        if name not in contents:
            return f"{name}: the file is missing"
        actual = hashlib.sha256(contents[name]).hexdigest()
        if actual != expected:
            return f"{name}: damaged: {len(contents[name])} bytes with sha256 {actual[:12]}…, not {expected[:12]}…"
    return None


def _read_folder(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Contents of the named files that exist in ``folder``."""
    contents = {}
    for path in (folder / name for name in names):
        try:
            contents[path.name] = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
    return contents


def _read_archive(archive: Path, folder: str, names: Iterable[str]) -> tuple[dict[str, bytes], str | None]:
    """Contents of the named files in ``folder`` of a .tar.gz, and the error that ended the reading, if any."""
    names_by_path = {f"{folder}/{name}": name for name in names}
    contents = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                opened = tar.extractfile(member) if member.name in names_by_path and member.isfile() else None
                if opened is not None:
                    contents[names_by_path[member.name]] = opened.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:  # a broken gzip is an OSError too
        return contents, f"cannot be unpacked ({' '.join(str(error).split())})"
    return contents, None


def _arrays(contents: dict[str, bytes], official: Any, about: dict[str, str]) -> Arrays:
    """Images and labels of files whose bytes have been checked."""
    batches = {name: pickle.loads(content, encoding="latin1") for name, content in contents.items()}
    meta = batches[official.meta["filename"]]
    names = {CLASS: tuple(meta[official.meta["key"]])}
    if "coarse_label_names" in meta:
        names[COARSE] = tuple(meta["coarse_label_names"])
    parts = {TRAIN: official.train_list, TEST: official.test_list}
    splits = {part: _join([batches[name] for name, _ in listed]) for part, listed in parts.items()}
    return Arrays(splits, names, about)


def _join(batches: list[dict[str, Any]]) -> Split:
    """One split from its batches. The files store an image as colours, rows, columns."""
    images = np.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
    labels = {
        name: np.concatenate([batch[key] for batch in batches]).astype(np.int64)
        for key, name in LABELS.items()
        if key in batches[0]
    }
    return Split(images.transpose(0, 2, 3, 1), labels)
