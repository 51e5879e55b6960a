"""DINO's cross-entropy between softmaxes, against a loop over its algorithm, and lightly's loss."""

import math
import os

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.self_distillation import self_distillation

from .shared import draw, softmax

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"
from lightly.loss import DINOLoss


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Student's and teacher's four outputs for five images, and a centre."""
    return *draw(5, 4, dtype=dtype, scale=1), draw(1, 4, seed=1, dtype=dtype, scale=1)[0][0]


def loss(student: Tensor, teacher: Tensor, centre: Tensor, t_s: float = 0.5, t_t: float = 0.2) -> Tensor:
    return self_distillation(student, teacher, centre, student_temperature=t_s, teacher_temperature=t_t)


def oracle(student: Tensor, teacher: Tensor, centre: Tensor, t_s: float, t_t: float) -> float:
    """-sum_k P_t log P_s, mean over images."""
    total = 0.0
    for s, t in zip(student.tolist(), teacher.tolist(), strict=True):
        p_t = softmax([(x - c) / t_t for x, c in zip(t, centre.tolist(), strict=True)])
        p_s = softmax([x / t_s for x in s])
        total -= sum(p * math.log(q) for p, q in zip(p_t, p_s, strict=True))
    return total / len(student)


@pytest.mark.parametrize(("t_s", "t_t"), [(0.1, 0.04), (0.5, 0.2), (1.0, 1.0), (0.3, 2.0)])
def test_is_the_algorithm(t_s: float, t_t: float) -> None:
    assert loss(*data(), t_s, t_t).item() == pytest.approx(oracle(*data(), t_s, t_t), rel=1e-12)


def test_gradient_reaches_the_student_alone() -> None:
    student, teacher, centre = (z.requires_grad_() for z in data())
    gradients = torch.autograd.grad(loss(student, teacher, centre), (student, teacher, centre), allow_unused=True)
    assert gradients[0].any()
    assert gradients[1] is None
    assert gradients[2] is None


def test_symmetries_of_outputs_and_their_limits() -> None:
    student, teacher, centre = data()
    outputs = torch.tensor([2, 0, 3, 1])
    value = loss(student, teacher, centre)
    torch.testing.assert_close(loss(student[:, outputs], teacher[:, outputs], centre[outputs]), value)
    torch.testing.assert_close(loss(student + 7, teacher - 3, centre + 2), value)
    torch.testing.assert_close(loss(2 * student, teacher, centre, t_s=1.0), value)  # only output over temperature
    assert abs(loss(student, teacher, 0 * centre) - value) > 1e-2  # control: the centre matters


@pytest.mark.parametrize("k", [2, 5])
def test_uniform_and_certain_by_hand(k: int) -> None:
    """A teacher at its centre is uniform: against a uniform student log k. A student certain of one of k outputs by a
    gap g costs g - g/k + log(1 + (k-1) e^-g) against it, and a certain teacher of the same output takes g - g/k off."""
    zero, gap = torch.zeros(1, k, dtype=torch.float64), 3.0
    certain = zero.clone()
    certain[0, 0] = gap
    centre = torch.arange(k, dtype=torch.float64)
    assert loss(zero, centre[None], centre).item() == pytest.approx(math.log(k), abs=1e-12)
    rest = math.log1p((k - 1) * math.exp(-gap))
    assert loss(certain, centre[None], centre, t_s=1.0).item() == pytest.approx(gap - gap / k + rest, abs=1e-12)
    assert loss(certain, certain, zero[0], t_s=1.0, t_t=1e-3).item() == pytest.approx(rest, abs=1e-12)


def test_equal_outputs_and_temperatures_leave_the_entropy_and_no_gradient() -> None:
    student, _, centre = data()
    student = student.requires_grad_()
    value = loss(student, student.detach(), 0 * centre, t_s=0.5, t_t=0.5)
    rows = [softmax([x / 0.5 for x in row]) for row in student.tolist()]
    assert value.item() == pytest.approx(sum(-p * math.log(p) for row in rows for p in row) / 5, abs=1e-12)
    assert torch.autograd.grad(value, student)[0].abs().max() < 1e-12


def test_is_no_cosine_loss() -> None:
    """Nearest relative of the methods without negatives: under it, scaling an output changes nothing and the gradient
    is orthogonal to it; here the loss moves along the output itself."""
    student, teacher, centre = data()
    student = student.requires_grad_()
    for value, radial in [(loss(student, teacher, centre), True), (negative_cosine(student, teacher), False)]:
        (gradient,) = torch.autograd.grad(value, student)
        along = (gradient * student).sum(dim=1).abs().max()
        assert along > 1e-2 if radial else along < 1e-12


def test_agrees_with_lightly() -> None:
    """DINOLoss with two crops is the mean over both directions; its centre is renewed after the loss."""
    student, teacher, centre = data(torch.float32)
    theirs = DINOLoss(output_dim=4, teacher_temp=0.2, student_temp=0.5)
    theirs.center = centre.view(1, 1, 4).clone()
    crops = [teacher, teacher.flip(0)], [student, student.roll(1, dims=0)]
    expected = theirs(*crops)
    ours = (loss(crops[1][1], crops[0][0], centre) + loss(crops[1][0], crops[0][1], centre)) / 2
    torch.testing.assert_close(ours, expected)
