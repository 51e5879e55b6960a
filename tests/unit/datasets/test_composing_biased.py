"""Which images conflict: exactly as many as declared, spread evenly, and the same ones whatever else is asked for."""

import numpy as np
import pytest

from hypersphere.datasets import composing as biased
from hypersphere.errors import HypersphereError

# As many of each class as MNIST's training set has, from its description.
MNIST = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
LABELS = np.repeat(np.arange(10), MNIST)[np.random.default_rng(0).permutation(60_000)]


@pytest.mark.parametrize(
    ("percent", "counts"),
    [  # by hand: n · percent / 100, rounded
        (0.5, (30, 34, 30, 31, 29, 27, 30, 31, 29, 30)),
        (5, (296, 337, 298, 307, 292, 271, 296, 313, 293, 297)),
    ],
)
def test_of_each_class_the_declared_share_conflicts(percent: float, counts: tuple[int, ...]) -> None:
    bias = biased.assign(LABELS, 10, percent, 0, "train")
    conflicting = bias != LABELS
    assert tuple(np.bincount(LABELS[conflicting], minlength=10)) == counts
    table = np.zeros((10, 10), int)
    np.add.at(table, (LABELS[conflicting], bias[conflicting]), 1)
    for label, row in enumerate(table):
        others = np.delete(row, label)
        assert row[label] == 0
        assert others.max() - others.min() <= 1


def test_in_the_test_split_colours_say_nothing() -> None:
    bias = biased.assign(LABELS, 10, 0.5, 0, "test")
    for label in range(10):
        counts = np.bincount(bias[label == LABELS], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_more_conflicts_keep_the_fewer_and_other_seeds_choose_others() -> None:
    few, more, other = (biased.assign(LABELS, 10, percent, seed, "train") for percent, seed in ((1, 0), (5, 0), (1, 1)))
    where = few != LABELS
    np.testing.assert_array_equal(few[where], more[where])
    assert (where & (other != LABELS)).sum() < where.sum() / 2


def test_one_class_does_not_disturb_another() -> None:
    fewer = biased.assign(LABELS[LABELS == 3], 10, 5, 0, "train")
    np.testing.assert_array_equal(fewer, biased.assign(LABELS, 10, 5, 0, "train")[LABELS == 3])


def test_more_than_all_is_a_sentence() -> None:
    biased.assign(LABELS, 10, 100, 0, "train")
    with pytest.raises(HypersphereError, match=r"^conflicting_percent: must be at most 100 \(given: 100\.5\)$"):
        biased.assign(LABELS, 10, 100.5, 0, "train")
