"""Classification's cross-entropy against a loop over its formula, its gradient, and cases by hand."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.self_distillation import self_distillation

from .shared import draw, is_finite, softmax

LABELS = torch.tensor([2, 0, 3, 3, 1])


def data(dtype: torch.dtype = torch.float64) -> Tensor:
    """Four scores of five images."""
    return draw(5, 4, dtype=dtype)[0]


def test_is_the_mean_negative_log_softmax_at_the_label() -> None:
    expected = [-math.log(softmax(row)[y]) for row, y in zip(data().tolist(), LABELS.tolist(), strict=True)]
    assert cross_entropy(data(), LABELS).item() == pytest.approx(sum(expected) / 5, rel=1e-12)


def test_gradient_is_softmax_less_the_label() -> None:
    """(softmax(s) - onehot(y)) / n."""
    scores = data().requires_grad_()
    (gradient,) = torch.autograd.grad(cross_entropy(scores, LABELS), scores)
    p = torch.tensor([softmax(row) for row in scores.tolist()], dtype=torch.float64)
    torch.testing.assert_close(gradient, (p - torch.eye(4, dtype=torch.float64)[LABELS]) / 5)


def test_symmetries_of_classes_and_scale_matters() -> None:
    scores, value = data(), cross_entropy(data(), LABELS)
    classes = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(cross_entropy(scores[:, classes], classes.argsort()[LABELS]), value)
    torch.testing.assert_close(cross_entropy(scores + torch.arange(5.0)[:, None], LABELS), value)
    assert abs(cross_entropy(scores[:, classes], LABELS) - value) > 1e-2  # control: each class has its own score
    assert abs(cross_entropy(F.normalize(scores), LABELS) - value) > 1e-2  # control: scale matters, unlike in a cosine


@pytest.mark.parametrize("k", [2, 5])
def test_uniform_and_certain_by_hand(k: int) -> None:
    """Equal scores cost log k. A gap g in the label's favour costs log(1 + (k-1) e^-g), and against it g more."""
    scores, gap = torch.zeros(1, k, dtype=torch.float64), 3.0
    assert cross_entropy(scores, torch.tensor([1])).item() == pytest.approx(math.log(k), abs=1e-12)
    scores[0, 1] = gap
    rest = math.log1p((k - 1) * math.exp(-gap))
    assert cross_entropy(scores, torch.tensor([1])).item() == pytest.approx(rest, abs=1e-12)
    assert cross_entropy(scores, torch.tensor([0])).item() == pytest.approx(gap + rest, abs=1e-12)


def test_is_self_distillation_with_a_teacher_that_knows_the_label() -> None:
    """Nearest relative: equal when the teacher is certain, and another number when it is not."""
    teacher = torch.eye(4, dtype=torch.float64)[LABELS]
    distilled = partial(self_distillation, data(), teacher, torch.zeros(4).double(), student_temperature=1.0)
    torch.testing.assert_close(distilled(teacher_temperature=1e-3), cross_entropy(data(), LABELS))
    assert abs(distilled(teacher_temperature=1.0) - cross_entropy(data(), LABELS)) > 1e-2


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_labels_of_any_integer_type(dtype: torch.dtype) -> None:
    assert torch.equal(cross_entropy(data(), LABELS.to(dtype)), cross_entropy(data(), LABELS))


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_scores_whose_exponentials_are_infinite_are_finite(scale: float) -> None:
    """The loss is then the largest gap itself: scale times that of the scores."""
    value = is_finite(lambda s: cross_entropy(s, LABELS), scale * data(torch.float32))
    gaps = data().max(dim=1).values - data()[torch.arange(5), LABELS]
    assert value.item() == pytest.approx(scale * gaps.mean().item(), rel=1e-4)
