"""Images in one PNG: nothing is lost, and equal images give equal bytes."""

from pathlib import Path

import numpy as np

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
