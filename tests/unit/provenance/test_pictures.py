"""Images in one PNG: nothing is lost, equal images give equal bytes, and a bad file or array is a sentence."""

from pathlib import Path

import numpy as np
import pytest

from hypersphere.errors import HypersphereError
from hypersphere.provenance import pictures


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape, dtype=np.uint8)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    images = noise(5, 8, 6, 3)
    pictures.write(tmp_path / "a.png", list(images))
    assert np.array_equal(pictures.read(tmp_path / "a.png").reshape(5, 8, 6, 3), images)
    pictures.write(tmp_path / "b.png", list(images))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_images_of_other_sizes_are_flush_left_on_white() -> None:
    first, second = noise(2, 3, 3), noise(4, 5, 3)
    stacked = pictures.stack([first, second])
    assert stacked.shape == (6, 5, 3)
    assert np.array_equal(stacked[:2, :3], first)
    assert (stacked[:2, 3:] == 255).all()
    assert np.array_equal(stacked[2:], second)


@pytest.mark.parametrize("image", [noise(4, 4), noise(4, 4, 4), noise(0, 4, 3), noise(4, 4, 3) / 255])
def test_other_arrays_are_a_sentence(image: np.ndarray) -> None:
    with pytest.raises(HypersphereError, match=r"^pictures: an image must be uint8 of shape \[h, w, 3\] \(given: "):
        pictures.stack([noise(4, 4, 3), image])


def test_no_image_is_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"^pictures: there must be at least one$"):
        pictures.stack([])


def test_files_that_are_no_such_png_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    with pytest.raises(HypersphereError, match=r"a\.png: the file is missing$"):
        pictures.read(path)
    path.write_bytes(b"no picture")
    with pytest.raises(HypersphereError, match=r"a\.png: cannot be read as a PNG"):
        pictures.read(path)
    pictures.write(path, [noise(64, 64, 3)])
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(HypersphereError, match=r"a\.png: cannot be read as a PNG"):
        pictures.read(path)
