"""Corrupted images: each has the corruption of its bias, and few conflict with their class."""

from pathlib import Path
from typing import Any

import numpy as np

from hypersphere.datasets import store
from hypersphere.datasets.corrupted_cifar import CORRUPTIONS, corrupted_cifar
from hypersphere.datasets.corrupting.apply import FUNCTIONS, corrupt
from hypersphere.datasets.digits import digits

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "train_per_class": 20, "test_per_class": 10, "conflicting_percent": 10}


def test_each_image_has_the_corruption_of_its_bias() -> None:
    found = corrupted_cifar(NOWHERE, **FEW)
    store.check(found, "datasets/corrupted_cifar")
    clean = digits(NOWHERE, train_per_class=20, test_per_class=10)
    names = found.class_names["bias"]
    assert names == CORRUPTIONS
    assert len({*names} & {*FUNCTIONS}) == 10
    for part, n in (("train", 200), ("test", 100)):
        split = found.splits[part]
        images = split.images[np.arange(n)]
        for i in range(n):
            name, plain = names[split.labels["bias"][i]], clean.splits[part].images[i : i + 1]
            np.testing.assert_array_equal(images[i], corrupt(plain, name, 5, np.array([i]), 0, part)[0])
