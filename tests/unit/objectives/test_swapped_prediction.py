"""SwAV's swapped prediction (Caron et al. 2020, Eq. 1-2), against loops, lightly, and cases by hand."""

import importlib
import math
import os

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.sinkhorn import codes
from hypersphere.objectives.swapped_prediction import swapped_prediction

from .shared import (
    balanced,
    has_gradient_of_value,
    is_finite,
    scores,
    value_and_gradients,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"
from lightly.loss import SwaVLoss


def oracle(scores_a: Tensor, scores_b: Tensor, t: float, epsilon: float, iterations: int) -> float:
    """Eq. 1's two terms, each the mean over images, halved."""
    views = scores_a.tolist(), scores_b.tolist()
    total = 0.0
    for predicting, coded in (views, views[::-1]):
        q = balanced(coded, epsilon, iterations)
        for row, code in zip(predicting, q, strict=True):
            z = sum(math.exp(x / t) for x in row)
            total -= sum(c * math.log(math.exp(x / t) / z) for c, x in zip(code, row, strict=True))
    return total / (2 * len(views[0]))


@pytest.mark.parametrize(("n", "k"), [(1, 2), (4, 4), (7, 3)])
@pytest.mark.parametrize(("t", "epsilon", "iterations"), [(0.1, 0.05, 3), (0.5, 0.2, 1), (1.0, 0.05, 10)])
def test_is_equations_1_and_2(n: int, k: int, t: float, epsilon: float, iterations: int) -> None:
    a, b = scores(n, k)
    loss = swapped_prediction(a, b, temperature=t, epsilon=epsilon, iterations=iterations)
    assert loss.item() == pytest.approx(oracle(a, b, t, epsilon, iterations), rel=1e-12)


def test_agrees_with_lightly() -> None:
    """Two crops of high resolution and no queue; lightly, too, averages Eq. 1's two terms. Defaults are the same."""
    a, b = scores(6, 5)
    ours = value_and_gradients(swapped_prediction, a, b)
    theirs = value_and_gradients(lambda x, y: SwaVLoss()([x, y], []).squeeze(), a, b)
    torch.testing.assert_close(ours, theirs)


def test_gradient_is_that_of_the_value_at_constant_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = scores(4, 3)
    constant = {id_: codes(x, 0.05, 3) for id_, x in (("a", a), ("b", b))}
    order = iter(["b", "a"] * 1000)
    module = importlib.import_module("hypersphere.objectives.swapped_prediction")
    monkeypatch.setattr(module, "codes", lambda *_: constant[next(order)])
    has_gradient_of_value(lambda x, y: swapped_prediction(x, y, temperature=0.5), a, b)


def test_gradient_is_prediction_minus_code() -> None:
    """By hand: d/ds of -q·log softmax(s/t) is (softmax(s/t) - q)/t for each of 2n predictions; codes pass nothing."""
    a, b = scores(5, 4)
    _, gradients = value_and_gradients(lambda x, y: swapped_prediction(x, y, temperature=0.3), a, b)
    p, q = (torch.cat([a, b]) / 0.3).softmax(dim=1), torch.cat([codes(b, 0.05, 3), codes(a, 0.05, 3)])
    torch.testing.assert_close(gradients, (p - q) / 0.3 / 10)


def test_prototypes_have_no_order_but_names() -> None:
    a, b = scores(5, 4)
    columns = torch.tensor([2, 0, 3, 1])
    loss = swapped_prediction(a, b)
    torch.testing.assert_close(swapped_prediction(a[:, columns], b[:, columns]), loss)
    assert abs(swapped_prediction(a[:, columns], b) - loss) > 0.1  # control


@pytest.mark.parametrize("k", [2, 5])
def test_equal_scores_by_hand(k: int) -> None:
    """Code and prediction are uniform: log k."""
    z = torch.zeros(3, k, dtype=torch.float64)
    assert swapped_prediction(z, z).item() == pytest.approx(math.log(k), abs=1e-12)


@pytest.mark.parametrize("c", [0.1, 1.0])
def test_one_image_at_each_prototype_by_hand(c: float) -> None:
    """Scores c on the diagonal, 0 elsewhere, k = 4: rows and columns of exp(scores/epsilon) are balanced already, so
    q = e^(c/epsilon)/(e^(c/epsilon) + 3) on the diagonal, and the loss is log(e^(c/t) + 3) - q c/t."""
    z = c * torch.eye(4, dtype=torch.float64)
    q = 1 / (1 + 3 * math.exp(-c / 0.05))
    expected = math.log(math.exp(c / 0.1) + 3) - q * c / 0.1
    assert swapped_prediction(z, z).item() == pytest.approx(expected, abs=1e-12)


def test_differs_from_self_distillation_unless_scores_are_balanced() -> None:
    """DINO's target is a softmax of the other view, without Sinkhorn-Knopp; where rows and columns of the exponentials
    are balanced already, it is the same."""

    def distilled(x: Tensor, y: Tensor) -> Tensor:
        """Both directions, with centre 0 and the code's epsilon as the teacher's temperature."""
        ways = [
            self_distillation(s, t, torch.zeros(4), student_temperature=0.1, teacher_temperature=0.05)
            for s, t in ((x, y), (y, x))
        ]
        return (ways[0] + ways[1]) / 2

    a, b = scores(5, 4)
    assert abs(swapped_prediction(a, b) - distilled(a, b)) > 0.1
    balanced = torch.eye(4, dtype=torch.float64)
    torch.testing.assert_close(
        value_and_gradients(swapped_prediction, balanced, balanced), value_and_gradients(distilled, balanced, balanced)
    )


@pytest.mark.parametrize("score", [-1.0, 0.0, 1.0])
def test_extreme_scores_are_finite(score: float) -> None:
    """All images at one prototype, whose column would take everything."""
    one = torch.zeros(3, 4)
    one[:, 0] = score
    is_finite(swapped_prediction, one, -one)
    is_finite(swapped_prediction, one, one)
