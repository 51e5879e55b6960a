"""Norms in units of those of the images trained on."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from hypersphere.probes.relative_norms import relative_norms
from hypersphere.probes.result import NotFiniteError


def world(own: list[float], other: list[float]) -> Any:
    """An encoder trained on images of the norms ``own``, asked about images of the norms ``other``."""

    def at(norms: list[float], home: Any) -> Any:
        vectors = {"train": torch.tensor([[norm, 0.0] for norm in norms], dtype=torch.float64)}
        vectors["test"] = 2 * vectors["train"]
        place = SimpleNamespace(embeddings=vectors.__getitem__, splits=("test", "train"))
        place.home = home or place
        return place

    return at(other, at(own, None))


def test_the_unit_is_the_mean_of_the_images_trained_on() -> None:
    """By hand: norms 1 and 3 have the mean 2."""
    elsewhere = world([1.0, 3.0], [4.0, 2.0, 0.0])
    found = relative_norms(elsewhere.home)
    assert found.values == {"relative_norm;split=test": 2.0, "relative_norm;split=train": 1.0}
    found = relative_norms(elsewhere)
    assert found.values == {"relative_norm;split=test": 2.0, "relative_norm;split=train": 1.0}
    assert found.table is not None
    rows = list(found.table.itertuples(index=False, name=None))
    assert rows == [
        *(("test", image, norm) for image, norm in enumerate((4.0, 2.0, 0.0))),
        *(("train", image, norm) for image, norm in enumerate((2.0, 1.0, 0.0))),
    ]
    assert found.n == 3


def test_zero_embeddings_have_no_unit() -> None:
    with pytest.raises(NotFiniteError, match="of all training images are zero"):
        relative_norms(world([0.0, 0.0], [1.0]))
