"""Coloured digits: the ink is the scan, the colour is the bias, and few conflict."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets import colored_mnist as module
from hypersphere.datasets import store
from hypersphere.datasets.colored_mnist import colored_mnist
from hypersphere.datasets.digits import digits

NOWHERE = Path("/nonexistent")
FEW: dict[str, Any] = {"base": "digits", "train_per_class": 40, "test_per_class": 20}


def test_each_pixel_is_its_ink_times_one_colour() -> None:
    """The grey digits are those of `digits`; the colour is near the mean one of the bias: noise of strength 4."""
    found = colored_mnist(NOWHERE, conflicting_percent=10, **FEW)
    store.check(found, "datasets/colored_mnist")
    grey = digits(NOWHERE, train_per_class=40, test_per_class=20)
    for name, n in (("train", 400), ("test", 200)):
        split = found.splits[name]
        images, ink = split.images[np.arange(n)], grey.splits[name].images[..., 0] / 255
        assert split.labels["class"].tolist() == grey.splits[name].labels["class"].tolist()
        bright = ink.reshape(n, -1).argmax(axis=1)
        shown = images.reshape(n, -1, 3)[np.arange(n), bright] / ink.reshape(n, -1).max(axis=1)[:, None] / 255
        assert np.abs(shown - module.COLOURS[split.labels["bias"]]).max() < 5 * 0.005 + 2 / 255
        assert np.abs(images - 255 * ink[..., None] * shown[:, None, None]).max() < 2.1


def test_as_many_conflict_as_declared() -> None:
    """4 of 40 of each digit; in the test split each digit has each colour twice."""
    found = colored_mnist(NOWHERE, conflicting_percent=10, **FEW)
    train, test = found.splits["train"], found.splits["test"]
    conflicting = train.attributes["conflicting"]
    np.testing.assert_array_equal(conflicting, train.labels["class"] != train.labels["bias"])
    assert np.bincount(train.labels["class"][conflicting]).tolist() == [4] * 10
    pairs = np.unique(np.stack([test.labels["class"], test.labels["bias"]]), axis=1, return_counts=True)[1]
    assert pairs.tolist() == [2] * 100
    assert found.class_names["bias"][0] == "orange"


def test_noise_spreads_the_colours_of_one_class() -> None:
    """Of 0.05 and of 0.002, by the ratio of 25 up to sampling and whole numbers."""
    spreads = []
    for noise in (1, 5):
        train = colored_mnist(NOWHERE, conflicting_percent=1, noise=noise, **FEW).splits["train"]
        ones = np.flatnonzero((train.labels["class"] == 4) & (train.labels["bias"] == 4))
        colour = train.images[ones].reshape(len(ones), -1, 3).max(axis=1) / 255
        spreads.append(colour[:, 1].std())
    assert spreads[0] == pytest.approx(0.05, rel=0.4)
    assert spreads[1] < 0.005
