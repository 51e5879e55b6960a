"""The (n+1)-tuplet loss (LMCL paper, Eq. 2), against Sohn's sum of exponentials over rows of other classes."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import CosineSimilarity, DotProductSimilarity
from pytorch_metric_learning.losses import NTXentLoss
from torch import Tensor

from hypersphere.objectives.n_pair import n_pair
from hypersphere.objectives.supervised_contrastive import supervised_contrastive
from hypersphere.objectives.tuplet import tuplet

from .shared import (
    cosine,
    draw,
    value_and_gradients,
)

NORMALISE = pytest.mark.parametrize("normalise", [True, False])
LABELS = {1: [0], 2: [0, 1], 5: [0, 1, 0, 2, 1], 7: [3, 3, 1, 1, 1, 0, 3]}


def small(n: int, d: int) -> tuple[Tensor, Tensor, Tensor]:
    """Norms of about 1, so that inner products differ from cosines but do not saturate."""
    z_a, z_b = draw(n, d)
    return z_a / 3, z_b / 3, torch.tensor(LABELS.get(n, list(range(n))))


def oracle(z_a: Tensor, z_b: Tensor, labels: Tensor, normalise: bool) -> float:
    """log(1 + sum over negatives of exp(f·f- - f·f+)), which is Sohn's form, mean over anchors."""
    a, b, y = z_a.tolist(), z_b.tolist(), labels.tolist()

    def product(u: list[float], v: list[float]) -> float:
        return cosine(u, v) * (1 if normalise else math.hypot(*u) * math.hypot(*v))

    losses = []
    for i, f in enumerate(a):
        negatives = [product(f, b[j]) for j in range(len(b)) if y[j] != y[i]]
        losses.append(math.log1p(sum(math.exp(x - product(f, b[i])) for x in negatives)))
    return sum(losses) / len(losses)


@NORMALISE
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 3), (5, 4), (7, 2)])
def test_is_equation_2(n: int, d: int, normalise: bool) -> None:
    z_a, z_b, labels = small(n, d)
    expected = oracle(z_a, z_b, labels, normalise)
    assert tuplet(z_a, z_b, labels, normalise=normalise).item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_papers_form_and_sohns_are_one_number() -> None:
    """-log(e^p / (e^p + sum of e^q)) = log(1 + sum of e^(q - p))."""
    p, q = 0.3, [-0.5, 0.9, 0.1]
    printed = -math.log(math.exp(p) / (math.exp(p) + sum(map(math.exp, q))))
    assert printed == pytest.approx(math.log1p(sum(math.exp(x - p) for x in q)), rel=1e-14)


def test_labels_have_no_names_but_matter() -> None:
    z_a, z_b, labels = small(5, 4)
    torch.testing.assert_close(tuplet(z_a, z_b, 7 - 2 * labels), tuplet(z_a, z_b, labels))
    assert abs(tuplet(z_a, z_b, labels.flip(0)) - tuplet(z_a, z_b, labels)) > 1e-3


def test_classes_on_axes_by_hand() -> None:
    """Two rows of each of three classes, one axis per class: four negatives at cosine 0, log(1 + 4/e)."""
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    z = torch.eye(3, dtype=torch.float64)[labels]
    assert tuplet(z, z, labels).item() == pytest.approx(math.log1p(4 / math.e), abs=1e-12)


def test_one_class_has_no_negatives_and_costs_nothing() -> None:
    z_a, z_b, _ = small(5, 4)
    value, gradients = value_and_gradients(lambda a, b: tuplet(a, b, torch.zeros(5, dtype=torch.long)), z_a, z_b)
    assert value == 0
    assert gradients.abs().max() == 0


def test_with_labels_all_different_it_is_n_pair_and_otherwise_is_not() -> None:
    z_a, z_b, labels = small(5, 4)
    distinct = torch.arange(5)
    torch.testing.assert_close(
        value_and_gradients(lambda a, b: tuplet(a, b, distinct, normalise=False), z_a, z_b),
        value_and_gradients(n_pair, z_a, z_b),
    )
    assert abs(tuplet(z_a, z_b, labels, normalise=False) - n_pair(z_a, z_b)) > 1e-2
    assert abs(tuplet(z_a, z_b, distinct) - n_pair(z_a, z_b)) > 1e-2


def test_differs_from_supervised_contrast() -> None:
    """Which pulls all rows of a class together, has negatives of both views, and positives in the denominator."""
    z_a, z_b, labels = small(5, 4)
    assert abs(tuplet(z_a, z_b, labels) - supervised_contrastive(z_a, z_b, labels, temperature=1.0)) > 0.1


@NORMALISE
def test_agrees_with_pytorch_metric_learning(normalise: bool) -> None:
    """NTXentLoss at temperature 1, with the pairs given as indices: left to itself it makes every row of a class a
    positive."""
    z_a, z_b, labels = small(5, 4)
    anchor, other = (labels[:, None] != labels[None]).nonzero(as_tuple=True)
    distance = CosineSimilarity() if normalise else DotProductSimilarity(normalize_embeddings=False)
    theirs = NTXentLoss(temperature=1, distance=distance)
    indices = torch.arange(5), torch.arange(5), anchor, other
    agreed = theirs(z_a, indices_tuple=indices, ref_emb=z_b)
    torch.testing.assert_close(tuplet(z_a, z_b, labels, normalise=normalise), agreed)
    assert abs(theirs(z_a, labels, ref_emb=z_b, ref_labels=labels.clone()) - agreed) > 1e-2
