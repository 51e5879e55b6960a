"""Corrupted images: each has the corruption of its bias, and few conflict with their class."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import corrupted_cifar as module
from hypersphere.datasets import store
from hypersphere.datasets.corrupted_cifar import corrupted_cifar
from hypersphere.datasets.corrupting.apply import FUNCTIONS, corrupt
from hypersphere.datasets.digits import digits

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "train_per_class": 20, "test_per_class": 10, "conflicting_percent": 10}


@pytest.mark.parametrize("type", [0, 1])
def test_each_image_has_the_corruption_of_its_bias(type: Any) -> None:
    found = corrupted_cifar(NOWHERE, type=type, **FEW)
    store.check(found, "datasets/corrupted_cifar")
    clean = digits(NOWHERE, train_per_class=20, test_per_class=10)
    names = found.class_names["bias"]
    assert names == module.TYPES[type]
    for part, n in (("train", 200), ("test", 100)):
        split = found.splits[part]
        images = split.images[np.arange(n)]
        for i in range(n):
            name, plain = names[split.labels["bias"][i]], clean.splits[part].images[i : i + 1]
            expected = plain if name == "original" else corrupt(plain, name, 5, np.array([i]), 0, part)
            np.testing.assert_array_equal(images[i], expected[0])


def test_the_two_lists_are_corruptions_or_none() -> None:
    assert {len(names) for names in module.TYPES.values()} == {10}
    both = [*module.TYPES[0], *module.TYPES[1]]
    assert set(both) == {*FUNCTIONS, "original"}
    assert len(set(both)) == 20
