"""Small datasets in the layouts of the official archives, for what cannot be had where tests run.

The layouts are those that the datasets' pages and torchvision's readers describe; contents are noise.
"""

import gzip
import io
import pickle
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat


def noise(number: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, shape, dtype=np.uint8)


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    return written(lambda file: np.save(file, array))


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    return written(lambda file: image.save(file, kind, **options))


def picture(array: np.ndarray, kind: str = "PNG") -> bytes:
    """An image file of an array [h, w, 3] or [h, w]."""
    return saved(Image.fromarray(array), kind)


def photograph(number: int, width: int, height: int) -> bytes:
    """A JPEG that is no square, smooth enough that resizing has something to keep."""
    small = Image.fromarray(noise(number, 6, 8, 3))
    return picture(np.asarray(small.resize((width, height), Image.Resampling.BICUBIC)), "JPEG")


def decoded(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Files by name below a folder; an empty folder is a name that ends in /."""
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def below(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


def tar(files: Mapping[str, bytes]) -> bytes:
    return gzip.decompress(tar_gz(files))


def tar_gz(files: Mapping[str, bytes], folder: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}" if folder else name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zipped(files: Mapping[str, bytes], folder: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(f"{folder}/{name}" if folder else name, content)
    return buffer.getvalue()


SPLITS = {
    "train/cat/1.jpg": photograph(1, 40, 60),
    "train/cat/10.JPEG": photograph(2, 60, 40),
    "train/cat/2.png": picture(noise(3, 30, 30)),
    "train/ant/a picture.png": picture(noise(4, 30, 33, 3)),
    "train/Zebra/z.gif": picture(noise(5, 40, 40), "GIF"),
    "train/cat/.DS_Store": b"hidden",
    "test/ant/5.png": picture(noise(6, 30, 33, 3)),
    "test/cat/6.png": picture(noise(7, 30, 33, 3)),
    "test/Zebra/7.png": picture(noise(8, 30, 33, 3)),
}
"""Images by split and class, and a hidden file."""

CIFAR10 = {
    "batches.meta": pickle.dumps({"label_names": [f"class {i}" for i in range(10)]}),
    **{
        name: pickle.dumps({"data": noise(number, 2, 3072), "labels": [number, number + 1]})
        for number, name in enumerate(
            [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"], start=1
        )
    },
}

STL10_COUNTS = {"train": 30, "test": 20}


def stl10() -> dict[str, bytes]:
    """Binary files: images as colours, columns, rows; labels from 1."""
    names = b"airplane\nbird\ncar\ncat\ndeer\ndog\nhorse\nmonkey\nship\ntruck\n"
    files = {"class_names.txt": names, "fold_indices.txt": b"0 1 2\n"}
    for place, (part, count) in enumerate(STL10_COUNTS.items()):
        files[f"{part}_X.bin"] = noise(place, count, 3, 96, 96).tobytes()
        files[f"{part}_y.bin"] = (np.arange(count) % 10 + 1).astype(np.uint8).tobytes()
    files["unlabeled_X.bin"] = noise(2, 7, 3, 96, 96).tobytes()
    return files


TINY_IDS = ("n02124075", "n01443537", "n04067472")  # not sorted, as in the official wnids.txt


def tiny_imagenet() -> dict[str, bytes]:
    """Training images by class, one of them grey; validation images in one folder, with annotations."""
    files = {
        "wnids.txt": "".join(f"{identifier}\n" for identifier in TINY_IDS).encode(),
        "words.txt": b"n01443537\tgoldfish, Carassius auratus\nn02124075\tEgyptian cat\nn04067472\treel\n",
        "test/images/test_0.JPEG": picture(noise(99, 64, 64, 3), "JPEG"),
    }
    for place, identifier in enumerate(TINY_IDS):
        for number in range(2):
            shape = (64, 64) if (place, number) == (1, 1) else (64, 64, 3)
            image = picture(noise(10 * place + number, *shape), "JPEG")
            files[f"train/{identifier}/images/{identifier}_{number}.JPEG"] = image
        files[f"train/{identifier}/{identifier}_boxes.txt"] = b""
    rows = [f"val_{number}.JPEG\t{TINY_IDS[number % 3]}\t0\t32\t44\t62\n" for number in range(4)]
    images = {
        f"val/images/val_{n}.JPEG": picture(noise(50 + n, 64, 64, 3), "JPEG") for n in range(4)
    }
    return files | images | {"val/val_annotations.txt": "".join(rows).encode()}


FLOWERS_PARTS = {"trnid": [3, 1], "valid": [6, 4], "tstid": [8, 2, 7, 5]}
FLOWERS_LABELS = [1, 2, 3, 1, 2, 3, 1, 2]
FLOWERS_SIZES = [(40, 60), (60, 40), (50, 50), (41, 60), (60, 41), (90, 31), (32, 32), (500, 20)]


def flowers102() -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Photographs of several shapes by name, and the two MATLAB files."""
    images = {
        f"image_{number:05d}.jpg": photograph(number, *size)
        for number, size in enumerate(FLOWERS_SIZES, start=1)
    }
    tables = {"imagelabels.mat": {"labels": FLOWERS_LABELS}, "setid.mat": FLOWERS_PARTS}
    return images, {
        name: written(partial(savemat, mdict=arrays)) for name, arrays in tables.items()
    }
