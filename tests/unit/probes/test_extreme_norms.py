"""Images of highest and lowest norm, against sorting by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.probes.extreme_norms import extreme_norms


class Faces:
    """Stands in for ``Frozen``: n images in three classes, with given norms; image i is of colour i."""

    def __init__(self, norms: list[float], classes: list[int]) -> None:
        self.vectors = torch.tensor([[-0.6 * norm, 0.8 * norm] for norm in norms], dtype=torch.float64)
        self.classes = classes

    def features(self, split: str) -> torch.Tensor:
        assert split == "train"
        return self.vectors

    def labels(self, split: str) -> torch.Tensor:
        return torch.tensor(self.classes)

    def class_names(self) -> tuple[str, ...]:
        return "ant", "bee", "cow"

    def images(self, split: str) -> np.ndarray:
        pixels = np.arange(len(self.vectors), dtype=np.uint8)
        return np.broadcast_to(pixels[:, None, None, None], (len(pixels), 4, 4, 3))


def test_it_is_sorting_each_class_by_hand() -> None:
    random = np.random.default_rng(0)
    norms, classes = random.lognormal(size=60).tolist(), random.integers(0, 3, 60).tolist()
    faces: Any = Faces(norms, classes)
    found = extreme_norms(faces, count=4)
    assert found.table is not None
    assert found.pictures is not None
    expected = []
    for extreme in ("highest", "lowest"):
        for label, name in enumerate(("ant", "bee", "cow")):
            own = sorted((norm, i) for i, norm in enumerate(norms) if classes[i] == label)
            best = own[::-1][:4] if extreme == "highest" else own[:4]
            expected += [(extreme, name, rank, i) for rank, (_, i) in enumerate(best, 1)]
    rows = found.table[["extreme", "row", "column", "image"]]
    assert list(rows.itertuples(index=False, name=None)) == expected
    assert found.pictures[:, 0, 0, 0].tolist() == [i for *_, i in expected]
    for extreme in ("highest", "lowest"):
        chosen = [norms[i] for end, *_, i in expected if end == extreme]
        assert found.values[f"norm;split=train;extreme={extreme}"] == pytest.approx(sum(chosen) / 12)
    assert found.n == 60


def test_captions_have_three_digits_of_any_norm() -> None:
    faces: Any = Faces([10.0, 9.726, 123.4, 4.5e-12], [0, 0, 0, 0])
    table = extreme_norms(faces, count=9).table
    assert table is not None
    assert table[table["extreme"] == "highest"]["caption"].tolist() == ["123", "10.0", "9.73", "4.50e-12"]


def test_ties_small_classes_and_empty_ones() -> None:
    """Equal norms, zero among them, keep the images' order at both ends; a class without images has no row."""
    faces: Any = Faces([0.0, 2.0, 2.0, 0.0, 2.0], [0, 0, 2, 0, 0])
    table = extreme_norms(faces, count=3).table
    assert table is not None
    chosen = {key: part["image"].tolist() for key, part in table.groupby(["extreme", "row"])}
    assert chosen == {
        ("highest", "ant"): [1, 4, 0],
        ("lowest", "ant"): [0, 3, 1],
        ("highest", "cow"): [2],
        ("lowest", "cow"): [2],
    }
