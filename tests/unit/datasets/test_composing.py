"""Draws of a batch, each image's its own, and the biased sets made of them: coloured digits, corrupted images."""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from hypersphere import prng
from hypersphere.datasets import colored_mnist as coloured
from hypersphere.datasets import composing
from hypersphere.datasets import corrupted_cifar as corrupted
from hypersphere.datasets.colored_mnist import colored_mnist
from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupted_cifar import corrupted_cifar
from hypersphere.datasets.corrupting import corrupt
from hypersphere.datasets.digits import digits

NOWHERE = Path("/nonexistent")


def test_an_images_draws_are_its_own_whatever_others_are_asked_for() -> None:
    """They are keyed by seed, purposes, what is drawn, and the image's number."""
    drawn = Draws(np.array([21, 3, 8]), 7, ("test",)).named("more").uniform("noise", 2, 5)
    for image, number in zip(drawn, (21, 3, 8), strict=True):
        np.testing.assert_array_equal(
            image, prng.uniform((2, 5), 7, "test", "more", "noise", number)
        )


def test_normal_draws_are_the_quantiles_of_the_uniform_ones() -> None:
    """The standard library's inverse distribution function is an independent implementation."""
    draws = Draws(np.array([5]), 0, ("test",))
    uniform, normal = draws.uniform("noise", 50), draws.normal("noise", 50)
    expected = [NormalDist().inv_cdf(u + 2.0**-54) for u in uniform[0]]
    np.testing.assert_allclose(normal[0], expected, rtol=1e-12, atol=1e-12)


def test_whole_numbers_and_intervals_stay_within_their_ends() -> None:
    """Each of five numbers a fifth of the time, up to five standard errors of 4,000 draws."""
    many = Draws(np.arange(4000), 0, ("test",))
    counts = np.bincount(many.below("place", 5).astype(int), minlength=5)
    assert len(counts) == 5
    assert np.abs(counts / 4000 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 4000)
    between = many.between("angle", -45, 45)
    assert -45 <= between.min() < -44
    assert 44 < between.max() < 45


# As many of each class as MNIST's training set has, from its description.
MNIST = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
LABELS = np.repeat(np.arange(10), MNIST)[np.random.default_rng(0).permutation(60_000)]


@pytest.mark.parametrize("percent", [0.5, 5])
def test_of_each_class_the_declared_share_conflicts_and_in_the_test_split_each_bias_is_as_often(
    percent: float,
) -> None:
    bias = composing.assign(LABELS, 10, percent, 0, "train")
    conflicting = bias != LABELS
    assert np.bincount(LABELS[conflicting], minlength=10).tolist() == [
        round(n * percent / 100) for n in MNIST
    ]
    table = np.zeros((10, 10), int)
    np.add.at(table, (LABELS[conflicting], bias[conflicting]), 1)
    for label, row in enumerate(table):
        others = np.delete(row, label)
        assert row[label] == 0
        assert others.max() - others.min() <= 1
    table[:] = 0
    np.add.at(table, (LABELS, composing.assign(LABELS, 10, percent, 0, "test")), 1)
    assert (np.ptp(table, axis=1) <= 1).all()


def test_more_conflicts_keep_the_fewer_other_seeds_choose_others_and_no_class_disturbs_another() -> (
    None
):
    few, more, other = (
        composing.assign(LABELS, 10, percent, seed, "train")
        for percent, seed in ((1, 0), (5, 0), (1, 1))
    )
    where = few != LABELS
    np.testing.assert_array_equal(few[where], more[where])
    assert (where & (other != LABELS)).sum() < where.sum() / 2
    alone = composing.assign(LABELS[LABELS == 3], 10, 5, 0, "train")
    np.testing.assert_array_equal(alone, more[LABELS == 3])


def test_each_pixel_is_its_ink_times_one_colour() -> None:
    """The grey digits are those of `digits`; each image's colour is near the mean one of its bias."""
    few = {"train_per_class": 40, "test_per_class": 20}
    found = colored_mnist(NOWHERE, base="digits", conflicting_percent=10, **few)
    for name, grey in digits(NOWHERE, **few).splits.items():
        split, numbers = found.splits[name], np.arange(len(grey.images))
        assert split.labels["class"].tolist() == grey.labels["class"].tolist()
        conflicting = split.labels["class"] != split.labels["bias"]
        assert split.attributes["conflicting"].tolist() == conflicting.tolist()
        assert conflicting.sum() == {"train": 40, "test": 180}[name]
        off = 0.005 * Draws(numbers, 0, ("colored_mnist", name)).normal("colour", 3)
        colours = np.clip(coloured.COLOURS[split.labels["bias"]] + off, 0, 1)
        np.testing.assert_array_equal(
            split.images[numbers], np.floor(grey.images * colours[:, None, None])
        )


def test_each_image_has_the_corruption_of_its_bias() -> None:
    few = {"train_per_class": 20, "test_per_class": 10}
    found, clean = (
        corrupted_cifar(NOWHERE, base="digits", conflicting_percent=10, **few),
        digits(NOWHERE, **few),
    )
    names = found.class_names["bias"]
    assert names == corrupted.CORRUPTIONS
    for part, split in found.splits.items():
        for i, image in enumerate(split.images[np.arange(len(split.images))]):
            name, plain = names[split.labels["bias"][i]], clean.splits[part].images[i : i + 1]
            np.testing.assert_array_equal(image, corrupt(plain, np.array([i]), name, 5, 0, part)[0])
