"""STL-10 is read a few images at a time, so that all of them never need their memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import stl10 as module
from hypersphere.datasets import store
from hypersphere.datasets.stl10 import stl10
from hypersphere.datasets.types import Pieces, Split

from . import miniatures

FILES = miniatures.stl10()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for part, count in miniatures.STL10_COUNTS.items():
        monkeypatch.setitem(module.IMAGES, part, count)


def test_images_may_be_read_in_parts(tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With gaps, and again from the start: a .tar.gz is then read anew."""
    own = miniatures.write(tmp_path / "own" / module.FOLDER, FILES).parent
    server.publish("stl10", {module.ARCHIVE: miniatures.tar_gz(FILES, module.FOLDER)})
    packed = miniatures.write(tmp_path / "packed", server.shelf)
    monkeypatch.setattr(module, "AT_ONCE", 4)
    whole = stl10(own, False).splits["train"].images[np.arange(30)]
    for root in (own, packed):
        images = stl10(root, False).splits["train"].images
        for numbers in ([3, 4, 5, 9, 11, 12, 13, 14, 15, 16, 29], [0], [], list(range(30))):
            np.testing.assert_array_equal(images[np.array(numbers, int)], whole[numbers])


@pytest.mark.parametrize("size", [96, 64])
def test_memory_stays_below_a_hundred_megabytes(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four thousand images of 111 MB, in a file with a hole; numpy reports its arrays to tracemalloc.

    Pieces are as in a release: 32 MB of what is written. All images at once are the control.
    """
    count = 4_000
    monkeypatch.setitem(module.IMAGES, "train", count)
    folder = miniatures.write(tmp_path / module.FOLDER, FILES | {"train_y.bin": bytes([1]) * count})
    with (folder / "train_X.bin").open("r+b") as handle:
        handle.truncate(count * module.BYTES)

    def peak(images: Pieces) -> int:
        tracemalloc.start()
        store.write_images(tmp_path / "images.npy", images, np.arange(count))
        measured = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return measured

    split: Split = stl10(tmp_path, False, size=size).splits["train"]
    assert peak(split.images) < 100 * 2**20
    assert (tmp_path / "images.npy").stat().st_size == 128 + count * size * size * 3
    monkeypatch.setattr(store, "PIECE", 2**30)
    monkeypatch.setattr(module, "AT_ONCE", count)
    assert peak(split.images) > count * module.BYTES
