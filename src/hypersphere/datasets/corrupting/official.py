"""The benchmark's own files, CIFAR-10-C and CIFAR-100-C: an unpacked folder, or the archive, which is read in place.

Every file has five times the test images, in the test set's order: those of severity 1 first, those of 5 last.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.datasets.corrupting.severities import SEVERITIES
from hypersphere.datasets.reading import archives, published
from hypersphere.datasets.reading.download import has_md5
from hypersphere.errors import HypersphereError

LABELS = "labels"
FOLDERS = {"cifar10": "CIFAR-10-C", "cifar100": "CIFAR-100-C"}
"""The set's folder by its clean set; the archive is called after it."""
FILES = {
    "CIFAR-10-C": {
        "brightness": "0a81ef75e0b523c3383219c330a85d48",
        "contrast": "3c8262171c51307f916c30a3308235a8",
        "defocus_blur": "7d1322666342a0702b1957e92f6254bc",
        "elastic_transform": "9421657c6cd452429cf6ce96cc412b5f",
        "fog": "7b397314b5670f825465fbcd1f6e9ccd",
        "frost": "31f6ab3bce1d9934abfb0cc13656f141",
        "gaussian_blur": "c33370155bc9b055fb4a89113d3c559d",
        "gaussian_noise": "ecaf8b9a2399ffeda7680934c33405fd",
        "glass_blur": "7361fb4019269e02dbf6925f083e8629",
        "impulse_noise": "2090e01c83519ec51427e65116af6b1a",
        "jpeg_compression": "2b9cc4c864e0193bb64db8d7728f8187",
        "labels": "c439b113295ed5254878798ffe28fd54",
        "motion_blur": "fffa5f852ff7ad299cfe8a7643f090f4",
        "pixelate": "0f14f7e2db14288304e1de10df16832f",
        "saturate": "1cfae0964219c5102abbb883e538cc56",
        "shot_noise": "3a7239bb118894f013d9bf1984be7f11",
        "snow": "bb238de8555123da9c282dea23bd6e55",
        "spatter": "8a5a3903a7f8f65b59501a6093b4311e",
        "speckle_noise": "ef00b87611792b00df09c0b0237a1e30",
        "zoom_blur": "6ea8e63f1c5cdee1517533840641641b",
    },
    "CIFAR-100-C": {
        "brightness": "f22d7195aecd6abb541e27fca230c171",
        "contrast": "322bb385f1d05154ee197ca16535f71e",
        "defocus_blur": "d923e3d9c585a27f0956e2f2ad832564",
        "elastic_transform": "a0792bd6581f6810878be71acedfc65a",
        "fog": "4efc7ebd5e82b028bdbe13048e3ea564",
        "frost": "3a39c6823bdfaa0bf8b12fe7004b8117",
        "gaussian_blur": "5204ba0d557839772ef5a4196a052c3e",
        "gaussian_noise": "ecc4d366eac432bdf25c024086f5e97d",
        "glass_blur": "0bf384f38e5ccbf8dd479d9059b913e1",
        "impulse_noise": "3b3c210ddfa0b5cb918ff4537a429fef",
        "jpeg_compression": "c851b7f1324e1d2ffddeb76920576d11",
        "labels": "bb4026e9ce52996b95f439544568cdb2",
        "motion_blur": "732a7e2e54152ff97c742d4c388c5516",
        "pixelate": "96c00c60f144539e14cffb02ddbd0640",
        "saturate": "c0697e9fdd646916a61e9c312c77bf6b",
        "shot_noise": "b0a1fa6e1e465a747c1b204b1914048a",
        "snow": "0237be164583af146b7b144e73b43465",
        "spatter": "12ccf41d62564d36e1f6a6ada5022728",
        "speckle_noise": "e3f215b1a0f9fd9fd6f0d1cf94a7ce99",
        "zoom_blur": "0204613400c034a81c4830d5df81cb82",
    },
}
"""md5 of each file by folder and name, without ``.npy``."""


class Place(NamedTuple):
    """Where a .npy file begins: a file of its own, or a part of an archive."""

    path: Path
    start: int
    label: str
    """What a sentence calls it."""


def load(
    root: Path, download: bool, base: str, names: Iterable[str], tests: Int64[np.ndarray, "N"]
) -> dict[str, UInt8[np.ndarray, "5N 32 32 3"]]:
    """The images of these corruptions by name, memory-mapped and read-only.

    Args:
        root: the folder that holds the set's folder or archive.
        download: fetch the archive if neither is there; False: only read.
        base: ``cifar10`` or ``cifar100``.
        names: of the corruptions.
        tests: labels of the clean test set, which the benchmark's must repeat.

    Raises:
        HypersphereError: a file is missing or damaged, has another size or type, or has other labels than ``tests``.
    """
    names = [*names, LABELS]
    folder = root / FOLDERS[base]
    if folder.is_dir():
        found = {name: _in_folder(folder, name) for name in names}
    else:
        archive = folder.with_name(f"{folder.name}.tar")
        published.require(published.table()[f"{base}_c"].files[archive.name], archive, download, unpacked=folder.name)
        found = _in_archive(archive, folder.name, names)
    rows = len(tests) * len(SEVERITIES)
    labels = _mapped(found[LABELS], (rows,))
    if not np.array_equal(labels, np.tile(tests, len(SEVERITIES))):
        raise HypersphereError(f"{found[LABELS].label}: does not repeat the labels of the test set of {base}")
    return {name: _mapped(found[name], (rows, 32, 32, 3)) for name in names if name != LABELS}


def _in_folder(folder: Path, name: str) -> Place:
    path = folder / f"{name}.npy"
    if not path.is_file():
        raise HypersphereError(f"{path}: the file is missing")
    if not has_md5(path, FILES[folder.name][name]):
        raise HypersphereError(f"{path}: damaged: its md5 is not the published one; put the official file there")
    return Place(path, 0, str(path))


def _in_archive(archive: Path, folder: str, names: list[str]) -> dict[str, Place]:
    """The places of the named files."""
    found = archives.places(archive, folder, lambda file: file.removesuffix(".npy") in names)
    for name in names:
        if f"{name}.npy" not in found:
            raise HypersphereError(f"{archive}: has no {folder}/{name}.npy")
    return {name: Place(archive, found[f"{name}.npy"][0], f"{archive}: {name}.npy") for name in names}


def _mapped(place: Place, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a .npy file of this shape. Its header is read; nothing in it is run."""
    try:
        with place.path.open("rb") as handle:
            handle.seek(place.start)
            version = np.lib.format.read_magic(handle)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            found, fortran, dtype = read(handle)
            start = handle.tell()
        if found != shape or fortran or dtype != np.uint8:
            raise ValueError(f"holds {dtype} {found}, not uint8 {shape}")
        return np.memmap(place.path, np.uint8, "r", start, shape)
    except (ValueError, OSError) as error:
        raise HypersphereError(f"{place.label}: {' '.join(str(error).split())}") from None
