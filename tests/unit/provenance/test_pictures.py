"""Images in one PNG: nothing is lost, and equal images give equal bytes."""

from pathlib import Path

import numpy as np

from hypersphere.provenance import pictures


def test_images_of_any_size_are_read_as_written_flush_left_on_white(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    first, second = (
        generator.integers(0, 256, (high, high + 1, 3), dtype=np.uint8) for high in (2, 4)
    )
    for name in ("a.png", "b.png"):
        pictures.write(tmp_path / name, [first, second])
    stacked = pictures.read(tmp_path / "a.png")
    assert stacked.shape == (6, 5, 3)
    assert np.array_equal(stacked[:2, :3], first)
    assert (stacked[:2, 3:] == 255).all()
    assert np.array_equal(stacked[2:], second)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
