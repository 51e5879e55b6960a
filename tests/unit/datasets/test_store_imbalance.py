"""Class imbalance: the paper's totals, and a choice that depends on its key alone."""

from typing import Any

import numpy as np
import pytest

from hypersphere.config.run import Dataset, Imbalance
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError

LABELS = np.repeat(np.arange(5), 40)[np.random.default_rng(0).permutation(200)]


# Worked out by hand from int(head · ratio^-i), i from 0; the sums are "roughly 15K" in Sec. 6 of the norms paper.
@pytest.mark.parametrize(
    ("head", "ratio", "classes", "total", "first", "last", "few"),
    [
        (5000, 1.5, 10, 14_736, [5000, 3333, 2222], 130, 2),  # 5000 / 1.5^9 = 130.06
        (500, 1.034, 100, 14_620, [500, 483, 467], 18, 72),  # 500 / 1.034^99 = 18.26
        (500, 1.03365, 100, 14_750, [500, 483, 467], 18, 72),  # the authors' ratio
    ],
)
def test_n20_and_n21_counts_are_the_papers(
    head: int, ratio: float, classes: int, total: int, first: list[int], last: int, few: int
) -> None:
    """``few`` classes have fewer images than k = 200, the neighbours that kNN looks at."""
    counts = store.images_per_class(Imbalance(head=head, ratio=ratio), classes)
    assert (sum(counts), counts[:3], counts[-1], len(counts)) == (total, first, last, classes)
    assert sum(count < 200 for count in counts) == few


@pytest.mark.parametrize(("head", "ratio", "classes", "total"), [(5000, 1.5, 10, 9_826), (500, 1.034, 100, 14_186)])
def test_n21_i_from_one_would_not_give_the_totals(head: int, ratio: float, classes: int, total: int) -> None:
    """The other reading of the formula (control), before rounding."""
    assert int(sum(head * ratio**-i for i in range(1, classes + 1))) == total
    assert sum(store.images_per_class(Imbalance(head=head, ratio=ratio), classes)) > total


def test_each_class_keeps_its_count_of_its_own_images() -> None:
    kept = store.choose_images(LABELS, Imbalance(head=40, ratio=2), 5)
    assert np.bincount(LABELS[kept]).tolist() == [40, 20, 10, 5, 2]
    assert (np.diff(kept) > 0).all()
    assert kept.dtype == np.int64


def test_choice_depends_on_the_seed_and_on_nothing_drawn_before() -> None:
    spec = Imbalance(head=20, ratio=1.5)
    first = store.choose_images(LABELS, spec, 5)
    np.random.random(7)
    np.testing.assert_array_equal(first, store.choose_images(LABELS, spec, 5))
    other = store.choose_images(LABELS, Imbalance(head=20, ratio=1.5, seed=1), 5)
    assert not np.array_equal(first, other)


def test_one_class_does_not_disturb_another() -> None:
    """Class 0's images are chosen alike whatever the other labels are; a smaller head keeps a subset."""
    few = store.choose_images(LABELS, Imbalance(head=10, ratio=1), 5)
    merged = store.choose_images(np.minimum(LABELS, 1), Imbalance(head=10, ratio=1), 2)
    assert set(few[LABELS[few] == 0]) == set(merged[LABELS[merged] == 0])
    assert set(few) < set(store.choose_images(LABELS, Imbalance(head=20, ratio=1), 5))


@pytest.mark.parametrize(("head", "ratio", "classes"), [(40, 2, 5), (7, 1, 5), (30, 1.5, 3)])
def test_n21_the_authors_choice_is_the_first_images_of_each_class(head: int, ratio: float, classes: int) -> None:
    """Found here by walking through the images in order, as the norms paper's code does."""
    spec = Imbalance(head=head, ratio=ratio, keep="first")
    left = dict(enumerate(store.images_per_class(spec, classes)))
    expected = []
    for number, label in enumerate(LABELS.tolist()):
        if left.get(label, 0) > 0:
            left[label] -= 1
            expected.append(number)
    assert store.choose_images(LABELS, spec, classes).tolist() == expected
    drawn = store.choose_images(LABELS, Imbalance(head=head, ratio=ratio), classes)
    assert drawn.tolist() != expected  # control
    assert np.bincount(LABELS[drawn]).tolist() == np.bincount(LABELS[expected]).tolist()


def test_the_first_images_need_no_seed_and_the_drawn_ones_keep_their_name() -> None:
    """A dataset that says what is the default anyway has the folder that it had before there was a choice."""
    plain: dict[str, Any] = {"name": "lt", "source": {"name": "digits"}, "imbalance": {"head": 240, "ratio": 1.5}}
    said = {**plain, "imbalance": {"head": 240, "ratio": 1.5, "keep": "drawn"}}
    first = {**plain, "imbalance": {"head": 240, "ratio": 1.5, "keep": "first"}}
    folders = [Dataset.model_validate(one).folder for one in (plain, said, first)]
    assert folders[0] == folders[1] != folders[2]
    assert "keep" not in Dataset.model_validate(plain).model_dump(exclude_defaults=True)["imbalance"]
    with pytest.raises(ValueError, match="seed: nothing is drawn if the first images are kept"):
        Imbalance(head=1, ratio=1, keep="first", seed=1)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (Imbalance(head=41, ratio=1), "keep 41 images of class 0; it has 40"),
        (Imbalance(head=10, ratio=4), "keep 0 images of class 2; it has 40"),
    ],
)
def test_an_impossible_wish_is_a_sentence(spec: Imbalance, words: str) -> None:
    with pytest.raises(HypersphereError, match=words):
        store.choose_images(LABELS, spec, 5)
