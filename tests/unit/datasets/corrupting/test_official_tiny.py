"""Tiny-ImageNet-C's folder: a miniature in its layout, decoded by Pillow; what is missing is a sentence."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hypersphere.datasets.corrupting import official_tiny
from hypersphere.errors import HypersphereError

IDS = ("n01", "n02")
RNG = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes of two images each, at every severity of two corruptions."""
    monkeypatch.setattr(official_tiny, "PER_CLASS", 2)
    for name in ("fog", "snow"):
        for severity in range(1, 6):
            for identifier in IDS:
                below = tmp_path / "Tiny-ImageNet-C" / name / str(severity) / identifier
                below.mkdir(parents=True)
                for file in ("test_7.JPEG", "test_12.JPEG"):
                    image = RNG.integers(0, 256, (8, 8, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)
                    Image.fromarray(image).save(below / file, quality=85)
    return tmp_path / "Tiny-ImageNet-C"


def test_every_way_is_a_split_with_its_own_labels(folder: Path) -> None:
    found = official_tiny.load(folder.parent, ["fog", "snow"], IDS)
    assert list(found) == [(name, severity) for name in ("fog", "snow") for severity in range(1, 6)]
    for (name, severity), split in found.items():
        assert split.labels["class"].tolist() == [0, 0, 1, 1]
        files = [folder / name / str(severity) / i / f for i in IDS for f in ("test_12.JPEG", "test_7.JPEG")]
        expected = np.stack([np.asarray(Image.open(file)) for file in files])
        np.testing.assert_array_equal(split.images[np.arange(4)], expected)


def test_what_is_missing_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match="holds no folder Tiny-ImageNet-C, which is published at"):
        official_tiny.load(tmp_path / "elsewhere", ["fog"], IDS)
    with pytest.raises(HypersphereError, match=r"Tiny-ImageNet-C/frost/1: the folder is missing"):
        official_tiny.load(tmp_path, ["frost"], IDS)
    (folder / "snow" / "4" / "n02" / "test_7.JPEG").unlink()
    with pytest.raises(HypersphereError, match=r"snow/4/n02: holds 1 image, and should hold 2"):
        official_tiny.load(tmp_path, ["snow"], IDS)
    official_tiny.load(tmp_path, ["fog"], IDS)  # the control: the other corruption is whole
