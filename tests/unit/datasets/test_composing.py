"""Draws of a batch: each image's are its own, and their distributions are what they are called."""

from statistics import NormalDist

import numpy as np
import pytest

from hypersphere import prng
from hypersphere.datasets import composing
from hypersphere.datasets.composing import Draws
from hypersphere.errors import HypersphereError

MANY = np.arange(4000)


def draws(numbers: list[int], seed: int = 0, what: str = "test") -> Draws:
    return Draws(np.array(numbers, dtype=np.int64), seed, (what,))


def test_an_images_draws_are_its_own_in_any_piece_and_order() -> None:
    whole = draws([3, 8, 21]).uniform("noise", 2, 5)
    assert whole.shape == (3, 2, 5)
    np.testing.assert_array_equal(whole[1:], draws([8, 21]).uniform("noise", 2, 5))
    np.testing.assert_array_equal(whole[::-1], draws([21, 8, 3]).uniform("noise", 2, 5))
    np.testing.assert_array_equal(whole[0], prng.uniform((2, 5), 0, "test", "noise", 3))


def test_seed_purpose_and_name_each_give_other_draws() -> None:
    first = draws([1]).uniform("noise", 4)
    others = (
        draws([1], seed=1).uniform("noise", 4),
        draws([1], what="other").uniform("noise", 4),
        draws([1]).uniform("salt", 4),
        draws([1]).named("more").uniform("noise", 4),
        draws([2]).uniform("noise", 4),
    )
    for other in others:
        assert not np.isin(first, other).any()


def test_normal_draws_are_the_quantiles_of_the_uniform_ones() -> None:
    """The standard library's inverse distribution function is an independent implementation."""
    uniform, normal = draws([5]).uniform("noise", 50), draws([5]).normal("noise", 50)
    expected = [NormalDist().inv_cdf(u + 2.0**-54) for u in uniform[0]]
    np.testing.assert_allclose(normal[0], expected, rtol=1e-12, atol=1e-12)


def test_whole_numbers_and_intervals_stay_within_their_ends() -> None:
    """Each of five numbers a fifth of the time, up to five standard errors of 4,000 draws."""
    many = Draws(MANY, 0, ("test",))
    counts = np.bincount(many.below("place", 5).astype(int), minlength=5)
    assert len(counts) == 5
    assert np.abs(counts / 4000 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 4000)
    between = many.between("angle", -45, 45)
    assert -45 <= between.min() < -44
    assert 44 < between.max() < 45


def test_no_images_no_draws() -> None:
    assert draws([]).normal("noise", 3, 2).shape == (0, 3, 2)


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
    bias = composing.assign(LABELS, 10, percent, 0, "train")
    conflicting = bias != LABELS
    assert tuple(np.bincount(LABELS[conflicting], minlength=10)) == counts
    table = np.zeros((10, 10), int)
    np.add.at(table, (LABELS[conflicting], bias[conflicting]), 1)
    for label, row in enumerate(table):
        others = np.delete(row, label)
        assert row[label] == 0
        assert others.max() - others.min() <= 1


def test_in_the_test_split_colours_say_nothing() -> None:
    bias = composing.assign(LABELS, 10, 0.5, 0, "test")
    for label in range(10):
        counts = np.bincount(bias[label == LABELS], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_more_conflicts_keep_the_fewer_and_other_seeds_choose_others() -> None:
    few, more, other = (
        composing.assign(LABELS, 10, percent, seed, "train") for percent, seed in ((1, 0), (5, 0), (1, 1))
    )
    where = few != LABELS
    np.testing.assert_array_equal(few[where], more[where])
    assert (where & (other != LABELS)).sum() < where.sum() / 2


def test_one_class_does_not_disturb_another() -> None:
    fewer = composing.assign(LABELS[LABELS == 3], 10, 5, 0, "train")
    np.testing.assert_array_equal(fewer, composing.assign(LABELS, 10, 5, 0, "train")[LABELS == 3])


def test_more_than_all_is_a_sentence() -> None:
    composing.assign(LABELS, 10, 100, 0, "train")
    with pytest.raises(HypersphereError, match=r"^conflicting_percent: must be at most 100 \(given: 100\.5\)$"):
        composing.assign(LABELS, 10, 100.5, 0, "train")
