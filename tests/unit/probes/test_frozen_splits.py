"""Probes are fitted on a set's own images for them, or on its training images, and always tested on its test images."""

from pathlib import Path

import numpy as np
import pytest
import torch

from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.probes.frozen import Frozen, Pixels, open_for_probes
from hypersphere.probes.linear import linear

SMALL = {"name": "multidigits", "scans": "digits", "side": 8, "canvas": 16, "train": 60, "test": 30}


def prepared(tmp_path: Path, source: dict[str, object]) -> Path:
    return store.prepare(Dataset.model_validate({"name": "any", "source": source}), tmp_path / "data", None)


def test_several_digits_are_probed_on_the_images_of_one(tmp_path: Path) -> None:
    folder = prepared(tmp_path, SMALL | {"count": 2})
    opened, plain = open_for_probes(folder), store.open(folder)
    assert opened.digest == plain.digest
    for name, expected in (("train", "probe"), ("probe", "probe"), ("test", "test")):
        found = opened.split(name)
        np.testing.assert_array_equal(found.images, plain.split(expected).images)
        np.testing.assert_array_equal(found.labels["class"], plain.split(expected).labels["class"])
    assert not np.array_equal(plain.split("train").images, plain.split("probe").images)
    ours, theirs = (linear(Frozen(Pixels(), None, data, torch.device("cpu"))) for data in (opened, plain))
    assert ours.values["linear_top1"] != theirs.values["linear_top1"]


@pytest.mark.parametrize(
    "source",
    [SMALL | {"second_side": 8}, {"name": "digits", "train_per_class": 6, "test_per_class": 3}],
    ids=["two sizes", "digits"],
)
def test_other_sets_are_probed_on_their_training_images(source: dict[str, object], tmp_path: Path) -> None:
    folder = prepared(tmp_path, source)
    opened, plain = open_for_probes(folder), store.open(folder)
    assert opened.split_names == ("test", "train")
    for name in opened.split_names:
        np.testing.assert_array_equal(opened.split(name).images, plain.split(name).images)
