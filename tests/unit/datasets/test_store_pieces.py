"""Images in pieces become the bytes of numpy.save, and memory holds a piece of them."""

import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.types import Arrays, Pieces, Split
from hypersphere.errors import HypersphereError

IMAGES = np.random.default_rng(0).integers(0, 256, (11, 4, 4, 3), dtype=np.uint8)
KEPT = np.array([0, 1, 4, 5, 6, 10])
ABOUT = {"source": "made up", "licence": "none", "citation": "none"}


def in_pieces(images: np.ndarray) -> Pieces:
    return Pieces(images.shape, lambda numbers: images[numbers])


def saved(images: np.ndarray) -> bytes:
    """The bytes of numpy's own writer."""
    buffer = io.BytesIO()
    np.save(buffer, images)
    return buffer.getvalue()


@pytest.mark.parametrize("budget", [1, 48, 100, 2**25])  # an image has 48 bytes: one, one, two or all at once
@pytest.mark.parametrize("form", [np.asarray, in_pieces])
def test_bytes_are_those_of_numpys_own_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int, form: Callable[[np.ndarray], np.ndarray | Pieces]
) -> None:
    monkeypatch.setattr(store, "PIECE", budget)
    for kept in (KEPT, np.arange(11), np.arange(0)):
        store.write_images(tmp_path / "images.npy", form(IMAGES), kept)
        assert (tmp_path / "images.npy").read_bytes() == saved(IMAGES[kept])
    store.write_images(tmp_path / "images.npy", form(IMAGES[:, :, ::-1]), KEPT)  # not contiguous
    assert (tmp_path / "images.npy").read_bytes() == saved(IMAGES[KEPT][:, :, ::-1].copy())


def test_a_source_is_asked_for_ascending_numbers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PIECE", 100)
    asked: list[list[int]] = []

    def read(numbers: np.ndarray) -> np.ndarray:
        asked.append(numbers.tolist())
        return IMAGES[numbers]

    store.write_images(tmp_path / "images.npy", Pieces(IMAGES.shape, read), KEPT)
    assert asked == [[0, 1], [4, 5], [6, 10]]


@pytest.mark.parametrize(
    "wrong", [lambda piece: piece[:-1], lambda piece: piece[:, :2], lambda piece: piece.astype(np.int16)]
)
def test_other_images_than_announced_are_a_sentence_and_nothing_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[np.ndarray], np.ndarray]
) -> None:
    split = Split(Pieces(IMAGES.shape, lambda numbers: wrong(IMAGES[numbers])), {"class": np.zeros(11, np.int64)})
    arrays = Arrays({"train": split}, {"class": ("one",)}, ABOUT)
    monkeypatch.setattr(registry, "load", lambda kind, name: lambda root, download: arrays)
    dataset = Dataset.model_validate({"name": "made_up", "source": {"name": "digits"}})
    with pytest.raises(HypersphereError, match=r"train: the images from number 0 on are .*, as the source announced"):
        store.prepare(dataset, tmp_path, None)
    assert not list((tmp_path / "processed").glob("*made_up-????????")) + list(tmp_path.rglob("*.part"))


def test_memory_holds_a_piece_and_not_the_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty megabytes in pieces of one: the peak stays near a piece (numpy reports its arrays to tracemalloc).

    The control is one piece of all. At the released size of a piece, 32 MB, the peak is that of two pieces: the images
    read, and the reader's own copy.
    """
    whole = 40 * 2**20
    shape = (whole // (64 * 64 * 3), 64, 64, 3)
    images = Pieces(shape, lambda numbers: np.full((len(numbers), 64, 64, 3), 7, np.uint8))

    def peak(piece: int) -> int:
        monkeypatch.setattr(store, "PIECE", piece)
        tracemalloc.start()
        store.write_images(tmp_path / "images.npy", images, np.arange(shape[0]))
        measured = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return measured

    assert peak(2**20) < 4 * 2**20
    assert peak(whole) > 0.9 * whole
