"""N-pair-mc, against the slide's log(1 + sum of exponentials) over pairs and against the (N+1)-tuple loss."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss
from torch import Tensor

from hypersphere.objectives.n_pair import n_pair
from hypersphere.objectives.tuplet import tuplet

from .shared import (
    cosine,
    dot,
    draw,
)


def tuple_loss(anchor: list[float], positive: list[float], negatives: list[list[float]]) -> float:
    """(N+1)-tuple loss of the slide before: log(1 + sum of exp(f·f_i - f·f+))."""
    return math.log1p(sum(math.exp(dot(anchor, x) - dot(anchor, positive)) for x in negatives))


def oracle(z_a: Tensor, z_b: Tensor) -> float:
    """Mean over N of the tuple losses whose negatives are the other pairs' positives."""
    positives = z_b.tolist()
    losses = [tuple_loss(f, positives[i], positives[:i] + positives[i + 1 :]) for i, f in enumerate(z_a.tolist())]
    return sum(losses) / len(losses)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 3), (5, 4), (7, 2)])
def test_is_the_slides_formula(n: int, d: int) -> None:
    z_a, z_b = draw(n, d, scale=1)
    assert n_pair(z_a, z_b).item() == pytest.approx(oracle(z_a, z_b), rel=1e-12, abs=1e-12)


def test_only_products_and_their_differences_matter() -> None:
    z_a, z_b = draw(6, 4, scale=1)
    loss = n_pair(z_a, z_b)
    torch.testing.assert_close(n_pair(3 * z_a, z_b / 3), loss)
    torch.testing.assert_close(n_pair(z_a, z_b + 7), loss)  # a vector added to every candidate cancels
    assert abs(n_pair(2 * z_a, z_b) - loss) > 1e-2  # control: nothing is normalised


@pytest.mark.parametrize(("n", "norm"), [(1, 1.0), (2, 1.0), (4, 2.0)])
def test_orthogonal_pairs_by_hand(n: int, norm: float) -> None:
    """Pairs on n axes: own product r², others 0, so log(1 + (n-1) exp(-r²))."""
    z = norm * torch.eye(n, dtype=torch.float64)
    assert n_pair(z, z).item() == pytest.approx(math.log1p((n - 1) * math.exp(-(norm**2))), abs=1e-12)


def test_differs_from_its_normalised_relative_and_meets_it_on_the_sphere() -> None:
    """MoCo v3's loss at temperature 1 has cosines in place of inner products."""
    z_a, z_b = draw(5, 4, scale=2)

    def relative(a: Tensor, b: Tensor) -> float:
        keys = b.tolist()
        rows = [[math.exp(cosine(f, k)) for k in keys] for f in a.tolist()]
        return sum(-math.log(row[i] / sum(row)) for i, row in enumerate(rows)) / len(rows)

    assert abs(n_pair(z_a, z_b).item() - relative(z_a, z_b)) > 0.1
    on_sphere = [torch.nn.functional.normalize(z, dim=1) for z in (z_a, z_b)]
    assert n_pair(*on_sphere).item() == pytest.approx(relative(z_a, z_b), abs=1e-12)


def test_is_the_tuplet_loss_of_classes_all_different() -> None:
    """Where it provably coincides, and not where two pairs are of one class."""
    z_a, z_b = draw(5, 4, scale=1)
    torch.testing.assert_close(n_pair(z_a, z_b), tuplet(z_a, z_b, torch.arange(5), normalise=False))
    assert n_pair(z_a, z_b) > tuplet(z_a, z_b, torch.tensor([0, 1, 2, 1, 0]), normalise=False) + 1e-2


def test_agrees_with_pytorch_metric_learning() -> None:
    """NPairsLoss takes one batch with labels, and the first pair of each: the views after each other. By default its
    DotProductSimilarity normalises, so that it is then a loss of cosines."""
    z_a, z_b = draw(5, 4, scale=1)
    batch = torch.cat([z_a, z_b]), torch.arange(5).repeat(2)
    theirs = NPairsLoss(distance=DotProductSimilarity(normalize_embeddings=False))
    torch.testing.assert_close(n_pair(z_a, z_b), theirs(*batch))
    assert abs(NPairsLoss()(*batch) - theirs(*batch)) > 0.1
