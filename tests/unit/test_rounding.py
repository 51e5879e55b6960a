"""Products that are whole on paper are whole after rounding; their floors are compared with exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from hypersphere.config.run import Imbalance
from hypersphere.datasets import composing, store
from hypersphere.objectives import hard_contrastive
from hypersphere.rounding import settle


@pytest.mark.parametrize(
    ("head", "ratio", "classes"),
    [
        (729, 3.0, 8),  # 3^6: the last but one class keeps one image
        (3**9, 3.0, 10),
        (5**6, 5.0, 7),
        (7**5, 7.0, 6),
        (1000, 10.0, 4),
        (1331, 1.1, 4),
        (1728, 1.2, 4),
        (5000, 1.5, 10),  # norms paper
        (500, 1.034, 100),
    ],
)
def test_images_of_a_class_are_counted_exactly(head: int, ratio: float, classes: int) -> None:
    exact = [math.floor(head / Fraction(str(ratio)) ** i) for i in range(classes)]
    assert store.images_per_class(Imbalance(head=head, ratio=ratio), classes) == exact


def test_a_ratio_that_is_a_root_reaches_the_whole_number_it_was_made_for() -> None:
    """The usual long tail: 5,000 images to 50 in ten classes, of ratio 100^(1/9)."""
    assert store.images_per_class(Imbalance(head=5000, ratio=100 ** (1 / 9)), 10)[-1] == 50


@pytest.mark.parametrize(
    ("images", "percent"),
    [(5500, 0.7), (5000, 0.5), (500, 1.1), (450, 0.2), (50, 29.0), (10, 5.0), (10, 15.0)],
)
def test_conflicting_images_are_counted_exactly(images: int, percent: float) -> None:
    """Of each class round(n · percent / 100), halves up: 0.7 % of 5,500 is 38.5, or a little less in binary."""
    labels = np.repeat(np.arange(2), images)
    bias = composing.assign(labels, 2, percent, 0, "train")
    exact = math.floor(images * Fraction(str(percent)) / 100 + Fraction(1, 2))
    assert [int((bias[labels == label] != label).sum()) for label in (0, 1)] == [exact, exact]


@pytest.mark.parametrize(
    ("images", "share"), [(26, 0.14), (26, 0.28), (51, 0.07), (51, 0.55), (6, 0.1), (6, 0.3)]
)
def test_hard_negatives_are_counted_exactly(images: int, share: float) -> None:
    """Orthogonal embeddings, each its own positive: log(1 + k e^(-1/t)) with k = ceil(share · (2n - 2)) negatives."""
    z, count = (
        torch.eye(images, dtype=torch.float64),
        math.ceil(Fraction(str(share)) * (2 * images - 2)),
    )
    loss = hard_contrastive(z, z, temperature=0.5, share=share)
    assert loss.item() == pytest.approx(math.log1p(count * math.exp(-2)), rel=1e-12)


@pytest.mark.parametrize("product", [0.9999999, 38.49999, 6.999999, 0.00000001])
def test_what_is_not_whole_keeps_its_floor(product: float) -> None:
    assert math.floor(settle(product)) == math.floor(product)
